from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import ConfigError, TapeError, UsageError
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.taped_rules import complete, joined, rules_of, taped

PATH = Path("t.tape")
STAFF = {"id": "staff", "regex": "EMP-[0-9]{6}"}
CLIENT = {"id": "client", "regex": "Bluebird Ltd"}


def on_tape(section: dict[str, Any], key: bytes = b"k" * 32) -> dict[str, Any]:
    return taped(section, Redactor(key))


def test_all_rules_are_on_the_tape() -> None:
    section = {"pii": True, "headers": ["x-tenant-*"], "paths": ["$..ssn"], "patterns": [STAFF]}
    assert on_tape(section) == section
    assert on_tape({"pii": False}) == {}


def test_a_pattern_that_is_what_it_redacts_is_not_on_the_tape() -> None:
    kept = on_tape({"patterns": [STAFF, CLIENT]})["patterns"]
    assert kept[0] == STAFF
    assert kept[1]["id"] == "client"
    assert kept[1]["regex"].startswith("redacted:v1:")
    assert on_tape({"patterns": kept})["patterns"] == kept  # a replay's own tape says the same


def test_a_withheld_pattern_must_be_configured() -> None:
    kept = on_tape({"patterns": [CLIENT]})
    with pytest.raises(UsageError, match="pattern `client`") as error:
        complete(joined(kept, {}), PATH)
    assert error.value.code == "replay.redact"
    assert complete(joined(kept, {"patterns": [CLIENT]}), PATH) == {"patterns": [CLIENT]}


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ({"pii": True}, {}, {"pii": True}),
        ({}, {"pii": True}, {"pii": True}),
        ({"headers": ["a"]}, {"headers": ["b", "a"]}, {"headers": ["a", "b"]}),
        ({"paths": ["$.a"]}, {"pii": True}, {"pii": True, "paths": ["$.a"]}),
        ({"patterns": [STAFF]}, {"patterns": [STAFF]}, {"patterns": [STAFF]}),
        (
            {"patterns": [STAFF]},
            {"patterns": [{"id": "staff", "regex": "X[0-9]"}]},
            {"patterns": [STAFF, {"id": "staff-2", "regex": "X[0-9]"}]},
        ),
    ],
)
def test_what_either_redacts(first: dict[str, Any], second: dict[str, Any], both: dict[str, Any]) -> None:
    assert joined(first, second) == both


@pytest.mark.parametrize("found", [[], "pii", {"pii": "yes"}, {"patterns": [{"id": "x", "regex": "("}]}])
def test_rules_of_a_tape_that_are_none(found: object) -> None:
    with pytest.raises(TapeError, match="redaction rules that cannot be read") as error:
        rules_of({"redact": found}, PATH)
    assert error.value.code == "tape.redact"


def test_a_tape_without_rules() -> None:
    assert rules_of({}, PATH) == {}


def test_rules_that_cannot_be_used_are_refused_when_recorded() -> None:
    with pytest.raises(ConfigError):
        on_tape({"patterns": [{"id": "x", "regex": "("}]})
