"""A trigger that lets no call through is found; one that lets any through is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.plan import decide
from faultwire.exchange.session_state import SessionState
from faultwire.faults.connection.refuse import Refuse
from faultwire.profile.entry_model import Entry, Stage, Trigger
from faultwire.profile.model import Profile
from faultwire.profile.never_triggered import has_call, no_chance, trigger_problems

CALLS = 100
"""More than the least common multiple of what is drawn."""
small = st.integers(1, 9)
stages = st.lists(
    st.builds(Stage, for_calls=st.integers(1, 5), probability=st.sampled_from([0, 1])), min_size=1, max_size=3
).map(tuple)
triggers = st.fixed_dictionaries(
    {},
    optional={
        "after_calls": st.integers(0, 9),
        "first": small,
        "every": small,
        "calls": st.lists(small, min_size=1, max_size=2).map(tuple),
        "stages": stages,
    },
).map(lambda given: Trigger(**given))


def fires(trigger: Trigger) -> bool:
    """On any of the first calls of a session, as they are decided."""
    profile = Profile(name="p", entries=(Entry(id="e", fault=Refuse(), trigger=trigger),))
    state = SessionState()
    for n in range(CALLS):
        exchange = Exchange("s", n, Request("POST", "https", "a", 443, "/"), "llm", key="k", n=n)
        (decision,) = decide(profile, Dice(1, "s"), exchange, state).decisions
        if decision.verb == "fire":
            return True
        state.note("e", decision.subject, decision.call)
    return False


@given(triggers)
def test_a_trigger_has_a_call_if_one_fires(trigger: Trigger) -> None:
    assume(no_chance(trigger) is None)
    assume(trigger.calls is None or (trigger.first, trigger.after_calls, trigger.every) == (None, None, None))
    assert has_call(trigger) == fires(trigger)


@given(triggers)
def test_what_has_no_problem_fires_and_what_has_one_does_not(trigger: Trigger) -> None:
    found = list(trigger_problems(trigger))
    exclusive = any("expected one of them" in message for _, message, _ in found)
    if not exclusive and no_chance(trigger) is None:
        assert bool(found) != fires(trigger)


@pytest.mark.parametrize(
    ("trigger", "key", "message"),
    [
        ({"first": 2, "every": 3}, "first", "found `first` with `every`, which let no call through together"),
        (
            {"after_calls": 5, "stages": (Stage(for_calls=5, probability=0.5),)},
            "stages",
            "found `stages` with `after_calls`, which let no call through together",
        ),
        (
            {"calls": (3,), "stages": (Stage(for_calls=3, probability=0), Stage(probability=1))},
            "stages",
            "found `stages` with `calls`, which let no call through together",
        ),
    ],
)
def test_what_has_no_call_in_common(trigger: dict[str, Any], key: str, message: str) -> None:
    ((found, what, hint),) = trigger_problems(Trigger(**trigger))
    assert (found, what) == (f"trigger.{key}", message)
    assert hint.startswith("change one of")


def test_the_last_call_of_a_stage_is_in_it() -> None:
    last = (Stage(for_calls=5, probability=0.5),)
    assert has_call(Trigger(after_calls=4, stages=last))
    assert not has_call(Trigger(after_calls=5, stages=last))


def test_large_numbers_take_no_time() -> None:
    assert has_call(Trigger(after_calls=10**9, every=10**9))
    assert not has_call(Trigger(first=10**12, every=10**12 + 1))
