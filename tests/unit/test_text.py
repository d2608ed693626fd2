from __future__ import annotations

import io
import os

import pytest

from faultwire.text import NARROWEST, counted, folded, safe, unit, width_of


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


def test_a_long_line_is_broken_at_blanks_and_what_follows_stands_further_in() -> None:
    text = "  faults of tools never fired: no exchange matched, of those that came"
    assert folded(text, 40).split("\n") == [
        "  faults of tools never fired: no",
        "    exchange matched, of those that came",
    ]
    assert folded(text, None) == text
    assert folded(text, 200) == text
    assert folded(f"{text}\nshort", 40).endswith("came\nshort")


def test_a_word_that_is_longer_than_a_line_stays_whole() -> None:
    digest = "ab" * 32
    assert folded(f"ledger: {digest}", 40).split() == ["ledger:", digest]
    assert folded("--fault-of-a-name-with-hyphens " * 3, 40).split() == ["--fault-of-a-name-with-hyphens"] * 3
    assert "".join(folded("a" * 500, 40).split()) == "a" * 500


def test_blanks_between_columns_stay_and_no_character_is_lost() -> None:
    text = "report     a b\n" + "tape       " + "word " * 30 + "\n\n   \nend"
    assert folded(text, 40).split() == text.split()
    assert folded(text, 40).startswith("report     a b\ntape       word")
    assert all(len(line) <= 40 for line in folded(text, 40).split("\n"))


def test_the_width_is_that_of_the_terminal_or_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert width_of(io.StringIO()) is None, "a file has no width"
    for value, width in (("60", 60), ("", None), ("wide", None), (str(NARROWEST - 1), None), ("٦٠", None)):
        monkeypatch.setenv("COLUMNS", value)
        assert width_of(io.StringIO()) == width
    monkeypatch.delenv("COLUMNS")
    controller, terminal = os.openpty()
    with open(terminal, "w") as stream:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
        assert width_of(stream) == 72
    os.close(controller)
