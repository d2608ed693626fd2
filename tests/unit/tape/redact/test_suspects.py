"""Whatever is found in a text or a record makes it suspect: each sign alone.

Covers faultwire.tape.redact.text and faultwire.tape.redact.packed.
"""

from __future__ import annotations

import gzip
import json
from base64 import b32encode

import pytest

from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.text import encodes

KEY = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
SIGNS = {
    "a shape": KEY,
    "a name": json.dumps({"password": "hunter2-secret"}),
    "a URL": "https://h.example/?api_key=hunter2-secret&page=2",
    "a kind of the engine": "DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4",
    "Base32": b32encode(KEY.encode()).decode().rstrip("="),
    "hexadecimal": KEY.encode().hex(),
    "percent": "s%6b-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
    "HTML": "s<b>k-</b>ant-api0&#51;-AAAAAAAAAAAAAAAAAAAAAAAA",
}
COMPRESSED = gzip.compress(KEY.encode(), mtime=0).decode("latin-1")
REPLACED = ("hunter2", "4f1c9be2", "AAAAAAAAAAAAAAAA", "IFAUCQKBIFAUCQ", "4141414141414141")


def redactor() -> Redactor:
    return Redactor(b"k" * 32)


@pytest.mark.parametrize("sign", [*SIGNS, "compressed"])
def test_each_sign_alone_is_enough_in_a_text(sign: str) -> None:
    text = f"note: {({**SIGNS, 'compressed': COMPRESSED})[sign]}"
    clean = redactor().text(text, {})
    assert MARK in clean
    assert not any(one in clean for one in (*REPLACED, COMPRESSED))


@pytest.mark.parametrize("sign", SIGNS)
def test_each_sign_alone_is_enough_in_an_event(sign: str) -> None:
    clean = redactor().checked({"type": "note", "note": f"note: {SIGNS[sign]}"}, {})
    assert MARK in clean["note"]
    assert not any(one in clean["note"] for one in REPLACED)


PLAIN = "a plain sentence of words, and no key in it"


@pytest.mark.parametrize("text", [PLAIN, PLAIN.encode().hex(), b32encode(PLAIN.encode()).decode()])
def test_without_one_a_text_and_an_event_stay(text: str) -> None:
    assert redactor().text(text, {}) == text
    event = {"type": "note", "note": text}
    assert redactor().checked(event, {}) == event


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a%2Db", True), ("a%252Db", True), ("\\u0022", True), ("&lt;", True), ("100% a", False)],
)
def test_what_encodes(text: str, expected: bool) -> None:
    assert encodes(text) is expected
