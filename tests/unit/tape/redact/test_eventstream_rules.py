"""AWS event streams: a user's rules, frames that end early, and what stands beside Base64.

Covers faultwire.tape.redact.eventstream.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64decode, b64encode
from itertools import pairwise
from typing import Any

import pytest

from faultwire import _core
from faultwire.tape.record.body import Body
from faultwire.tape.redact import eventstream
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import read_rules

SECRET = "sk-ant-api03-ABCDEFGHIJKLMNOPQRSTUVWX"
HEADERS = ((":message-type", "event"),)
HEAD = 12 + 1 + len(":message-type") + 3 + len("event")
"""Bytes of a frame before its payload: prelude, name, type and length, value."""
OWN: dict[str, Any] = {"patterns": [{"id": "own", "regex": "EMP[- ][0-9]{6}"}]}


def frame(said: object, headers: tuple[tuple[str, str], ...] = HEADERS) -> bytes:
    return _core.eventstream_write(headers, json.dumps(said).encode())


def says(text: str) -> bytes:
    return frame({"delta": {"text": text}})


def packs(text: str) -> bytes:
    return frame({"bytes": b64encode(json.dumps({"delta": {"text": text}}).encode()).decode()})


def payloads(data: bytes) -> list[Any]:
    """What each frame holds as JSON; raises where one is not valid."""
    return [json.loads(_core.eventstream_parse(one)[1]) for one in _core.EventStreamSplitter().feed(data)]


def text_of(event: Any) -> str:
    inner = json.loads(b64decode(event["bytes"], validate=True)) if "bytes" in event else event
    return str(inner["delta"]["text"])


def stored(data: bytes, step: int, section: Any = None) -> tuple[bytes, dict[str, int]]:
    """What is on the tape of a body that comes in pieces, released as early as it may be."""
    counts: dict[str, int] = {}
    head = Head((), f"application/{eventstream.KIND}")
    body = Body(Redactor(b"k", read_rules(section)), head, counts)
    out = b""
    for start, end in pairwise((*range(0, len(data), step), len(data))):
        body.add([(0, data[start:end])])
        out += body.release(final=end == len(data))[0]
    return out, counts


@pytest.mark.parametrize("make", [says, packs])
@pytest.mark.parametrize("step", [200, 1_000_000])
@pytest.mark.parametrize("own", ["EMP-123456", "EMP 123456"])
def test_a_user_s_rules_reach_what_frames_say_joined(make: Any, step: int, own: str) -> None:
    text = f"it  {own} " + "and more " * 300
    data = b"".join(make(text[at : at + 8]) for at in range(0, len(text), 8))
    assert stored(data, step) == (data, {}), "the control"
    out, counts = stored(data, step, OWN)
    found = "".join(map(text_of, payloads(out)))
    assert re.sub(r"redacted:v1:\w{32}", own, found) == text
    assert "EMP" not in found
    assert counts == {"rule.own": 1}


@pytest.mark.parametrize(
    ("packed", "found"),
    [
        ("", ""),
        ("a=", ""),
        ("QUI", "QUI="),
        ("QUI=", "QUI="),
        ("QUJX", "QUJX"),
        ("QUJXRA==", "QUJXRA=="),
        ("QUJDR", "QUJD"),
        ("QUJDR=", "QUJD"),
    ],
)
def test_base64_without_a_secret_says_the_same_beside_one(packed: str, found: str) -> None:
    out, counts = stored(frame({"bytes": packed, "password": "hunter2", "p": "abc"}), 1_000_000)
    (event,) = payloads(out)
    assert (event["bytes"], event["p"]) == (found, "abc")
    assert event["password"].startswith("redacted:v1:")
    assert counts == {"key": 1}


def test_a_frame_without_a_secret_keeps_every_byte_before_one_with() -> None:
    """Packed again, this Base64 would be longer."""
    harmless = frame({"bytes": "QUI"})
    out, counts = stored(harmless + frame({"password": "hunter2"}), 1_000_000)
    assert out.startswith(harmless)
    assert counts == {"key": 1}


@pytest.mark.parametrize("before", [True, False])
def test_what_stands_beside_base64_is_replaced_and_the_base64_stays_whole(before: bool) -> None:
    inner = {"bytes": b64encode(json.dumps({"delta": {"text": f"{SECRET} bye"}}).encode()).decode()}
    named = {"password": "hunter2-and-more-of-it"}
    event = {**named, **inner, "p": "abc"} if before else {"p": "abc", **inner, **named}
    out, counts = stored(frame(event), 1_000_000)
    (found,) = payloads(out)
    assert list(found) == list(event)
    assert found["p"] == "abc"
    assert re.fullmatch(r"redacted:v1:\w{32}", found["password"])
    assert re.fullmatch(r"redacted:v1:\w{32} bye", text_of(found))
    assert sum(counts.values()) == 2


def test_of_a_frame_that_is_cut_short_its_head_stays() -> None:
    cut = says(f"{SECRET} bye bye")[:-5]
    out, counts = stored(says("a ") + cut, 1_000_000)
    assert out == says("a ") + cut[:HEAD]
    assert counts == {"anthropic_key": 1}


def test_of_a_frame_that_is_cut_short_nothing_stays_where_its_head_holds_a_secret() -> None:
    cut = frame({}, ((":error-message", f"bad key {SECRET}"),))[:-1]
    out, counts = stored(says("a ") + cut, 1_000_000)
    assert out == says("a ")
    assert counts == {"opaque": 1}


def test_a_key_is_seen_up_to_the_last_byte_of_a_frame_that_is_cut_short() -> None:
    shortest = says("sk-ant-" + "a1B2c3D4e5F6")[: -4 - len('"}}')]
    out, counts = stored(says("a ") + shortest, 1_000_000)
    assert out == says("a ") + shortest[:HEAD]
    assert counts == {"anthropic_key": 1}


def test_of_a_head_that_is_longer_than_what_came_nothing_is_taken_for_what_follows_it() -> None:
    lengths = struct.pack(">II", (1 << 24) + 200, (1 << 24) + 1)
    cut = lengths + struct.pack(">I", zlib.crc32(lengths)) + f"x {SECRET}".encode()
    out, counts = stored(says("a ") + cut, 1_000_000)
    assert out == says("a ")
    assert counts == {"opaque": 1}


# ---------------------------------------------------------------- what is no JSON


def raw(payload: str) -> bytes:
    return _core.eventstream_write(HEADERS, payload.encode())


def test_a_private_key_over_frames_leaves_nothing_but_its_place() -> None:
    key = ["-----BEGIN PRIVATE KEY-----MIIE", "", "vQIB", "ADAN-----END PRIVATE KEY-----"]
    out, counts = stored(b"".join(map(raw, [f"a {key[0]}", *key[1:-1], f"{key[-1]} bye"])), 1_000_000)
    found = [_core.eventstream_parse(one)[1].decode() for one in _core.EventStreamSplitter().feed(out)]
    assert re.fullmatch(r"a redacted:v1:[0-9a-f]{32}", found[0])
    assert found[1:] == ["", "", " bye"]
    assert counts == {"private_key": 1}


@pytest.mark.parametrize(
    ("frames", "released"),
    [
        ([says("hello "), says("ab")], 1),
        ([says("hello "), says("ab ")], 2),
        ([says("ab"), raw(f'{SECRET} "text":"ab"')], 0),
        ([says("ab "), raw(f'{SECRET} "text":"ab"')], 1),
        ([raw("-----BEGIN PRIVATE KEY-----MII"), raw('- "text":"ab"')], 1),
        ([raw("-----BEGIN PRIVATE KEY-----MII"), raw(' "text":"ab"')], 0),
    ],
    ids=["open", "closed", "both open", "a secret begins", "a secret ended", "a secret goes on"],
)
def test_frames_wait_where_what_they_say_is_open(frames: list[bytes], released: int) -> None:
    found = eventstream.look(b"".join(frames), Redactor(b"k"), {}, final=False)
    assert found.size == sum(map(len, frames[:released]))
    assert not found.broken


def test_frames_wait_where_what_a_user_s_rule_covers_may_go_on() -> None:
    data = says("it is EMP ")
    assert eventstream.look(data, Redactor(b"k"), {}, final=False).size == len(data), "the control"
    assert eventstream.look(data, Redactor(b"k", read_rules(OWN)), {}, final=False).size == 0


def test_what_was_open_before_a_broken_frame_is_stored() -> None:
    """Nothing goes on after it."""
    bad = bytearray(says("x"))
    bad[9] ^= 1
    found = eventstream.look(says("ab") + bytes(bad), Redactor(b"k"), {}, final=False)
    assert found == (len(says("ab")), [], True)
