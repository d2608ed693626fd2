"""Frames of HTTP/2 from a client: our server side never fails, and what it takes for a request is one."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from typing import Any

from hpack import Encoder
from hyperframe.frame import Frame
from hypothesis import strategies as st
from mitmproxy.connection import Client, ConnectionState
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events
from mitmproxy.proxy.layers.http import _http2
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestData, RequestHeaders
from tests.attacks.raw_h2 import PREFACE
from tests.fuzz.heads import BASE, TEXTS
from tests.fuzz.targets import Target, damaged, pieces

from faultwire.mitm.compat import http2

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
NAMES = (b"x-a", b"content-length", b"te", b"cookie", b"X-A", b":path", b"connection")
MILD = st.tuples(st.sampled_from((b"x-a", b"te", b"cookie")), st.sampled_from((b"trailers", b"x", b"")))
ANY = st.tuples(st.sampled_from(NAMES), st.sampled_from(TEXTS))
BLOCKS = st.tuples(st.lists(MILD, max_size=2), st.lists(ANY, max_size=1)).map(
    lambda more: bytes(Encoder().encode([*BASE, *more[0], *more[1]], huffman=bool(len(more[0]) % 2)))
)
HOSTILE_BLOCKS = st.sampled_from(
    (
        b"",
        b"\x80",
        b"\xff" * 20,
        b"\x3f\xff\xff\xff\x0f",
        b"\x82" * 200,
        b"\x00\x7f\xff",
        b"\x40\x01a\x01b" * 50,
    )
)
PAYLOADS = {
    DATA: st.binary(max_size=20),
    HEADERS: BLOCKS | BLOCKS | damaged(BLOCKS, (b"\x00", b"\x80", b"\xff", b"\x82")) | HOSTILE_BLOCKS,
    PRIORITY: st.binary(min_size=5, max_size=5),
    RESET: st.binary(min_size=4, max_size=4),
    SETTINGS: st.lists(
        st.tuples(st.integers(0, 8), st.sampled_from((0, 1, 65535, 2**24, 2**31, 2**32 - 1))), max_size=3
    ).map(lambda found: b"".join(a.to_bytes(2) + b.to_bytes(4) for a, b in found)),
    PUSH: st.binary(max_size=8),
    PING: st.binary(min_size=8, max_size=8),
    GOAWAY: st.binary(min_size=8, max_size=12),
    WINDOW: st.sampled_from((0, 1, 65535, 2**31 - 1, 2**31)).map(lambda n: n.to_bytes(4)),
    CONTINUATION: BLOCKS | HOSTILE_BLOCKS,
    11: st.binary(max_size=9),
}


@st.composite
def frame(draw: st.DrawFn) -> bytes:
    """One frame, mostly of a right shape; its length is sometimes another."""
    kind = draw(st.sampled_from([HEADERS, HEADERS, HEADERS, DATA, DATA, *PAYLOADS]))
    payload = draw(PAYLOADS[kind])
    flags = draw(st.sampled_from([4, 5, 5, 0, 1, 0x2C, 0x24, 0xFF]))
    stream = draw(st.sampled_from([1, 1, 3, 3, 5, 7, 0, 2, 2**31 - 1])) if kind not in (4, 6, 7) else 0
    size = len(payload) + draw(st.sampled_from([0] * 12 + [1, -1, 2**14]))
    head = max(0, size).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4)
    return head + payload


CONNECTIONS = st.lists(frame(), max_size=12).map(
    lambda frames: PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + b"".join(frames)
)


@functools.cache
def _options() -> Options:
    options = Options()
    options.add_option("validate_inbound_headers", bool, True, "")
    options.add_option("normalize_outbound_headers", bool, True, "")
    options.add_option("http2_ping_keepalive", int, 0, "")
    return options


def outcome(data: bytes, cuts: list[int]) -> tuple[list[tuple[str, int]], bytes, bool]:
    """What our layer makes of a client's bytes: events by stream, what it writes, and whether it closes."""
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
    client.alpn = b"h2"
    with _installed():
        return _outcome(client, data, cuts)


@contextlib.contextmanager
def _installed() -> Iterator[None]:
    """As in the engine; other tests of this process have mitmproxy as it was."""
    stock = _http2.BufferedH2Connection
    _http2.BufferedH2Connection = http2.GoawayAware  # type: ignore[misc]
    try:
        yield
    finally:
        _http2.BufferedH2Connection = stock  # type: ignore[misc]


def _outcome(client: Client, data: bytes, cuts: list[int]) -> tuple[list[tuple[str, int]], bytes, bool]:
    layer = http2.PatientHttp2Server(context.Context(client, _options()))
    seen: list[tuple[str, int]] = []
    written, closed = bytearray(), False
    asked: list[events.Event] = [events.Start()]
    asked += [events.DataReceived(client, piece) for piece in pieces(data, cuts)]
    for event in asked:
        if closed:
            break
        for command in layer.handle_event(event):
            if isinstance(command, commands.SendData):
                written += command.data
            elif isinstance(command, commands.CloseConnection):
                closed = True
            elif isinstance(command, ReceiveHttp):
                _take(command.event, seen)
    return seen, bytes(written), closed


def _take(event: Any, seen: list[tuple[str, int]]) -> None:
    if isinstance(event, RequestHeaders):
        request = event.request
        parts = (request.data.method, request.data.path, request.data.authority, request.data.scheme)
        assert not re.search(rb"[\x00\r\n ]", b"".join(parts)), parts
        for name, value in request.headers.fields:
            assert not re.search(rb"[\x00\r\n:A-Z ]", name), name
            assert not re.search(rb"[\x00\r\n]", value), value
    said = (type(event).__name__, event.stream_id)
    if not (isinstance(event, RequestData) and said in seen[-1:]):
        seen.append(said)


def check(data: bytes) -> bool:
    """No failure, whole frames in return, and the same requests wherever the bytes are divided."""
    seen, written, closed = outcome(data, [])
    rest = memoryview(written)
    while rest:
        found, size = Frame.parse_frame_header(rest[:9])
        assert len(rest) >= 9 + size, "a frame that is not whole was written"
        found.parse_body(rest[9 : 9 + size])
        rest = rest[9 + size :]
    began = [stream for what, stream in seen if what == "RequestHeaders"]
    assert len(began) == len(set(began)), "one stream, two requests"
    if not closed:  # h2 forgets what came with the bytes that end a connection
        divided = outcome(data, list(range(0, len(data), 7)))
        assert divided[0] == seen
    return bool(began)


FRAMES = Target("frames", damaged(CONNECTIONS, (b"\x00", b"\xff", b"\x00\x00\x04")) | CONNECTIONS, check)
