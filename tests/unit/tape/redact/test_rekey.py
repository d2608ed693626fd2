"""Placeholders under another key: each one, wherever it stands, and nothing else."""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64decode, b64encode
from zlib import crc32

import pytest

from faultwire import _core
from faultwire.tape.redact.rekey import Rekey

OLD, OTHER = "0123456789abcdef" * 2, "f" * 32
PLACE = f"redacted:v1:{OLD}".encode()
HEADERS = ((":event-type", "chunk"),)


def renamed(old: str, key: bytes = b"K" * 32) -> bytes:
    return b"redacted:v1:" + hmac.digest(key, old.encode(), "sha256").hex()[:32].encode()


@pytest.fixture
def rekey() -> Rekey:
    return Rekey(b"K" * 32)


def test_a_digest_becomes_another_of_its_length(rekey: Rekey) -> None:
    assert rekey.digest(OLD) == renamed(OLD)[12:].decode()
    assert rekey.digest(OLD) == rekey.digest(OLD) != rekey.digest(OTHER)
    assert Rekey().digest(OLD) != Rekey().digest(OLD)
    assert len(Rekey().digest(OLD)) == 32


def test_every_placeholder_in_a_text_is_renamed(rekey: Rekey) -> None:
    data = b'{"a":"%s","b":"x redacted:v1:%s y %s"}' % (PLACE, OTHER.encode(), PLACE)
    new = rekey.data(data)
    assert new == data.replace(PLACE, renamed(OLD)).replace(f"redacted:v1:{OTHER}".encode(), renamed(OTHER))
    assert len(new) == len(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"plain", b"redacted:v1:", b"redacted:v1:" + b"0" * 31, b"redacted:v2:" + OLD.encode(), b"A" * 400],
    ids=["empty", "plain", "mark", "short", "version", "base64"],
)
def test_what_is_no_placeholder_stays(rekey: Rekey, data: bytes) -> None:
    assert rekey.data(data) == data


@pytest.mark.parametrize("pad", [0, 1, 2, 3])
def test_in_base64_too(rekey: Rekey, pad: int) -> None:
    plain = b"x" * pad + b"the key is %s." % PLACE
    data = b'{"data":"%s","n":1}' % b64encode(plain)
    new = rekey.data(data)
    assert b64decode(json.loads(new)["data"]) == plain.replace(PLACE, renamed(OLD))
    assert len(new) == len(data)
    both = rekey.data(data + PLACE)
    assert both == new + renamed(OLD)


def test_base64_that_is_none_or_holds_nothing_stays(rekey: Rekey) -> None:
    whole = b64encode(b"the key is %s." % PLACE).rstrip(b"=")
    for data in (whole + b"A" * ((1 - len(whole)) % 4), b64encode(b"x" * 90)):
        assert rekey.data(data) == data
    odd = b64encode(b"x" * 61).replace(b"eA==", b"eB==")  # decoded and encoded again it would be another text
    assert b64decode(odd) == b"x" * 61
    assert rekey.data(b'"' + odd + b'"') == b'"' + odd + b'"'


def frames(*payloads: bytes) -> bytes:
    return b"".join(_core.eventstream_write(HEADERS, payload) for payload in payloads)


def test_frames_keep_valid_checksums(rekey: Rekey) -> None:
    inner = b'{"say":"%s"}' % PLACE
    said = [b'{"a":"%s"}' % PLACE, b'{"a":"nothing"}', b'{"bytes":"%s"}' % b64encode(inner)]
    new = rekey.data(frames(*said))
    pieces = _core.EventStreamSplitter().feed(new)
    told = [_core.eventstream_parse(piece) for piece in pieces]
    assert [tuple(headers) for headers, _ in told] == [HEADERS] * 3
    assert [payload for _, payload in told][:2] == [said[0].replace(PLACE, renamed(OLD)), said[1]]
    assert b64decode(json.loads(told[2][1])["bytes"]) == inner.replace(PLACE, renamed(OLD))
    assert pieces[1] == frames(said[1])


def test_what_only_begins_like_frames_is_a_text(rekey: Rekey) -> None:
    whole = frames(b'{"a":"%s"}' % PLACE)
    for data in (whole[:-1], whole + b"more", whole + whole[:-3], b"\0\0\0\0" + whole):
        new = rekey.data(data)
        assert new == data.replace(PLACE, renamed(OLD))
    assert re.search(rb"redacted:v1:" + OLD.encode(), new) is None


def test_in_a_frame_whose_checksum_was_wrong_it_stays_wrong(rekey: Rekey) -> None:
    whole, other = frames(b'{"a":"%s"}' % PLACE), frames(b'{"b":"%s"}' % PLACE)
    broken = whole[:-4] + bytes(4)
    new = rekey.data(broken + other)
    assert new == broken.replace(PLACE, renamed(OLD)) + rekey.data(other)
    assert rekey.data(other) == frames(b'{"b":"%s"}' % renamed(OLD))


def test_in_a_frame_of_long_headers(rekey: Rekey) -> None:
    """Longer than any service sends, so that all four bytes of their length count."""
    size, payload = 1 << 24, b'{"a":"%s"}' % PLACE
    head = (size + len(payload) + 16).to_bytes(4, "big") + size.to_bytes(4, "big")
    said = head + crc32(head).to_bytes(4, "big") + bytes(size) + payload
    frame = said + crc32(said).to_bytes(4, "big")
    new = rekey.data(frame)
    assert new[-4:] == crc32(new[:-4]).to_bytes(4, "big")
    assert new[:-4] == said[: -len(payload)] + payload.replace(PLACE, renamed(OLD))
