from __future__ import annotations

import gzip
import re

import pytest

from faultwire.tape.body import MAX_HELD, Body
from faultwire.tape.head import Head
from faultwire.tape.redact import Redactor

SECRET = b"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
PLACEHOLDER = re.compile(rb"redacted:v1:[0-9a-f]{32}")


def body(kind: str, *codings: str) -> tuple[Body, dict[str, int]]:
    counts: dict[str, int] = {}
    return Body(Redactor(b"k"), Head((), kind, codings), counts), counts


def test_a_document_waits_for_its_end() -> None:
    one, _ = body("application/json")
    one.add([(1, b'{"a":')])
    assert one.release(final=False) == (b"", [])
    one.add([(2, b"1}")])
    assert one.release(final=True) == (b'{"a":1}', [(5, 1), (2, 2)])
    assert one.release(final=True) == (b"", [])


def test_a_stream_is_released_event_by_event() -> None:
    one, _ = body("text/event-stream")
    one.add([(1, b'data: {"content": "hello "}\n\ndata: {"cont')])
    assert one.release(final=False) == (b'data: {"content": "hello "}\n\n', [])
    one.add([(2, b'ent": "you "}\n\n')])
    assert one.release(final=False) == (b'data: {"content": "you "}\n\n', [(41, 1), (15, 2)])


def test_the_last_word_of_a_stream_is_kept_back() -> None:
    one, counts = body("text/event-stream")
    one.add([(1, b'data: {"content": "key: "}\n\n')])
    one.add([(2, b'data: {"content": "sk-ant-api03-"}\n\n')])
    assert one.release(final=False) == (b'data: {"content": "key: "}\n\n', [(28, 1)])
    one.add([(3, b'data: {"content": "AAAAAAAAAAAAAAAAAAAA bye "}\n\n')])
    out, chunks = one.release(final=False)
    assert PLACEHOLDER.search(out)
    assert b"AAAA" not in out
    assert out.count(b"\n\n") == 2
    assert [at_ns for _, at_ns in chunks] == [2, 3]
    assert sum(size for size, _ in chunks) == len(out)
    assert counts == {"anthropic_key": 1}


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_plain_bytes_split_anywhere(cut: int) -> None:
    one, counts = body("text/plain")
    pieces = []
    for data in (b"before " + SECRET[:cut], SECRET[cut:] + b" after", b" all"):
        one.add([(1, data)])
        pieces.append(one.release(final=False))
    pieces.append(one.release(final=True))
    out = b"".join(data for data, _ in pieces)
    assert re.fullmatch(rb"before redacted:v1:[0-9a-f]{32} after all", out)
    assert sum(size for _, chunks in pieces for size, _ in chunks) == len(out)
    assert counts == {"anthropic_key": 1}


def test_a_packed_body_without_secrets_stays_as_it_came() -> None:
    packed = gzip.compress(b'{"text":"hello"}')
    one, counts = body("application/json", "gzip")
    one.add([(1, packed[:10])])
    one.add([(2, packed[10:])])
    assert one.release(final=True) == (packed, [(10, 1), (len(packed) - 10, 2)])
    assert counts == {}


def test_a_packed_body_with_a_secret_is_packed_anew() -> None:
    one, _ = body("application/json", "gzip")
    one.add([(1, gzip.compress(b'{"text":"%s"}' % SECRET))])
    out, chunks = one.release(final=True)
    assert re.fullmatch(rb'\{"text":"redacted:v1:[0-9a-f]{32}"\}', gzip.decompress(out))
    assert sum(size for size, _ in chunks) == len(out)


@pytest.mark.parametrize("codings", [("gzip",), ("aes128",), ("gzip", "br")])
def test_what_cannot_be_looked_into_is_not_stored(codings: tuple[str, ...]) -> None:
    one, counts = body("application/json", *codings)
    one.add([(1, b"\x1f\x8bnonsense" + SECRET)])
    out, chunks = one.release(final=True)
    assert PLACEHOLDER.fullmatch(out)
    assert chunks == [(len(out), 1)]
    assert counts == {"opaque": 1}


def test_a_form() -> None:
    one, counts = body("application/x-www-form-urlencoded")
    one.add([(1, b"user=me&password=hunter2&x=1")])
    out, _ = one.release(final=True)
    assert re.fullmatch(rb"user=me&password=redacted:v1:[0-9a-f]{32}&x=1", out)
    assert counts == {"query": 1}


def test_a_huge_document_does_not_fill_the_memory() -> None:
    one, _ = body("application/json")
    block = b'"a word", ' * 100_000
    size = 0
    for at in range(MAX_HELD // len(block) + 3):
        one.add([(at, block)])
        size += len(one.release(final=False)[0])
    assert size > MAX_HELD
    assert size + len(one.release(final=True)[0]) == len(block) * (MAX_HELD // len(block) + 3)


def test_a_stream_without_events_is_bytes() -> None:
    one, _ = body("text/event-stream")
    for at in range(20):
        one.add([(at, b"x y " * 25_000)])
        one.release(final=False)
    assert len(one.release(final=True)[0]) < 1_000_000
