"""What stands encoded in a text more than once, at its very beginning, or is a placeholder already."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest

from faultwire.tape.redact import text as redact_text
from faultwire.tape.redact.edit import Edit
from faultwire.tape.redact.text import edits
from faultwire.tape.redact.values import LONGEST, Value, values

KEY = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
IN_JSON = json.dumps(json.dumps({"password": "hunter2x"}))
BASE64 = b64encode(f"it is {KEY}".encode()).decode()


def found(text: str) -> list[str]:
    return [text[edit.start : edit.end] for edit in edits(text)]


@pytest.mark.parametrize("lines", [" ", "\n"])
def test_each_of_several_strings_is_looked_into(lines: str) -> None:
    text = f'{{"a": {IN_JSON},{lines}"b": {json.dumps("two words")},{lines}"c": {IN_JSON}}}'
    assert found(text) == ["hunter2x"] * 2


@pytest.mark.parametrize("between", [" ", "&", " plain ", " %41%42 "])
def test_each_of_several_words_with_percent_encoding_is_looked_into(between: str) -> None:
    first, second = (f"sk%2Dant%2Dapi03%2D{letter * 24}" for letter in "AB")
    assert found(first + between + second) == [first, second]


def test_a_run_begins_with_the_first_character_of_the_text() -> None:
    (edit,) = edits(BASE64)
    assert (edit.start, edit.end) == (0, len(BASE64))


@pytest.mark.parametrize("before", ["x", "note AB", "'", "a:"])
def test_base64_is_called_so_wherever_in_the_run_the_encoding_begins(before: str) -> None:
    text = before + BASE64
    (edit,) = edits(text)
    assert (edit.what, text[edit.start : edit.end][-len(BASE64) :]) == ("base64", BASE64)


def test_a_placeholder_is_no_value() -> None:
    first, second = (f"https://{word}@host" for word in ("redacted:v1:userinfo", "user:word"))
    assert [list(values(text)) != [] for text in (first, second)] == [False, True]


@pytest.mark.parametrize("before", ["", "'", " -- "])
def test_what_begins_within_a_value_is_no_value_of_its_own(before: str) -> None:
    twice = "sk-ant-" + KEY
    start, end = len(before), len(before + twice)
    assert list(values(before + twice)) == [Value(start, end, "anthropic_key", start)]
    after = end + 1
    assert list(values(f"{before}{twice} {KEY}"))[1:] == [
        Value(after, after + len(KEY), "anthropic_key", after)
    ]


@pytest.mark.parametrize("before", ["", "note(", "a<"])
def test_a_single_encoded_character_gives_away_the_word_around_it(before: str) -> None:
    word = KEY.replace("s", "%73", 1)
    assert found(before + word) == [word]


def test_a_blank_that_is_written_as_plus_is_read_so_from_the_first_character_on() -> None:
    key = quote_plus("-----BEGIN RSA PRIVATE KEY-----\nMIIB")
    assert found("+" + key) == [key]
    assert found("+" + key.replace("PRIVATE", "PUBLIC")) == []


def looked_into(text: str) -> list[str]:
    """The texts in which secrets are looked for: this one, and what it holds in other words."""
    asked: list[str] = []

    def known(one: str) -> list[Edit]:
        asked.append(one)
        return []

    edits(text, known=known)
    return asked


@pytest.mark.parametrize("between", ["", " "])
def test_only_strings_that_hold_an_escape_are_looked_into_again(between: str) -> None:
    plain, escaped = json.dumps(f"a {KEY}"), json.dumps(f'a "{KEY}')
    outside = "\\u0041"
    text = f"{plain}{between}{escaped}{between}{plain}{outside}"
    assert looked_into(text) == [text, f'a "{KEY}']
    assert looked_into(f"{plain}{outside}{escaped}") == [f"{plain}{outside}{escaped}", f'a "{KEY}']


class Counted:
    """A pattern that adds up how many characters its searches went over."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern, self.read = pattern, 0

    def search(self, text: str, start: int) -> re.Match[str] | None:
        found = self.pattern.search(text, start)
        self.read += (found.end() if found else len(text)) - start
        return found

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        limit = len(text) if end is None else min(end, len(text))
        at = start
        for found in self.pattern.finditer(text, start, limit):
            self.read += found.end() - at
            at = found.end()
            yield found
        self.read += limit - at


def characters_read(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> int:
    """How many characters of a text a pattern of `text.py` goes over in a search for secrets."""
    counted: Any = Counted(getattr(redact_text, name))
    with monkeypatch.context() as patch:
        patch.setattr(redact_text, name, counted)
        edits(text)
    return int(counted.read)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("STRING", "'password':\"" * 300),
        ("STRING", "'password':\"ab\n" * 300),
        ("STRING", '"\\"' * 300),
        ("PERCENT_RUN", "%41!" * 300),
        ("PERCENT_RUN", "%41|" * 300),
        ("PERCENT_RUN", ("a" * 90 + "|%41|") * 20),
    ],
    ids=["names", "names in lines", "strings", "one run", "runs", "words"],
)
def test_a_text_is_gone_over_no_more_than_twice(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    assert 0 < characters_read(monkeypatch, name, text) <= 2 * len(text)


def test_of_a_run_no_more_is_read_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a" * 2 * LONGEST + "%41" + "a" * 2 * LONGEST
    assert characters_read(monkeypatch, "PERCENT_RUN", text) == 2 * LONGEST


@pytest.mark.parametrize(
    "around",
    [("", "|aaaa"), ("aaaa", ""), ("aaaa=aaa?aa", "|aaaa")],
    ids=["behind it", "before it", "words before it"],
)
@pytest.mark.parametrize("mark", '"\n ?&=')
def test_only_a_run_that_holds_an_encoded_character_is_read(
    monkeypatch: pytest.MonkeyPatch, around: tuple[str, str], mark: str
) -> None:
    before, after = around
    text = before + mark + "%41%42" + after
    assert characters_read(monkeypatch, "PERCENT_RUN", text) == len("%41%42")


@pytest.mark.parametrize("letter", "xX")
def test_a_run_goes_from_its_first_character(letter: str) -> None:
    text = f"it's {letter}{BASE64}"
    (edit,) = edits(text)
    assert (edit.start, edit.end) == (text.index(letter), len(text))
