"""`exchange.trigger`: what a trigger says of a call, and that chance is asked last."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.exchange.trigger import attempt_fires, chance_of, judge
from faultwire.faults import _registry
from faultwire.profile.entry_model import Entry, Trigger

EXCHANGE = Exchange("s", 1, Request("POST", "https", "h", 443, "/"), "llm", key="k", history="story")


class NoDice(Dice):
    """Fails where chance is asked."""

    def roll(self, *_: object) -> float:
        raise AssertionError("a roll was consumed")


def entry_of(**trigger: Any) -> Entry:
    fault = _registry.registry()["status"].model_validate({"code": 503})
    return Entry(id="e", fault=fault, trigger=Trigger(**trigger))


def judged(dice: Dice, state: SessionState, call: int, **trigger: Any) -> tuple[str, str, float | None]:
    return judge(entry_of(**trigger).compiled, Subject("k", call, 0), EXCHANGE, dice, state)


@pytest.mark.parametrize(
    ("trigger", "why"),
    [
        ({"after_calls": 1}, "call 1 of the first 1 passes"),
        ({"calls": (2,)}, "call 1 is none of 2"),
        ({"every": 2}, "call 1 is not one in 2"),
        ({"between_s": (5.0, 6.0)}, "0.0 s is not between 5 and 6 s"),
    ],
)
def test_a_call_that_is_not_counted_in_takes_no_roll(trigger: dict[str, Any], why: str) -> None:
    dice, state = NoDice(1, "s"), SessionState()
    assert judged(dice, state, 0, probability=0.5, **trigger) == ("skip", why, None)
    with pytest.raises(AssertionError, match="a roll"):
        judged(dice, state, 0, probability=0.5)


def test_without_a_chance_it_fires_for_certain() -> None:
    assert judged(NoDice(1, "s"), SessionState(), 0) == ("fire", "call 1 matches", None)


def test_a_retry_shares_the_judgement_of_its_call() -> None:
    state, entry = SessionState(), entry_of(after_calls=1).compiled
    first = judge(entry, Subject("k", 0, 0), EXCHANGE, NoDice(1, "s"), state)
    state.note("e", Subject("k", 0, 0), first)
    assert judge(entry, Subject("k", 0, 1), EXCHANGE, NoDice(1, "s"), state) == first
    fresh = judge(entry, Subject("k", 1, 0), EXCHANGE, NoDice(1, "s"), state)
    assert fresh == ("fire", "call 2 matches", None), "the control: another call is judged anew"


def test_only_an_attack_on_the_conversation_depends_on_its_history() -> None:
    subject = Subject("k", 3, 0)
    assert chance_of(entry_of().compiled, subject, EXCHANGE) == ("k", 3)
    poison = _registry.registry()["memory_poisoning"].model_validate({"payload": "x"})
    attack = Entry(id="e", fault=poison)
    assert chance_of(attack.compiled, subject, EXCHANGE) == ("story", 0)


@pytest.mark.parametrize(
    ("attempts", "fires"),
    [("all", [True, True, True]), ("first", [True, False, False]), (2, [True, True, False])],
)
def test_attempts_narrow_a_decision(attempts: Any, fires: list[bool]) -> None:
    assert [attempt_fires(attempts, number) for number in range(3)] == fires
