"""Every kind of secret of the pattern engine is kept off the tape, and JSON stays JSON."""

from __future__ import annotations

import json
import random
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

if str(CORPORA := Path(__file__).parents[1] / "patterns") not in sys.path:
    sys.path.append(str(CORPORA))

from pattern_carriers import instance

from faultwire.tape.body import Body
from faultwire.tape.head import Head
from faultwire.tape.redact import Redactor
from faultwire.tape.redact_known import known_edits

DATA = Path(__file__).parents[3] / "core_rs" / "patterns"
ENTRIES: list[dict[str, Any]] = [
    entry
    for name in ("secrets", "secrets_named", "secrets_generic")
    for entry in tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))["entry"]
]
OF_SEVERAL_PARTS = {"gcp-service-account", "putty-private-key", "jwk-private"}
"""Documents of their own; what is secret in them goes by name or as a private key."""


def told(kind: str, data: bytes) -> tuple[bytes, dict[str, int]]:
    counts: dict[str, int] = {}
    one = Body(Redactor(b"k" * 32), Head((), kind), counts)
    one.add([(1, data)])
    return one.release(final=True)[0], counts


def test_every_kind_is_replaced_in_json() -> None:
    chance = random.Random(7)
    missed = []
    for entry in ENTRIES:  # of a kind that is known by its randomness, one in twenty may look like words
        text = instance(chance.choice(entry["yes"]), chance)
        out, _ = told("application/json", json.dumps({"content": f"take {text} now"}).encode())
        json.loads(out)
        if b"redacted:v1:" not in out:
            missed.append(entry["id"])
    assert len(set(missed) - OF_SEVERAL_PARTS) <= len(ENTRIES) // 100
    assert len(ENTRIES) >= 350


def streamed(pieces: list[str]) -> str:
    """What a stream says after redaction, released after each event."""
    one = Body(Redactor(b"k" * 32), Head((), "text/event-stream"), {})
    out = b""
    for at, piece in enumerate(pieces):
        one.add([(at, b'data: {"delta": {"content": %s}}\n\n' % json.dumps(piece).encode())])
        out += one.release(final=at == len(pieces) - 1)[0]
    events = [json.loads(event[6:]) for event in out.decode().split("\n\n") if event]
    return "".join(event["delta"]["content"] for event in events)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 11])
def test_every_kind_of_one_word_is_replaced_where_a_stream_says_it(cut: int) -> None:
    chance = random.Random(cut)
    looked, missed = 0, []
    for entry in chance.sample(ENTRIES, 80):
        text = instance(chance.choice(entry["yes"]), chance)
        whole = f"take {text} now"
        if not any(mark in text for mark in " \n\"'\\") and known_edits(whole):
            looked += 1
            if "redacted:v1:" not in streamed([whole[at : at + cut] for at in range(0, len(whole), cut)]):
                missed.append(entry["id"])
    assert missed == []
    assert looked >= 60


def test_a_file_of_settings_keeps_its_names_and_loses_its_values() -> None:
    text = "LOG_LEVEL=debug\nDATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4\nREGION=eu-west-1\n"
    out, counts = told("text/plain", text.encode())
    assert b"4f1c9be2" not in out
    assert out.startswith(b"LOG_LEVEL=debug\nDATADOG_API_KEY=redacted:v1:")
    assert out.endswith(b"\nREGION=eu-west-1\n")
    assert counts == {"secret.datadog-api-key": 1}


def test_what_is_replaced_already_stays() -> None:
    once, _ = told("text/plain", b"DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4")
    assert told("text/plain", once) == (once, {})


@pytest.mark.parametrize(
    "text", ['{"datadog_api_key": 41930527684019357268401935726840}', "just a sentence", ""]
)
def test_numbers_and_plain_words_stay(text: str) -> None:
    assert known_edits(text) == []
