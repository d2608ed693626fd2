"""Where a user's rules reach in forms, queries and texts that were encoded several times.

Covers faultwire.tape.redact.user_matches.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from faultwire.tape.redact.rules import read_rules
from faultwire.tape.redact.user_matches import rule_edits, text_edits


def rules(regex: str) -> Any:
    return read_rules({"patterns": [{"id": "own", "regex": regex}]})


def values(text: str, regex: str) -> list[str]:
    found = rule_edits(text, rules(regex))
    assert text_edits(text, rules(regex)) == found
    return [text[edit.start : edit.end] for edit in found]


@pytest.mark.parametrize(
    ("text", "regex", "expected"),
    [
        ("name=Jane+Doe&x=1", "Jane Doe", ["Jane+Doe"]),
        ("name=Jane+Doe&x=%31", "Jane Doe", ["Jane+Doe"]),
        ("name=Jane%20Doe&x=1", "Jane Doe", ["Jane%20Doe"]),
        ("name=Jane%2BDoe", "Jane[+]Doe", ["Jane%2BDoe"]),
        ("name=X+X", "X X", ["X+X"]),
        ("number=+49", " 49", []),
        ("Jane-Doe", "Jane Doe", []),
    ],
)
def test_a_plus_in_a_form_is_a_blank(text: str, regex: str, expected: list[str]) -> None:
    assert values(text, regex) == expected


@pytest.mark.parametrize(("deep", "found"), [(1, True), (4, True), (5, False)])
def test_words_are_looked_through_four_encodings_deep(deep: int, found: bool) -> None:
    text = "EMP 6"
    for _ in range(deep):
        text = quote(text)
    assert values(text, "EMP 6") == ([text] if found else [])


@pytest.mark.parametrize(
    ("text", "regex", "expected"),
    [
        ("%2012345", "12345", ["12345"]),
        (
            "%2E5550100",
            r"\B5550100",
            ["5550100"],
        ),  # by its percent-encoding only: decoded, a word begins there
        ("+123456", "[0-9]{6}", ["123456"]),
        ("call +491701234567", r"[+][0-9]{12}", ["+491701234567"]),
    ],
)
def test_what_stands_before_a_number_in_text_is_no_part_of_it(
    text: str, regex: str, expected: list[str]
) -> None:
    assert [text[edit.start : edit.end] for edit in rule_edits(text, rules(regex))] == expected
