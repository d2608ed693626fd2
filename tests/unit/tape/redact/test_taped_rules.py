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


# ---------------------------------------------------------------- to the letter

HELD_BACK = {"id": "client", "regex": Redactor(b"k" * 32).placeholder("rule.pattern", "Bluebird Ltd", {})}


def test_what_stands_for_a_pattern_is_that_of_its_text() -> None:
    section = {"patterns": [{**CLIENT, "id": "a"}, STAFF, {**CLIENT, "id": "b"}], "pii": False, "headers": []}
    assert on_tape(section) == {
        "patterns": [{**HELD_BACK, "id": "a"}, STAFF, {**HELD_BACK, "id": "b"}],
    }
    assert on_tape({"patterns": None, "paths": ["$.a"]}) == {"paths": ["$.a"]}
    other = on_tape({"patterns": [CLIENT]}, b"x" * 32)["patterns"][0]["regex"]
    assert other != HELD_BACK["regex"]


def test_a_pattern_that_matches_a_part_of_itself_is_held_back() -> None:
    kept = on_tape(
        {"patterns": [{"id": "part", "regex": "(?:EMP|Bluebird)"}, {"id": "n", "regex": "[0-9]{3}"}]}
    )
    assert kept["patterns"][0]["regex"].startswith("redacted:v1:")
    assert kept["patterns"][1]["regex"] == "[0-9]{3}"


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ([HELD_BACK], [CLIENT], [CLIENT]),
        ([CLIENT], [HELD_BACK], [CLIENT]),
        ([HELD_BACK], [HELD_BACK], [HELD_BACK]),
        ([HELD_BACK], [], [HELD_BACK]),
        ([], [HELD_BACK], [HELD_BACK]),
        ([HELD_BACK, STAFF], [CLIENT], [CLIENT, STAFF]),
        (
            [STAFF, {"id": "staff-2", "regex": "Y"}],
            [{"id": "staff", "regex": "X"}],
            [STAFF, {"id": "staff-2", "regex": "Y"}, {"id": "staff-3", "regex": "X"}],
        ),
        ([STAFF], [CLIENT], [STAFF, CLIENT]),
    ],
    ids=["given", "had", "neither", "first", "second", "place", "numbers", "two"],
)
def test_patterns_of_both(first: list[Any], second: list[Any], both: list[Any]) -> None:
    assert joined({"patterns": first}, {"patterns": second}) == {"patterns": both}


def test_nothing_joined_with_nothing_is_nothing() -> None:
    assert joined({}, {}) == {}
    assert joined({"pii": False, "headers": [], "patterns": []}, {"pii": False, "paths": None}) == {}
    assert joined({"headers": ["b"], "paths": ["$.b"]}, {"headers": ["a", "b"], "paths": ["$.a"]}) == {
        "headers": ["b", "a"],
        "paths": ["$.b", "$.a"],
    }


def test_the_errors_name_the_tape_and_the_way_out() -> None:
    with pytest.raises(TapeError) as error:
        rules_of({"redact": {"pii": "yes"}}, Path("a\x1b.tape"))
    assert error.value.message == (
        "tape `a\\x1b.tape` holds redaction rules that cannot be read: "
        "`redact.pii` is str, expected `true` or `false`"
    )
    assert error.value.code == "tape.redact"
    with pytest.raises(UsageError) as usage:
        complete({"patterns": [STAFF, HELD_BACK, {**HELD_BACK, "id": "z"}]}, PATH)
    assert (usage.value.message, usage.value.code, usage.value.hint) == (
        "found tape `t.tape`, which was recorded with the redaction pattern `client` and does not hold its "
        "text, expected the pattern in the configuration",
        "replay.redact",
        "--config FILE with the `redact:` section of the recording",
    )


def test_the_rules_of_a_tape_are_given_as_they_are() -> None:
    section = {"pii": True, "patterns": [STAFF]}
    assert rules_of({"redact": section, "note": "x"}, PATH) == section
    assert rules_of({"redact": None}, PATH) == {}
    assert complete(section, PATH) is section
    assert complete({}, PATH) == {}
