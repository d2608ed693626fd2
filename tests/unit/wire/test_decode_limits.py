"""Bodies that unpack to more than anybody can hold: cut, marked, and never a burden for an event loop."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable
from functools import cache

import brotli
import pytest
import zstandard
from tests.unit.exchange.test_pipeline import HEAD as ASKED, chat, context

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Headers, Response, Send
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.wire.framing import content_coding, split as framing
from faultwire.wire.transcript.response import MOST, MOST_VALUES, ResponseObserver, response_view

GIB = 1 << 30
MIB = bytes(1 << 20)
LONGEST_MS = 50.0
"""How long an event loop may be held up, in time of the processor; a busy machine adds to the other one."""


@cache
def bomb(name: str) -> bytes:
    """One GiB of zeros, packed."""
    if name == "br":
        packer = brotli.Compressor(quality=5)
        return b"".join([*(packer.process(MIB) for _ in range(GIB >> 20)), packer.finish()])
    if name == "zstd":
        frame = zstandard.ZstdCompressor(write_content_size=False).compressobj()
        return b"".join([*(frame.compress(MIB) for _ in range(GIB >> 20)), frame.flush()])
    return gzip.compress(MIB, 9) * (GIB >> 20)


def nested(name: str) -> tuple[bytes, str]:
    """A bomb, and the codings that it is under."""
    inner, _, outer = name.partition(" in ")
    body = bomb(inner)
    return (gzip.compress(body), f"{inner}, {outer}") if outer else (body, inner)


BOMBS = ("gzip", "zstd", "br", "gzip in gzip", "br in gzip", "zstd in gzip")


def coded(name: str) -> Headers:
    return (("content-type", "application/json"), ("content-encoding", name))


def cost_ms(work: Callable[[], object]) -> float:
    """The best of three runs, as the processor counts it."""
    runs = []
    for _ in range(3):
        began = time.process_time()
        work()
        runs.append(time.process_time() - began)
    return min(runs) * 1000


@pytest.mark.parametrize("name", BOMBS)
def test_a_gibibyte_is_cut_and_marked(name: str) -> None:
    body, codings = nested(name)
    assert len(body) < 2 << 20
    for unpack, most in (
        (content_coding.decoded, content_coding.MAX_BYTES),
        (content_coding.at_once, content_coding.AT_ONCE),
    ):
        out, partial = unpack(body, coded(codings))
        assert len(out) <= most
        assert set(out) == {0}
        assert partial


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_never_holds_up_the_loop(name: str) -> None:
    body, codings = nested(name)
    assert cost_ms(lambda: content_coding.at_once(body, coded(codings))) < LONGEST_MS


def heard(body: bytes, *headers: tuple[str, str]) -> None:
    observer = ResponseObserver(wire.protocol("openai_responses"), Response(200, "OK", headers))
    for at in range(0, len(body), 65_536):
        observer.observe(body[at : at + 65_536])
    assert observer.end() == ()


@pytest.mark.parametrize("body", [gzip.compress(b"") * 26_000, gzip.compress(b"a") + bytes(1 << 19)])
def test_tiny_members_and_padding_never_hold_up_the_loop(body: bytes) -> None:
    assert cost_ms(lambda: content_coding.at_once(body, coded("gzip"))) < LONGEST_MS
    assert content_coding.at_once(body, coded("gzip"))[0] in (b"", b"a")


def test_only_so_many_members_are_read() -> None:
    member = gzip.compress(b"a")
    assert content_coding.decoded(member * 1024, coded("gzip")) == (b"a" * 1024, False)
    assert content_coding.decoded(member * 1025, coded("gzip")) == (b"a" * 1024, True)


HOSTILE = {
    "lists": b'{"output":[' + b"[]," * (MOST // 3 - 8) + b"[]]}",
    "objects": b'{"output":[' + b"{}," * (MOST // 3 - 8) + b"{}]}",
    "as many as are read": b'{"output":[' + b"[]," * (MOST_VALUES // 2 - 8) + b"[]]}",
    "lone surrogates": b'{"a":"\\ud800","output":[' + b"[]," * (MOST_VALUES // 2 - 8) + b"[]]}",
    "one text": b'{"a":"' + b"x" * (MOST - 20) + b'"}',
    "lines": b"\n" * MOST,
    "events": b"data: {}\n\n" * (MOST_VALUES // 16 - 1),
    "too long": b" " * (4 * MOST),
}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 1),
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("content_type", ["application/json", framing.SSE])
def test_no_answer_holds_up_the_loop_when_it_is_over(what: str, content_type: str) -> None:
    body, kind = HOSTILE[what], ("content-type", content_type)
    if content_type == "application/json":
        assert cost_ms(lambda: heard(body, kind)) < LONGEST_MS
    for name, pack in PACK.items():
        packed = pack(body)
        assert (
            cost_ms(lambda packed=packed, name=name: heard(packed, kind, ("content-encoding", name)))
            < LONGEST_MS
        )  # type: ignore[misc]


@pytest.mark.parametrize("name", PACK)
def test_honest_packed_text_is_unpacked_in_time(name: str) -> None:
    letters = bytes(97 + (at * at * 7 + at // 3) % 26 for at in range(1 << 16))
    body = PACK[name](b"".join(letters[at % 251 :] for at in range(64)))
    assert cost_ms(lambda: content_coding.at_once(body, coded(name))) < LONGEST_MS


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_forwarded_as_it_came(name: str) -> None:
    body, codings = nested(name)
    pipeline = ExchangePipeline(context("drift: {type: verbosity_shift}"), ASKED)
    pipeline.request(chat())
    head = Response(200, "OK", coded(codings))
    assert pipeline.head(head) == head
    actions = [
        action for at in range(0, len(body), 65_536) for action in pipeline.feed(body[at : at + 65_536])
    ]
    actions += list(pipeline.finish())
    assert b"".join(action.data for action in actions if isinstance(action, Send)) == body
    (line,) = pipeline.ledger()
    assert line.outcome == "inapplicable"
    assert "packed" in line.reason


@pytest.mark.parametrize("name", BOMBS)
def test_the_view_of_a_bomb_is_a_wire_error_or_marked(name: str) -> None:
    body, codings = nested(name)
    protocol = wire.protocol("openai_chat")
    with pytest.raises(WireError):
        response_view(protocol, Response(200, "OK", coded(codings), body))
    stream = Response(200, "OK", (("content-type", framing.SSE), ("content-encoding", codings)), body)
    found = response_view(protocol, stream)
    assert (found.complete, found.error) == (False, "the body is only a part")


@pytest.mark.parametrize("names", ["lzw", "gzip, gzip, gzip", "gzip"])
def test_what_cannot_be_unpacked_is_a_wire_error(names: str) -> None:
    for unpack in (content_coding.decoded, content_coding.at_once):
        with pytest.raises(WireError, match=r"content coding|broken"):
            unpack(b"no such data", coded(names))


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("size", [True, False])
def test_a_zstd_body_is_whole_only_at_the_end_of_a_frame(checksum: bool, size: bool) -> None:
    packer = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size)
    for text in (b"", b"a" * 9, random.Random(1).randbytes(300_000)):
        frame = packer.compress(text)
        whole = frame + b"\x50\x2a\x4d\x18\x02\0\0\0xx" + frame
        assert content_coding.decoded(whole, coded("zstd")) == (text * 2, False)
        for cut in (1, 2, len(frame) // 2, len(frame) - 1):
            assert content_coding.decoded(whole[:-cut], coded("zstd"))[1], cut
