from __future__ import annotations

import pytest

from faultwire.events import Response, Wait
from faultwire.faults.agent.message_reordered import STEP_S, MessageReordered


def held(agent, dice, memory, **settings):
    mutator = MessageReordered(**settings).start(agent(), dice())
    mutator.arrived(memory, 0.0)
    return mutator


def passes(agent, memory) -> None:
    other = MessageReordered().watch(agent())
    other.arrived(memory, 0.0)
    other.head(Response(200))


@pytest.mark.parametrize("wanted", [1, 2])
def test_it_is_held_until_others_were_answered(agent, dice, wanted: int) -> None:
    memory = {}
    passes(agent, memory)  # before it: does not count
    mutator = held(agent, dice, memory, overtaken_by=wanted)
    actions = iter(mutator.before())
    for _ in range(wanted):
        assert next(actions) == Wait(STEP_S)
        passes(agent, memory)
    assert next(actions, None) is None
    others = "another message" if wanted == 1 else "2 other messages"
    assert mutator.effect == f"held until {others} had been answered"


def test_one_that_nobody_overtakes_is_only_late(agent, dice) -> None:
    mutator = held(agent, dice, {}, at_most_ms=60)
    assert list(mutator.before()) == [Wait(STEP_S)] * 3
    assert mutator.effect == "held for 60 ms, and not overtaken: the message was only late"


def test_of_one_that_was_given_up_only_the_time_so_far_is_stated(agent, dice) -> None:
    mutator = held(agent, dice, {}, at_most_ms=10_000)
    next(iter(mutator.before()))
    assert mutator.effect == "held for 20 ms, and not overtaken: the message was only late"


def test_two_that_are_held_overtake_one_another_by_their_answers_alone(agent, dice) -> None:
    memory = {}
    first, second = held(agent, dice, memory), held(agent, dice, memory)
    waiting, later = iter(first.before()), iter(second.before())
    assert next(waiting) == next(later) == Wait(STEP_S)
    second.head(Response(200))
    assert next(waiting, None) is None


def test_cards_neither_wait_nor_overtake(agent) -> None:
    assert MessageReordered().inapplicable(agent(card=True)) == "a card is read, and no message sent"
    assert MessageReordered().watch(agent(card=True)) is None
    assert MessageReordered().inapplicable(agent()) is None
