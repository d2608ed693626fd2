"""`exchange.trigger`: what a trigger says of a call, and that chance is asked last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.session_state import KEPT, SessionState, Subject
from faultwire.exchange.trigger import attempt_fires, chance_of, judge
from faultwire.faults import _registry
from faultwire.profile.entry_model import Entry, Recovery, Trigger

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
    ("trigger", "calls", "why"),
    [
        ({"max_times": 1}, 1, "fired 1 of at most 1 time"),
        ({"max_times": 2}, 2, "fired 2 of at most 2 times"),
        ({"recover_after": Recovery(calls=1)}, 1, "recovered after 1 call"),
        ({"recover_after": Recovery(calls=2)}, 2, "recovered after 2 calls"),
    ],
)
def test_what_is_over_says_after_how_many(trigger: dict[str, Any], calls: int, why: str) -> None:
    state = SessionState()
    for n in range(calls):
        fired = judged(NoDice(1, "s"), state, n, **trigger)
        assert fired[0] == "fire"
        state.note("e", Subject("k", n, 0), fired)
    assert judged(NoDice(1, "s"), state, calls, **trigger) == ("skip", why, None)


def test_a_retry_of_a_call_that_is_long_forgotten_is_judged_anew() -> None:
    state, entry = SessionState(), entry_of(max_times=1).compiled
    old, other = Subject("old", 0, 0), Subject("other", 0, 0)
    state.note("e", old, ("fire", "call 1 matches", None))
    state.record_outcome("e", old, fired=False)
    retry = replace(old, attempt=1)
    assert judge(entry, retry, EXCHANGE, NoDice(1, "s"), state) == ("fire", "call 1 matches", None)
    state.note("e", other, ("fire", "call 2 matches", None))
    for n in range(KEPT):
        state.note("e", Subject("k", n, 0), ("skip", "", None))
    assert state.decided("e", retry) is None
    assert state.slot_released("e", retry), "its outcome is kept longer"
    assert judge(entry, retry, EXCHANGE, NoDice(1, "s"), state) == ("skip", "fired 1 of at most 1 time", None)


@pytest.mark.parametrize(
    ("attempts", "fires"),
    [("all", [True, True, True]), ("first", [True, False, False]), (2, [True, True, False])],
)
def test_attempts_narrow_a_decision(attempts: Any, fires: list[bool]) -> None:
    assert [attempt_fires(attempts, number) for number in range(3)] == fires
