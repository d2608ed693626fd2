"""Clients of HTTP/2 that make us keep, or do, more than they send: header blocks without an end
(CVE-2024-27316), frames longer than announced, settings and pings without end (CVE-2019-9512, 9515), streams
that are opened to be reset (CVE-2023-44487).

Each attack is made twice: on an engine without the limit, where it works, and on one that has it.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hyperframe.frame import (
    ContinuationFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from tests import interpreter
from tests.attacks import raw_h2

from faultwire.mitm.compat import http2_frames as frames
from faultwire.mitm.engine.client import Engine

LIMIT_S = 0.6
NEVER_S = 1000.0
CALM = 11
"""ENHANCE_YOUR_CALM (RFC 9113 §7)."""
BOUNDLESS = """
import h2.frame_buffer
from faultwire.mitm.compat import http2_frames, limited_handler
h2.frame_buffer.CONTINUATION_BACKLOG = limited_handler.OWN_BACKLOG = 10**12
for name in ("LONGEST", "MOST_FRAMES", "MOST_BYTES", "MOST_SETTINGS", "MOST_RESETS"):
    setattr(http2_frames, name, 10**12)
"""


@pytest.fixture
def strict(settings: Any) -> Iterator[Engine]:
    with Engine.start(settings.model_copy(update={"head_timeout_s": LIMIT_S})) as engine:
        yield engine


@pytest.fixture
def boundless(tools: Any, tmp_path: Path, test_ca: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine whose limits are out of reach, h2's own too."""
    place = tmp_path / "boundless"
    place.mkdir()
    (place / "sitecustomize.py").write_text(
        "import sys\n"
        "class Late:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'faultwire.mitm.engine.engine':\n"
        "            sys.meta_path.remove(self)\n"
        + "".join(f"            {line}\n" for line in BOUNDLESS.strip().splitlines())
        + "sys.meta_path.insert(0, Late())\n"
    )
    monkeypatch.setattr(sys, "executable", str(interpreter.make(place / "python", [place])))
    settings = tools.settings_in(place, test_ca)
    with Engine.start(settings.model_copy(update={"head_timeout_s": NEVER_S})) as engine:
        yield engine


@contextlib.contextmanager
def speaking(tools: Any, engine: Engine, server: Any, session: Any = None) -> Iterator[Any]:
    """A client that has begun to speak HTTP/2 to a server."""
    with tools.Client(engine, f"localhost:{server.port}", tls=True, session=session, alpn=["h2"]) as client:
        client.send(raw_h2.PREFACE + SettingsFrame(0).serialize())
        yield client


def head(server: Any, path: bytes = b"/") -> list[tuple[bytes, bytes]]:
    authority = b"localhost:%d" % server.port
    return [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", authority), (b":path", path)]


def begun(stream: int = 1) -> bytes:
    """A header block that does not end."""
    return bytes(HeadersFrame(stream, data=b"\x82", flags=["END_STREAM"]).serialize())


def goaway(sock: socket.socket, seconds: float) -> int | None:
    """The code of the GOAWAY that comes in time; -1 where the connection ends without one, None while it is
    open."""
    data, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        while len(data) >= 9:
            frame, size = Frame.parse_frame_header(memoryview(data[:9]))
            if len(data) < 9 + size:
                break
            frame.parse_body(memoryview(data[9 : 9 + size]))
            data = data[9 + size :]
            if isinstance(frame, GoAwayFrame):
                return int(frame.error_code)
        sock.settimeout(left)
        try:
            piece = sock.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return -1
        if not piece:
            return -1
        data += piece
    return None


def send(client: Any, data: bytes) -> None:
    """Send what the other side may have had enough of."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLError):
        client.sock.sendall(data)


# ---------------------------------------------------------------- time


@contextlib.contextmanager
def asking(client: Any, server: Any, release: threading.Event) -> Iterator[None]:
    """A call is in flight in the connection, whose server says nothing."""
    asked = threading.Event()

    def late(request: Any, connection: socket.socket) -> None:
        asked.set()
        release.wait(20)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    server.handlers["/"] = late
    client.send(raw_h2.head_frame(1, head(server), end=True))
    assert asked.wait(20)
    try:
        yield
    finally:
        release.set()


@pytest.mark.parametrize("drips", [True, False], ids=["drips", "stops"])
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_a_header_block_that_does_not_end_is_given_up_also_beside_other_calls(
    tools: Any, strict: Engine, boundless: Engine, tls_upstream: Any, busy: bool, drips: bool
) -> None:
    more = ContinuationFrame(3).serialize() if drips else b""
    for engine, given_up in ((strict, True), (boundless, False)):
        release, over = threading.Event(), threading.Event()
        with speaking(tools, engine, tls_upstream) as client, contextlib.ExitStack() as stack:
            if busy:
                stack.enter_context(asking(client, tls_upstream, release))
            client.send(begun(3))

            def drip(client: Any = client, over: threading.Event = over) -> None:
                while not over.wait(LIMIT_S / 10):
                    send(client, more)

            thread = threading.Thread(target=drip)
            thread.start()
            code = goaway(client.sock, 20.0 if given_up else 3 * LIMIT_S)
            over.set()
            thread.join()
        assert code == (-1 if given_up else None)
        assert engine.stats()["slow_heads"] == given_up


def test_a_connection_is_not_given_up_between_its_blocks(
    tools: Any, strict: Engine, tls_upstream: Any
) -> None:
    """One that is silent, pings, or makes calls whose every block comes late, and in two pieces."""
    tls_upstream.answer("/", b"{}")
    with speaking(tools, strict, tls_upstream) as client:
        for stream in range(1, 9, 2):
            client.send(PingFrame(0, opaque_data=b"12345678").serialize())
            assert goaway(client.sock, LIMIT_S / 2) is None
            whole = raw_h2.head_frame(stream, head(tls_upstream), end=True)
            client.send(whole[:20])
            assert goaway(client.sock, LIMIT_S / 3) is None
            client.send(whole[20:])
        assert goaway(client.sock, 2 * LIMIT_S) is None
    assert strict.stats()["slow_heads"] == 0
    assert len(tls_upstream.asked) == 4


# ---------------------------------------------------------------- counts


def long_frame(client: Any) -> None:
    """A frame of 16 MB, of which half comes."""
    send(client, (2**24 - 1).to_bytes(3, "big") + b"\0\0\0\0\0\1")
    for _ in range(128):
        send(client, bytes(65536))


FLOODS: dict[str, Callable[[Any], None]] = {
    "frames of a block": lambda client: send(client, begun() + ContinuationFrame(1).serialize() * 500),
    "bytes of a block": lambda client: send(
        client, begun() + ContinuationFrame(1, data=b"\x20" * 16000).serialize() * 60
    ),
    "a long frame": long_frame,
    "settings": lambda client: send(client, SettingsFrame(0, settings={1: 4096}).serialize() * 1000),
}


@pytest.mark.parametrize("name", FLOODS)
def test_what_a_client_sends_without_an_end_ends_its_connection(
    tools: Any, strict: Engine, boundless: Engine, tls_upstream: Any, name: str
) -> None:
    with speaking(tools, strict, tls_upstream) as client:
        FLOODS[name](client)
        assert goaway(client.sock, 20.0) in (CALM, -1)  # where we closed with bytes unread the kernel resets
    assert strict.stats()["slow_heads"] == 0
    with speaking(tools, boundless, tls_upstream) as client:
        FLOODS[name](client)
        assert goaway(client.sock, 1.0) is None, "the attack works"


def test_the_end_of_a_connection_has_a_reason(tools: Any, strict: Engine, tls_upstream: Any) -> None:
    with speaking(tools, strict, tls_upstream) as client:
        client.send(begun() + ContinuationFrame(1).serialize() * frames.MOST_FRAMES)
        assert goaway(client.sock, 20.0) == CALM


RESETS = 2 * frames.MOST_RESETS
ANSWERED_S = 10.0


def reset_by_client(stream: int) -> bytes:
    return bytes(RstStreamFrame(stream, error_code=8).serialize())


def reset_by_us(stream: int) -> bytes:
    """More window than there can be is an error, for which the other side resets (CVE-2025-8671)."""
    return bytes(WindowUpdateFrame(stream, window_increment=2**31 - 1).serialize())


def rapid(client: Any, server: Any, reset: Callable[[int], bytes]) -> None:
    for first in range(1, 2 * RESETS, 200):
        streams = range(first, first + 200, 2)
        send(client, b"".join(raw_h2.head_frame(n, head(server), end=True) + reset(n) for n in streams))


@pytest.mark.nightly
@pytest.mark.parametrize("reset", [reset_by_client, reset_by_us])
def test_streams_that_are_opened_to_be_reset_end_their_connection_and_void_the_run(
    tools: Any, strict: Engine, boundless: Engine, tls_upstream: Any, reset: Callable[[int], bytes]
) -> None:
    tls_upstream.answer("/", b"{}")
    made = []
    for engine in (strict, boundless):
        handle = engine.open_session("rapid", tools.CALM, 1)
        with speaking(tools, engine, tls_upstream, handle) as client:
            rapid(client, tls_upstream, reset)
            code = goaway(client.sock, 120.0 if engine is strict else 5.0)
        with tools.Client(engine, f"localhost:{tls_upstream.port}", tls=True) as other:
            other.get("/")
            assert other.response()[0] == 200
        summary = engine.close_session("rapid")
        made.append((code, summary.exchanges, summary.voids))
    (code, exchanges, voids), (open_, all_of_them, none) = made
    assert code in (CALM, -1)
    assert frames.MOST_RESETS <= exchanges <= 1.5 * frames.MOST_RESETS
    assert voids == ("a connection of HTTP/2 was ended: it made 500 calls at once that it gave up",)
    assert strict.stats()["flooded"] == 1
    assert (open_, all_of_them, none) == (None, RESETS, ())


# ---------------------------------------------------------------- answers that nobody takes


@pytest.mark.nightly
def test_pings_whose_answers_are_not_taken_are_not_read(
    tools: Any, strict: Engine, boundless: Engine, tls_upstream: Any
) -> None:
    """They are not counted: clients that measure their line (gRPC) ping with every frame of data."""
    tls_upstream.answer("/", b"{}")
    grown, flood = [], PingFrame(0, opaque_data=b"12345678").serialize() * 4000
    for engine in (strict, boundless):
        before = psutil.Process(engine.pid).memory_info().rss
        with speaking(tools, engine, tls_upstream) as client:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sock.settimeout(5.0)
            sent = 0
            with contextlib.suppress(TimeoutError):
                for _ in range(160):
                    client.sock.sendall(flood)
                    sent += len(flood)
            with tools.Client(engine, f"localhost:{tls_upstream.port}", tls=True) as other:
                other.get("/")
                assert other.response()[0] == 200
            grown.append((sent, psutil.Process(engine.pid).memory_info().rss - before))
    (sent, more), (all_sent, all_more) = grown
    assert sent < all_sent
    assert more < 8 * 2**20 < all_more
