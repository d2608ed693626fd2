"""What is printed of the requests that a tape made of its agent: true sentences, and no others."""

from __future__ import annotations

from faultwire.cli._driven import lines

PLACE = {"path": "$.answer", "recorded": "Paid.", "answered": "Reserved."}


def asked(number: int, *places: dict[str, str]) -> dict[str, object]:
    return {
        "session": "main", "number": number, "request": "POST /billing", "same": not places,
        "differences": list(places),
    }  # fmt: skip


def test_all_answered_as_recorded_only_where_all_were() -> None:
    assert list(lines("billing", [asked(1), asked(2)])) == [
        "driven     2 recorded requests to `billing`: all answered as recorded"
    ]
    assert "as recorded" not in "".join(lines("billing", [asked(1), asked(2, PLACE)]))


def test_those_that_were_answered_otherwise_are_counted_and_each_has_both_answers() -> None:
    assert list(lines("billing", [asked(1), asked(2, PLACE)])) == [
        "driven     2 recorded requests to `billing`: 1 answered otherwise",
        "  main#2 POST /billing",
        "    $.answer",
        "      - Paid.",
        "      + Reserved.",
    ]
    assert list(lines("billing", [asked(1)])) == [
        "driven     1 recorded request to `billing`: all answered as recorded"
    ]


def test_letters_that_steer_a_terminal_are_not_printed() -> None:
    found = "".join(lines("bill\x1b[2J", [asked(1, {**PLACE, "answered": "\x1b[31mred"})]))
    assert "\x1b" not in found
