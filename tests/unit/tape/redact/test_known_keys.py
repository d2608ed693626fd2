"""Every kind of secret of the pattern engine is kept off the tape, and JSON stays JSON."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

if str(CORPORA := Path(__file__).parents[2] / "patterns") not in sys.path:
    sys.path.append(str(CORPORA))

from pattern_carriers import instance

from faultwire.events import Exchange, Headers, Message, Request, Response
from faultwire.tape.format.blobs import unpack
from faultwire.tape.record.body import Body
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.known_keys import known_edits, shaped_edits
from faultwire.tape.redact.redactor import Redactor

DATA = Path(__file__).parents[4] / "core_rs" / "patterns"
ENTRIES: list[dict[str, Any]] = [
    entry
    for name in ("secrets", "secrets_named", "secrets_services", "secrets_generic")
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


# ---------------------------------------------------------------- every place of a tape


PLACES = (
    *("header", "answer header", "trailer", "path", "query", "error", "session", "message", "close reason"),
    *("error body", "form"),
)


def named(entry: dict[str, Any], text: str) -> tuple[str, str]:
    """An instance as a name and a value; what has a shape of its own has a name that says nothing."""
    name, mark, value = text.partition("=")
    return (name, value) if "value" in entry and mark else ("note", text)


def line(name: str, value: str) -> str:
    return value if name == "note" else f"{name}={value}"


def planted(place: str, number: int, name: str, value: str, writer: TapeWriter) -> None:
    """Record an exchange that has the secret at a place, and there only."""
    host, path, headers, session = "api.example.com", "/v1", [("accept", "*/*")], "s"
    plain: Headers = (("content-type", "text/plain"),)
    field = ("X-Note" if name == "note" else f"X-{name.replace('_', '-')}", value)
    body = b"{}"
    if place == "header":
        headers.append(field)
    elif place == "path":
        parts = urlsplit(value) if value.startswith("https://") else None
        host = parts.hostname or host if parts else host
        path = parts.path if parts else f"/v1/{quote(value, safe='/:+=~!@*')}/get"
    elif place == "query":
        path = f"/v1?page=2&{quote(name)}={quote(value)}&size=9"
    elif place == "session":
        session = line(name, value)
    elif place == "form":
        headers.append(("content-type", "application/x-www-form-urlencoded"))
        body = f"page=2&{quote(name)}={quote(value)}&size=9".encode()
    request = Request("POST", "https", host, 443, path, tuple(headers), body)
    recording = writer.record(Exchange(session, number, request, "tool"))
    recording.request(request)
    answer = (*plain, field) if place == "answer header" else plain
    recording.upstream_head(Response(401, "No", answer))
    recording.upstream_chunk(line(name, value).encode() if place == "error body" else b"no")
    if place == "trailer":
        recording.trailers("upstream", (field,))
    if place in ("message", "close reason"):
        kind = "text" if place == "message" else "close"
        data = f"bad key: {line(name, value)}".encode()
        recording.message(Message(by="client", kind=kind, data=data, sent_ns=1, delivered_ns=2, code=1008))
    recording.end("complete", f"refused {line(name, value)}" if place == "error" else None)


def on_disk(path: Path) -> str:
    """All that a tape says, one text."""
    with closing(sqlite3.connect(path)) as rows:
        records = [bytes(record) for (record,) in rows.execute("SELECT record FROM events")]
        blobs = [unpack(*row) for row in rows.execute("SELECT size, packed, data FROM blobs")]
    return b"\n".join(records + blobs).decode("utf-8", "replace")


def fits(place: str, name: str, value: str) -> bool:
    """Can it stand there at all?"""
    if place in ("header", "answer header", "trailer", "path", "query", "form") and "\n" in value:
        return False
    # A path has no names, and nothing of an address but its end.
    return place != "path" or (name == "note" and not (" " in value or '"' in value or "://" in value[8:]))


@pytest.mark.parametrize("place", PLACES)
def test_every_kind_is_kept_off_every_place(tmp_path: Path, place: str) -> None:
    chance = random.Random(PLACES.index(place))
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    put: list[tuple[str, str]] = []
    for number, entry in enumerate(ENTRIES, 1):
        name, value = named(entry, instance(chance.choice(entry["yes"]), chance))
        if fits(place, name, value):
            put.append((entry["id"], value))
            planted(place, number, name, value, writer)
    control = "".join(chance.choices("bcdfghjklmnpqrstvwxz", k=40))
    planted(place, len(ENTRIES) + 1, "note", control, writer)
    writer.close()
    assert writer.failed is None
    said = on_disk(path)
    assert control in said  # what neither a shape nor a name tells is found by the same search
    left = {
        kind
        for kind, value in put
        if any(one in said for one in (value, json.dumps(value)[1:-1], quote(value)))
    }
    print(f"{place}: {len(put) - len(left)} of {len(put)} kinds kept off")
    assert len(put) >= (200 if place == "path" else 340)
    assert len(left - OF_SEVERAL_PARTS) <= len(ENTRIES) // 100, left


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


def test_some_need_no_name() -> None:
    text = "DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4 lin_api_q7Rk2mZx9TbV4nLc8WdYs3HfJp6GaEu1Ki5MoNtQ"
    assert [edit.what for edit in known_edits(text)] == ["secret.datadog-api-key", "secret.linear-key"]
    assert [edit.what for edit in shaped_edits(text)] == ["secret.linear-key"]


def test_places_are_the_same_in_text_that_is_no_latin() -> None:
    for before in ("", "é", "漢字 😀 "):
        text = f"{before}DATADOG_API_KEY=4f1c9be27a60d83e5b7c19fa02d6e8b4"
        assert [text[edit.start :][:8] for edit in known_edits(text)] == ["4f1c9be2"]


@pytest.mark.parametrize(
    "text", ['{"datadog_api_key": 41930527684019357268401935726840}', "just a sentence", ""]
)
def test_numbers_and_plain_words_stay(text: str) -> None:
    assert known_edits(text) == []
