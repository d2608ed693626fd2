from __future__ import annotations

import gzip
import json
import re

import pytest

from faultwire.tape.record import body as bodies
from faultwire.tape.record.body import MAX_HELD, Body, untouched
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor

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
    one.add([(1, b'data: {"content": "now "}\n\n')])
    one.add([(2, b'data: {"content": "sk-ant-api03-"}\n\n')])
    assert one.release(final=False) == (b'data: {"content": "now "}\n\n', [(27, 1)])
    one.add([(3, b'data: {"content": "AAAAAAAAAAAAAAAAAAAA bye "}\n\n')])
    out, chunks = one.release(final=False)
    assert PLACEHOLDER.search(out)
    assert b"AAAA" not in out
    assert out.count(b"\n\n") == 2
    assert [at_ns for _, at_ns in chunks] == [2, 3]
    assert sum(size for size, _ in chunks) == len(out)
    assert counts == {"anthropic_key": 1}


def test_a_name_of_a_stream_is_kept_back_with_its_value() -> None:
    one, counts = body("text/event-stream")
    one.add([(1, b'data: {"content": "now DATADOG_API_KEY = "}\n\n')])
    assert one.release(final=False) == (b"", [])
    one.add([(2, b'data: {"content": "4f1c9be27a60d83e5b7c"}\n\n')])
    assert b"DATADOG" not in one.release(final=False)[0]
    one.add([(3, b'data: {"content": "19fa02d6e8b4 is it "}\n\n')])
    out, _ = one.release(final=True)
    assert PLACEHOLDER.search(out)
    assert not re.search(b"4f1c9|19fa0", out)
    assert list(counts) == ["secret.datadog-api-key"]


def test_a_secret_in_pieces_over_the_elements_of_an_array() -> None:
    one, counts = body("application/json")
    said = (b"key: sk-ant-", b"api03-AAAAAAAAAA", b"AAAAAAAAAAAAAA", b" bye")
    elements = b",\r\n".join(b'{"parts": [{"text": "%s"}]}' % piece for piece in said)
    one.add([(1, b"[" + elements + b"\n]")])
    out, _ = one.release(final=True)
    assert PLACEHOLDER.search(out)
    assert b"AAAA" not in out
    assert len(json.loads(out)) == len(said)
    assert counts == {"anthropic_key": 1}


def test_what_shows_a_secret_came_in_an_event_before_it() -> None:
    for first, rest in (
        (b" B", b"earer 222222222222222222222222"),
        (b'{\\"pass', b'word\\": \\"222222 2\\"'),
    ):
        one, counts = body("text/event-stream")
        events = b"".join(
            b'data: {"content": "%s"}\n\n' % said for said in (b"so ", first, rest + b", and more")
        )
        one.add([(1, events)])
        out = one.release(final=False)[0]
        assert out == b'data: {"content": "so "}\n\n'
        out += one.release(final=True)[0]
        assert b"2222" not in PLACEHOLDER.sub(b"", out)
        assert sum(counts.values()) == 1


@pytest.mark.parametrize("end", [b"", b" bye", b" bye \\", b' bye"', b' bye"}'])
def test_a_stream_that_was_cut_inside_a_secrets_last_event(end: bytes) -> None:
    for step in (False, True):
        one, counts = body("text/event-stream")
        out = b""
        for at, said in enumerate((b"key: ", SECRET[:16])):
            one.add([(at, b'data: {"content": "%s"}\n\n' % said)])
            out += one.release(final=False)[0] if step else b""
        one.add([(3, b'data: {"content": "' + SECRET[16:] + end)])
        out += one.release(final=False)[0] if step else b""
        out += one.release(final=True)[0]
        assert SECRET[16:] not in out
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


def test_a_packed_stream_without_end_is_counted_and_not_kept() -> None:
    one, counts = body("text/event-stream", "gzip")
    for at in range(60):
        assert one.add([(at, b"x" * 1_048_576)]) == 1_048_576
        assert one.release(final=False) == (b"", [])
        assert sum(map(len, one._kept)) <= MAX_HELD
        assert len(one._ends) <= 17
    out, chunks = one.release(final=True)
    assert PLACEHOLDER.fullmatch(out)
    assert chunks == [(len(out), 59)]
    assert (one.dropped, counts) == (60 * 1_048_576, {"opaque": 1})
    assert one.release(final=True) == (b"", [])


def test_a_large_body_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_PIECE", 10)
    one, _ = body("text/plain")
    one.add([(1, b"abc ")])
    assert one.pieces(final=False) == [(b"abc ", [(4, 1)])]
    one.add([(2, b"0123"), (3, b"456789 b"), (4, b"cdefghijklmnop"), (5, b"q")])
    pieces = one.pieces(final=True)
    assert [len(data) for data, _ in pieces] == [10, 10, 7]
    assert b"".join(data for data, _ in pieces) == b"0123456789 bcdefghijklmnopq"
    assert [chunks for _, chunks in pieces] == [[(4, 2)], [(8, 3)], [(14, 4), (1, 5)]]
    assert one.pieces(final=True) == []


@pytest.mark.parametrize(
    ("kind", "parts", "fast"),
    [
        ("application/json", (b'{"a":', b"1}"), True),
        ("application/json; charset=utf-8", (b'{"a": "\\n\xe9"}',), True),
        ("application/json", (b"",), True),
        ("application/json", (b'{"a":"' + SECRET[:9], SECRET[9:] + b'"}'), False),
        ("application/json", (b'{"datadog": "4f1c9be27a60d83e5b7c19fa02d6e8b4"}',), False),
        ("application/json", (b'{"password":"x"}',), False),
        ("application/json", (b'[{"a":1}]',), False),
        ("application/jsonl", (b'{"a":1}\n',), False),
        ("text/event-stream", (b"data: 1\n\n",), False),
        ("", (b"{}",), False),
    ],
)
def test_the_fast_way_of_a_clean_document_is_the_same(
    kind: str, parts: tuple[bytes, ...], fast: bool
) -> None:
    data = untouched(Redactor(b"k"), Head((), kind), parts)
    assert (data is not None) == fast
    if data is not None:
        one, counts = body(kind)
        one.add([(at, part) for at, part in enumerate(parts)])
        assert one.pieces(final=True) == [(data, [(len(part), at) for at, part in enumerate(parts)])]
        assert counts == {}
    assert untouched(Redactor(b"k"), Head((), kind, ("gzip",)), parts) is None
