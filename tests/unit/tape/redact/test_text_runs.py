"""What stands encoded in a text more than once, at its very beginning, or is a placeholder already."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from faultwire.tape.redact.text import edits
from faultwire.tape.redact.values import values

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
