"""What stands encoded in a text more than once, at its very beginning, or is a placeholder already."""

from __future__ import annotations

import json
from base64 import b64encode
from urllib.parse import quote_plus

import pytest

from faultwire.tape.redact.text import edits
from faultwire.tape.redact.values import Value, values

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


@pytest.mark.parametrize("between", ["", " "])
def test_only_strings_that_hold_an_escape_are_looked_into_again(between: str) -> None:
    escaped = "\\u0073k-ant-api03-" + "A" * 24
    plain, other = json.dumps("a word"), json.dumps('a "word')
    assert found(f'{plain}{between}"{escaped}"{between}{other}') == [escaped]
    assert found(f"{plain}{between}{escaped}{between}{other}") == []


@pytest.mark.parametrize("letter", "xX")
def test_a_run_goes_from_its_first_character(letter: str) -> None:
    text = f"it's {letter}{BASE64}"
    (edit,) = edits(text)
    assert (edit.start, edit.end) == (text.index(letter), len(text))
