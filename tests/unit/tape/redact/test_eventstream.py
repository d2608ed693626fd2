"""AWS event streams: what they say is redacted, and frames stay frames."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode

import pytest

from faultwire import _core
from faultwire.tape.record.body import Body
from faultwire.tape.redact import eventstream as redact_eventstream
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor

SECRET = "sk-ant-api03-ABCDEFGHIJKLMNOPQRSTUVWX"
HEADERS = ((":message-type", "event"), (":event-type", "contentBlockDelta"))
PLACEHOLDER = re.compile("redacted:v1:[0-9a-f]{32}")


def frame(said: object, headers: tuple[tuple[str, str], ...] = HEADERS) -> bytes:
    return _core.eventstream_write(headers, json.dumps(said).encode())


def converse(text: str) -> bytes:
    return frame({"contentBlockIndex": 0, "delta": {"text": text}, "p": "abc"})


def invoke(text: str) -> bytes:
    inner = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
    return frame({"bytes": b64encode(json.dumps(inner).encode()).decode(), "p": "abcd"})


def said(data: bytes) -> list[str]:
    """What each frame says; raises where one is not valid."""
    splitter = _core.EventStreamSplitter()
    texts = []
    for piece in splitter.feed(data):
        headers, payload = _core.eventstream_parse(piece)
        assert tuple(headers) == HEADERS
        event = json.loads(payload)
        if "bytes" in event:
            assert event["p"] == "abcd"
            event = json.loads(b64decode(event["bytes"], validate=True))
        texts.append(event["delta"]["text"])
    assert splitter.broken is None
    assert splitter.finish() == b""
    return texts


def body(*codings: str) -> tuple[Body, dict[str, int]]:
    counts: dict[str, int] = {}
    return Body(Redactor(b"k"), Head((), "application/vnd.amazon.eventstream", codings), counts), counts


def stored(data: bytes, *codings: str, cut: int | None = None) -> tuple[bytes, dict[str, int]]:
    one, counts = body(*codings)
    out, sizes = b"", 0
    pieces = [data] if cut is None else [data[at : at + cut] for at in range(0, len(data), cut)]
    for at, piece in enumerate(pieces):
        one.add([(at, piece)])
        more, chunks = one.release(final=at == len(pieces) - 1)
        out += more
        sizes += sum(size for size, _ in chunks)
    assert sizes == len(out)
    return out, counts


@pytest.mark.parametrize("make", [converse, invoke])
@pytest.mark.parametrize("size", [1, 5, 37, 100])
@pytest.mark.parametrize("cut", [None, 7, 150, 1000])
def test_a_secret_in_one_frame_or_over_several(make, size: int, cut: int | None) -> None:
    text = f"your key is {SECRET} and no other"
    data = b"".join(make(text[at : at + size]) for at in range(0, len(text), size))
    out, counts = stored(data, cut=cut)
    assert re.fullmatch(r"your key is redacted:v1:\w{32} and no other", "".join(said(out)))
    assert len(said(out)) == len(said(data))
    assert counts == {"anthropic_key": 1}


@pytest.mark.parametrize("make", [converse, invoke])
def test_frames_without_a_secret_keep_every_byte(make) -> None:
    data = b"".join(make(word) for word in ("one ", 'two "2" ', "\n", "drei \u00fc"))
    for cut in (None, 1, 50, 333):
        assert stored(data, cut=cut) == (data, {})


def test_the_stream_is_stored_as_it_comes() -> None:
    one, _ = body()
    first, second = converse("hello "), converse("sk-ant-")
    one.add([(1, first + second + b"\0\0")])
    assert one.release(final=False) == (first, [])
    one.add([(2, converse("x bye ")[2:])])
    out, chunks = one.release(final=False)
    assert said(out) == ["sk-ant-", "x bye "]
    assert chunks == [(len(first + second) + 2, 1), (len(out) - len(second) - 2, 2)]


def test_a_body_that_was_packed() -> None:
    data = gzip.compress(converse(SECRET[:9]) + converse(SECRET[9:] + " "))
    out, counts = stored(data, "gzip")
    assert PLACEHOLDER.fullmatch("".join(said(gzip.decompress(out))).strip())
    assert counts == {"anthropic_key": 1}


def test_a_secret_that_goes_on_after_a_frame_that_says_nothing() -> None:
    one, counts = body()
    ping = frame({"delta": {"text": ""}})
    one.add([(1, converse("a: ") + converse(SECRET[:16]) + ping + converse(SECRET[16:] + " bye"))])
    out = one.release(final=False)[0]
    one.add([(2, converse(" all"))])
    out += one.release(final=True)[0]
    assert re.fullmatch(r"a: redacted:v1:\w{32} bye all", "".join(said(out)))
    assert counts == {"anthropic_key": 1}


@pytest.mark.parametrize("make", [converse, invoke])
@pytest.mark.parametrize("missing", [1, 4, 12, 20])
def test_the_last_frame_was_cut_short(make, missing: int) -> None:
    data = make("a key: ") + make(SECRET[:20]) + make(SECRET[20:] + " bye" * 9)[:-missing]
    out, counts = stored(data)
    assert said(out[: len(make("a key: "))]) == ["a key: "]
    assert SECRET[20:].encode() not in out
    assert b64encode(SECRET[20:].encode())[:12] not in out
    assert b64encode(b"xx" + SECRET[20:].encode())[4:12] not in out
    assert b64encode(b"x" + SECRET[20:].encode())[4:12] not in out
    assert counts["anthropic_key"] == 1
    clean = make("a key ") + make("is not here")[:-missing]
    assert stored(clean) == (clean, {})


def test_what_follows_a_broken_frame_is_not_stored() -> None:
    bad = bytearray(converse("hello "))
    bad[9] ^= 1
    data = converse("one ") + bytes(bad) + converse(SECRET)
    for cut in (None, 20):
        out, counts = stored(data, cut=cut)
        good, rest = out[: len(converse("one "))], out[len(converse("one ")) :]
        assert said(good) == ["one "]
        assert PLACEHOLDER.fullmatch(rest.decode())
        assert counts == {"opaque": 1}
    with_codings, counts = stored(gzip.compress(data), "gzip")
    assert PLACEHOLDER.fullmatch(with_codings.decode())


def test_a_wrong_checksum_at_the_end_of_a_frame() -> None:
    bad = bytearray(converse(SECRET))
    bad[-1] ^= 1
    out, counts = stored(bytes(bad) + converse(" bye "))
    pieces = _core.EventStreamSplitter().feed(out)
    assert PLACEHOLDER.fullmatch(_core.eventstream_parse(pieces[0])[1].decode())
    assert pieces[1] == converse(" bye ")
    assert counts["opaque"] == 1


def test_a_secret_in_a_header() -> None:
    data = frame({"message": "no"}, ((":error-message", f"bad key {SECRET}"),)) + converse("x ")
    out, counts = stored(data)
    assert SECRET.encode() not in out
    assert out.endswith(converse("x "))
    _core.eventstream_parse(_core.EventStreamSplitter().feed(out)[0])
    assert counts == {"opaque": 1}


def test_an_error_in_place_of_frames_is_text() -> None:
    out, counts = stored(json.dumps({"message": f"bad key {SECRET}"}).encode())
    assert json.loads(out)["message"].startswith("bad key redacted:v1:")
    assert counts == {"anthropic_key": 1}


def test_base64_that_is_none() -> None:
    data = frame({"bytes": "abcde", "password": "hunter2"})
    out = redact_eventstream.look(data, Redactor(b"k"), {}, final=True)
    assert [size for *_, size in [(p[0], len(p[2])) for p in out.patches]] != []
    assert b"hunter2" not in redact_eventstream.apply(data, out.patches)[0]
