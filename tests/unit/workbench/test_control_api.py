"""What forms of the page become."""

from __future__ import annotations

import pytest

from faultwire.errors import ProfileError, UsageError
from faultwire.profile.dump import from_dump
from faultwire.workbench.control_api import break_of, catalogue, intervention_of


def test_every_fault_on_calls_has_a_form_and_none_on_connections() -> None:
    found = {one["name"]: one for one in catalogue()}
    assert "status" in found
    assert "dns_failure" not in found
    assert found["status"]["schema"]["properties"]["code"]
    assert all(one["summary"] for one in found.values())


def test_a_breakpoint_for_one_session_and_one_call() -> None:
    made = break_of({"at": "tool_call", "on": "tool: get_*", "session": " a* ", "times": 1})
    assert made == {
        "at": "tool_call",
        "on": {"tool": "get_*"},
        "trigger": {"max_times": 1, "attempts": "first"},
        "sessions": ["a*"],
    }
    assert break_of({"at": "event", "event": 4}) == {"at": "event", "on": {}, "event": 4}


def test_the_next_match_is_one_call_and_all_are_not_limited() -> None:
    given = {"fault": "status", "settings": {"code": 503}, "on": "kind: llm"}
    one = intervention_of({**given, "scope": "next"})
    (entry,) = from_dump(one["profile"]).entries
    assert (one["radius"], entry.trigger.max_times) == ({"calls": 1}, 1)
    every = intervention_of({**given, "scope": "all", "for_s": 5})
    (entry,) = from_dump(every["profile"]).entries
    assert (every["radius"], entry.trigger.max_times, every["for_s"]) == ({}, None, 5)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"fault": "nope"}, "found fault `nope`"),
        ({"fault": "status", "settings": {"code": 9}}, "`code`"),
        ({"fault": "status", "settings": {"code": 503}, "trigger": {"max_times": 0}}, "`max_times`"),
    ],
)
def test_what_is_wrong_is_named(given: dict, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        intervention_of(given)
    with pytest.raises(ProfileError, match="colour"):
        break_of({"at": "request", "on": "colour: red"})
