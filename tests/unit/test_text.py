from __future__ import annotations

import pytest

from faultwire.text import counted, safe, unit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, “quotes”, ünïcödé, 漢字, 🙂", "plain text, “quotes”, ünïcödé, 漢字, 🙂"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\x00b\x07\x7f", "a\\x00b\\x07\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\u200b\u200d\ufeff\u2060", "\\u200b\\u200d\\ufeff\\u2060"),
        ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
        ("\U000e0100", "\\U000e0100"),
        ("\u2028\u3164\xa0\xad", "\\u2028\\u3164\\xa0\\xad"),
        ("\ud800", "\\ud800"),
        ("a\r\n\tb", "a\\x0d\\x0a\\x09b"),
        ("", ""),
        ("línea\u2060 – 日本 🙂 e\u0301", "línea\\u2060 – 日本 🙂 e\u0301"),
        ("❤\ufe0f \ufe00\ufe0e", "❤\ufe0f \\ufe00\\ufe0e"),
        ("\ue000 \udc80 \u2029", "\\ue000 \\udc80 \\u2029"),
    ],
)
def test_safe_escapes_what_could_steer_or_deceive(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe(shown) == shown


def test_safe_keeps_lines_only_where_asked_and_never_a_carriage_return() -> None:
    assert safe("a\n\tb\r\x1b", lines=True) == "a\n\tb\\x0d\\x1b"


def test_no_character_below_space_survives() -> None:
    every = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    assert all(c.isprintable() for c in safe(every))


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("run",), "0 runs"),
        (1, ("run",), "1 run"),
        (2, ("entry", "entries"), "2 entries"),
        (1, ("entry", "entries"), "1 entry"),
    ],
)
def test_a_count_has_its_noun_in_its_form(count: int, words: tuple[str, ...], said: str) -> None:
    assert counted(count, *words) == said


def test_a_unit_of_one_is_in_the_singular() -> None:
    assert (unit(1, "cells"), unit(1, "invocations with faults")) == ("cell", "invocation with faults")
    assert [unit(count, "cells") for count in (0, 2, 10)] == ["cells"] * 3
