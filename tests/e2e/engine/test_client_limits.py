"""Clients that keep what they were given and say nothing: bodies at a drip, silent tunnels, crowds.

Each attack is made twice: on an engine whose limit is out of reach, where it works, and on one that has it.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hyperframe.frame import DataFrame, SettingsFrame
from tests.attacks import raw_h2

from faultwire.mitm.engine.client import Engine

LIMIT_S = 0.6
NEVER_S = 1000.0


TIMES = ("idle_request_s", "handshake_s", "head_timeout_s")
CROWD = 8


@pytest.fixture
def strict(settings: Any) -> Iterator[Engine]:
    with Engine.start(settings.model_copy(update=dict.fromkeys(TIMES, LIMIT_S))) as engine:
        yield engine


@pytest.fixture
def patient(tools: Any, tmp_path: Path, test_ca: Any) -> Iterator[Engine]:
    (tmp_path / "patient").mkdir()
    settings = tools.settings_in(tmp_path / "patient", test_ca)
    with Engine.start(settings.model_copy(update=dict.fromkeys(TIMES, NEVER_S))) as engine:
        yield engine


# ---------------------------------------------------------------- request bodies

DECLARED = b"content-length: 100000\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"


def begin(tools: Any, client: Any, framing: bytes, body: bytes = b"") -> None:
    client.send(b"POST /v1 HTTP/1.1\r\nhost: %s\r\n%s\r\n%s" % (client.target.encode(), framing, body))


@contextlib.contextmanager
def dripping(client: Any, piece: bytes) -> Iterator[threading.Event]:
    """Send a piece ten times within each limit, until the connection or the block ends."""
    over = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            while not over.wait(LIMIT_S / 10):
                client.sock.sendall(piece)

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield over
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("held", [False, True], ids=["streamed", "held"])
@pytest.mark.parametrize(
    ("tls", "piece"),
    [
        pytest.param(False, b"x", id="drip"),
        pytest.param(True, b"", id="silence in TLS", marks=pytest.mark.nightly),
    ],
)
def test_a_declared_body_that_comes_at_a_drip_is_given_up(
    tools: Any, strict: Engine, upstream: Any, tls_upstream: Any, tls: bool, held: bool, piece: bytes
) -> None:
    server = tls_upstream if tls else upstream
    server.answer("/v1", b"{}")  # to what of the body came, when the connection ends: nobody hears it
    profile = tools.acting("acts", say="no") if held else tools.CALM
    handle = strict.open_session("drip", profile, 1)
    with tools.Client(strict, f"localhost:{server.port}", session=handle, tls=tls) as client:
        begin(tools, client, DECLARED, b"x")
        with dripping(client, piece) if piece else contextlib.nullcontext():
            status, _, body = client.response()
            assert (status, tools.error_of(body)["type"]) == (408, "faultwire_timeout")
            with contextlib.suppress(ConnectionResetError, ssl.SSLEOFError):
                assert client.rest() == b"", "nothing can follow in this connection"
    stats = strict.stats()
    assert (stats["slow_bodies"], stats["live"]) == (1, 0)
    assert strict.close_session("drip").voids == ()
    recorded = tools.recorded(strict, "drip")
    assert (recorded.ending, recorded.delivered.status) == ("client_aborted", 408)


def test_without_the_limit_a_drip_keeps_its_place(tools: Any, patient: Engine, upstream: Any) -> None:
    with tools.Client(patient, f"localhost:{upstream.port}") as client:
        begin(tools, client, DECLARED)
        with dripping(client, b"x") as over:
            over.wait(4 * LIMIT_S)
            assert patient.stats()["live"] == 1
        client.raw.settimeout(LIMIT_S)
        with pytest.raises(TimeoutError):
            client.raw.recv(1)


@pytest.mark.nightly
def test_a_body_in_chunks_may_be_made_while_it_is_sent_and_must_not_stop(
    tools: Any, strict: Engine, upstream: Any
) -> None:
    upstream.answer("/v1", b"{}")
    with tools.Client(strict, f"localhost:{upstream.port}") as client:
        begin(tools, client, CHUNKED)
        with dripping(client, b"1\r\nx\r\n") as over:
            over.wait(4 * LIMIT_S)
        client.send(b"0\r\n\r\n")
        assert client.response()[0] == 200
    upstream._serve = lambda connection: connection.recv(65536) and connection.recv(65536)
    with tools.Client(strict, f"localhost:{upstream.port}") as client:
        begin(tools, client, CHUNKED, b"1\r\nx\r\n")
        assert client.response()[0] == 408


@pytest.mark.nightly
def test_a_client_that_a_server_keeps_waiting_is_not_given_up(
    tools: Any, strict: Engine, upstream: Any
) -> None:
    """The server reads nothing for a while: what the client sent fills our buffers, and we read no more."""
    go_on = threading.Event()
    serve, size = upstream._serve, 32 * 1024 * 1024

    def late(connection: socket.socket) -> None:
        assert go_on.wait(tools.TIMEOUT_S)
        serve(connection)

    upstream._serve = late
    upstream.answer("/v1", b"{}")
    with tools.Client(strict, f"localhost:{upstream.port}") as client:
        sender = threading.Thread(
            target=begin, args=(tools, client, b"content-length: %d\r\n" % size, bytes(size))
        )
        sender.start()
        assert not go_on.wait(4 * LIMIT_S)
        go_on.set()
        sender.join()
        assert client.response()[0] == 200
    assert strict.stats()["slow_bodies"] == 0


def test_streams_that_are_alive_have_no_limit(tools: Any, strict: Engine, upstream: Any) -> None:
    """A long poll, and a response that streams while its request is still open."""
    done = threading.Event()

    def poll(asked: Any, connection: socket.socket) -> None:
        done.wait(4 * LIMIT_S)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    def both(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(tools.sse_head() + tools.chunk(b"data: 1\n\n"))
        done.wait(4 * LIMIT_S)
        connection.sendall(tools.chunk(b"data: 2\n\n") + b"0\r\n\r\n")

    upstream.handlers["/"] = poll
    with tools.Client(strict, f"localhost:{upstream.port}") as client:
        client.post("/", b"{}")
        assert client.response()[0] == 200
    upstream._serve = both
    with tools.Client(strict, f"localhost:{upstream.port}") as client:
        begin(tools, client, DECLARED, b"x")
        assert client.response()[2] == b"data: 1\n\ndata: 2\n\n"


@pytest.mark.nightly
def test_in_http2_a_declared_body_has_the_limit_and_a_call_of_grpc_has_none(
    tools: Any, strict: Engine, tls_upstream: Any
) -> None:
    authority = f"localhost:{tls_upstream.port}"
    tls_upstream.answer("/v1", b"{}")

    def call(field: tuple[bytes, bytes]) -> Any:
        head = [(b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/v1")]
        fields = [*head, (b":authority", authority.encode()), field]
        client = tools.Client(strict, authority, tls=True, alpn=["h2"])
        client.send(raw_h2.PREFACE + SettingsFrame(0).serialize())
        client.send(raw_h2.head_frame(1, fields, end=False) + DataFrame(1, data=b"x").serialize())
        return client

    with call((b"content-type", b"application/grpc")) as alive:
        with call((b"content-length", b"1000")) as slow:
            status, body, _ = raw_h2.answer(slow.sock)
            assert (status, tools.error_of(body)["type"]) == (408, "faultwire_timeout")
        assert not threading.Event().wait(2 * LIMIT_S)
        stats = strict.stats()
        assert (stats["slow_bodies"], stats["live"]) == (1, 1)
        alive.sock.settimeout(LIMIT_S)
        assert raw_h2.answer(alive.sock)[0] is None


# ---------------------------------------------------------------- silent connections


def part_of_a_hello() -> bytes:
    """The first half of a real ClientHello."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="x.test")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()[:100]


@pytest.mark.by_day("tunnel", "hello")
@pytest.mark.parametrize(
    ("connect", "said", "counter"),
    [(False, b"", "half_open"), (True, b"", "half_open"), (True, part_of_a_hello(), "slow_heads")],
    ids=["connection", "tunnel", "hello"],
)
def test_a_connection_in_which_nothing_happens_is_closed(
    tools: Any, strict: Engine, patient: Engine, connect: bool, said: bytes, counter: str
) -> None:
    with tools.Client(strict, "x.test:443", connect=connect) as client:
        client.send(said)
        with contextlib.suppress(ConnectionResetError):
            assert client.rest() == b""
    assert strict.stats()[counter] == 1
    with tools.Client(patient, "x.test:443", connect=connect) as client:
        client.send(said)
        client.raw.settimeout(4 * LIMIT_S)
        with pytest.raises(TimeoutError):
            client.raw.recv(1)
    assert patient.stats()[counter] == 0


@pytest.mark.nightly
def test_a_connection_that_was_used_may_be_silent(tools: Any, strict: Engine, tls_upstream: Any) -> None:
    tls_upstream.answer("/", b"{}")
    with tools.Client(strict, f"localhost:{tls_upstream.port}", tls=True) as client:
        for _ in range(2):
            client.get("/")
            assert client.response()[0] == 200
            assert not threading.Event().wait(2 * LIMIT_S)
    assert strict.stats()["half_open"] == 0


# ---------------------------------------------------------------- crowds


def test_one_source_takes_no_more_connections_than_it_may(
    tools: Any, settings: Any, patient: Engine, upstream: Any
) -> None:
    upstream.answer("/", b"{}")
    target = f"localhost:{upstream.port}"

    def one_more(engine: Engine, stack: contextlib.ExitStack) -> Any:
        return stack.enter_context(tools.Client(engine, target, connect=False))

    with Engine.start(settings.model_copy(update={"per_source": CROWD})) as engine:
        with contextlib.ExitStack() as stack:
            crowd = [one_more(engine, stack) for _ in range(CROWD)]
            for _ in range(3):
                status, headers, body = one_more(engine, stack).response()
                assert (status, headers["retry-after"]) == (503, "1")
                assert tools.error_of(body)["type"] == "faultwire_busy"
            crowd[0].get(f"http://{target}/")
            assert crowd[0].response()[0] == 200, "those that are there go on"
        stats = engine.stats()
        assert stats["crowded_out"] == 3
        (note,) = engine.notes()
        assert "3 connections of user" in note
        with tools.Client(engine, target) as later:
            later.get("/")
            assert later.response()[0] == 200, "a place that was left is free"
        (void,) = stats["voids"]["implicit"]
        assert "may have no more" in void, "the agent got an error that no fault made"
    assert (settings.run_dir / "engine.log").read_text().count("may have no more") == 1
    with contextlib.ExitStack() as stack:
        for _ in range(CROWD + 3):
            one_more(patient, stack)
        last = one_more(patient, stack)
        last.get(f"http://{target}/")
        assert last.response()[0] == 200
    assert patient.stats()["crowded_out"] == 0
