"""Planted secrets by the thousand: twelve places, four encodings, any chunking, none on the disk.

Every secret is made of a few rare letters behind a provider's prefix, so that one search tells whether
any part of any of them is there: as it stands, and in what the disk's bytes say when decoded.
"""

from __future__ import annotations

import json
import random
import re
import sys
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from faultwire.events import Exchange, Message, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.body import Body
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor

if str(CORPORA := Path(__file__).parents[1] / "unit" / "patterns") not in sys.path:
    sys.path.append(str(CORPORA))

import pattern_corpora

LETTERS = "QXZJV7"
TRACE = re.compile(rb"[QXZJV7]{8,}")
PREFIXES = ("sk-ant-api03-", "sk-proj-", "ghp_", "gsk_", "hf_", "npm_", "glpat-", "xoxb-")
ENCODINGS = ("plain", "escaped", "percent", "base64")
WORDS = "the quick brown fox jumps over the lazy dog and asks what it should do "
JSON = (("content-type", "application/json"),)
BATCH = 200

Plant = tuple[Request, Response, bytes, "str | None", bytes]
"""A request, a response, its body, an error, and what a WebSocket message says."""


def encoded(secret: str, how: str) -> str:
    if how == "escaped":
        return "".join(f"\\u{ord(c):04x}" if n % 3 == 0 else c for n, c in enumerate(secret))
    if how == "percent":
        return "".join(f"%{ord(c):02X}" for c in secret)
    return b64encode(secret.encode()).decode() if how == "base64" else secret


def sse(text: str, chance: random.Random) -> bytes:
    """A stream that says a text in pieces of any size."""
    out, at = [], 0
    while at < len(text):
        size = chance.choice((1, 2, 3, 5, 8, 13, 40))
        out.append(json.dumps({"choices": [{"index": 0, "delta": {"content": text[at : at + size]}}]}))
        at += size
    return "".join(f"data: {event}\n\n" for event in (*out, "[DONE]")).encode()


def planted(place: str, secret: str, how: str, chance: random.Random) -> Plant:  # noqa: C901 - one case a place
    value = encoded(secret, how)
    headers, path, body = [*JSON], "/v1/chat", b'{"model":"m"}'
    answer_head, answer, error, message = [*JSON], b'{"ok":true}', None, b""
    literal = value if how == "escaped" else json.dumps(value)[1:-1]
    match place:
        case "authorization":
            headers.append(("Authorization", f"Bearer {value}"))
        case "api key header":
            headers.append(("X-Api-Key", value))
        case "cookie":
            answer_head.append(("Set-Cookie", f"sid={value}; Path=/"))
        case "query":
            path += f"?a=1&api_key={value}&b=2"
        case "named member":
            body = f'{{"a":[{{"client_secret":"{literal}","max_tokens":5}}]}}'.encode()
        case "text":
            body = f'{{"text":"{WORDS}{literal} {WORDS}"}}'.encode()
        case "nested":
            inner = f'{{"again":"{literal}"}}'
            body = json.dumps({"arguments": inner}).encode()
        case "form":
            headers = [("content-type", "application/x-www-form-urlencoded")]
            body = f"user=me&password={value}&x=1".encode()
        case "event":
            answer_head = [("content-type", "text/event-stream")]
            answer = f'data: {{"text":"{WORDS}{literal} {WORDS}"}}\n\ndata: [DONE]\n\n'.encode()
        case "deltas":
            answer_head = [("content-type", "text/event-stream")]
            answer = sse(f"{WORDS}{secret if how == 'escaped' else value} {WORDS}", chance)
        case "error":
            error = f"upstream sent: bad key {secret if how == 'escaped' else value}"
        case "message":
            message = f'{{"type":"say","text":"{literal}"}}'.encode()
    request = Request("POST", "https", "api.example.com", 443, path, tuple(headers), body)
    return request, Response(200, "OK", tuple(answer_head)), answer, error, message


PLACES = (
    *("authorization", "api key header", "cookie", "query", "named member", "text", "nested", "form"),
    *("event", "deltas", "error", "message"),
)


def record(writer: TapeWriter, number: int, plant: Plant, chance: random.Random) -> None:
    request, response, answer, error, message = plant
    recording = writer.record(Exchange("s", number, request, "llm"))
    recording.request(request)
    recording.upstream_head(response)
    at = 0
    while at < len(answer):
        size = chance.choice((1, 3, 7, 30, 200, 5000))
        recording.upstream_chunk(answer[at : at + size])
        at += size
    if message:
        recording.message(Message(by="client", kind="text", data=message, sent_ns=1, delivered_ns=2))
    recording.end("complete", error)


def traces(data: bytes) -> set[bytes]:
    """Pieces of secrets in bytes, as they stand and as they decode."""
    found = set(TRACE.findall(data))
    plain = re.sub(rb"\\{1,4}u00([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), data)
    found |= set(TRACE.findall(plain)) | set(TRACE.findall(unquote_to_bytes(data)))
    for run in re.findall(rb"[A-Za-z0-9+/_-]{24,}", data):
        for skip in range(4):
            piece = run[skip:].replace(b"-", b"+").replace(b"_", b"/")
            try:
                found |= set(TRACE.findall(b64decode(piece[: len(piece) & ~3])))
            except Error:
                continue
    return found


def said(reader: TapeReader) -> Iterator[bytes]:
    """What recorded bodies are when unpacked, and what their deltas say when joined."""
    for one in reader.exchanges():
        yield one.request.body or b""
        for message in one.messages:
            yield message.data
        if one.upstream is not None:
            body = one.upstream.body
            yield body
            parts = re.findall(rb'"content": "((?:[^"\\]|\\.)*)"', body)
            yield b"".join(parts)


def searched(
    folder: Path, secrets: int, chance: random.Random, make: Callable[[random.Random], str]
) -> set[bytes]:
    """Plant so many secrets at every place, and look for them while the tape is open and after."""
    path = folder / f"{secrets}.{chance.random()}.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, journal=folder / f"{path.name}.jsonl")
    number = 0
    for _ in range(secrets):
        secret = make(chance)
        for place in PLACES:
            number += 1
            record(writer, number, planted(place, secret, chance.choice(ENCODINGS), chance), chance)
    assert writer.flush() == number
    found: set[bytes] = set()
    for left in folder.iterdir():
        found |= traces(left.read_bytes())
    writer.close()
    assert writer.failed is None
    for left in folder.iterdir():
        found |= traces(left.read_bytes())
    with TapeReader.open(path) as reader:
        for data in said(reader):
            found |= traces(data)
    assert verify(path).exchanges == number
    for left in folder.iterdir():
        left.unlink()
    return found


def shaped(chance: random.Random) -> str:
    return chance.choice(PREFIXES) + "".join(chance.choice(LETTERS) for _ in range(40))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("secrets", [40, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_no_planted_secret_is_on_the_disk(tmp_path: Path, secrets: int) -> None:
    chance = random.Random(secrets)
    for start in range(0, secrets, BATCH):
        assert searched(tmp_path, min(BATCH, secrets - start), chance, shaped) == set()
    print(f"{secrets} secrets, {secrets * len(PLACES)} plants: 0 found")


def test_clean_traffic_is_not_touched() -> None:
    """Ten thousand bodies of prose, code, logs, ids and tool output, as JSON and as streams."""
    texts = [
        *pattern_corpora.clean_messages(4000),
        *pattern_corpora.source_lines(3000),
        *pattern_corpora.tool_outputs(3000),
    ]
    touched = 0
    for number, text in enumerate(texts):
        said = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}, {"role": "system"}]})
        kind = "text/event-stream" if number % 2 else "application/json"
        data = f"data: {said}\n\n".encode() if number % 2 else said.encode()
        body = Body(Redactor(b"k"), Head((), kind), {})
        body.add(((0, data),))
        out, _ = body.release(final=True)
        json.loads(out.removeprefix(b"data: "))
        touched += out != data
    print(f"{touched} of {len(texts)} clean bodies touched")
    assert touched <= len(texts) // 1000


def test_what_has_no_shape_is_found_where_no_name_shows_it(tmp_path: Path) -> None:
    """The control: the same search sees what nobody could know to be secret."""
    found = searched(tmp_path, 10, random.Random(1), lambda chance: "".join(chance.choices(LETTERS, k=40)))
    assert len(found) >= 10
