"""What is not let through, and what the agent is told then."""

from __future__ import annotations

import base64
import contextlib
import socket
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine

TIMEOUT_S = 20


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def ask(
    tools: Any, engine: Engine, target: str, *, tls: bool = False, path: str = "/"
) -> tuple[int, Any, Any]:
    """Send one request in a session of its own: status, our error, and the exchange on the tape."""
    handle = engine.open_session(tools.fresh("asking"), tools.CALM, 1)
    with tools.Client(engine, target, tls=tls, session=handle) as client:
        client.post(path, b"{}")
        status, _, body = client.response()
    summary = engine.close_session(handle.name)
    assert summary.exchanges == 1
    assert summary.voids == ()
    return status, tools.error_of(body), tools.recorded(engine, handle.name)


# ---------------------------------------------------------------- upstream


def test_an_upstream_that_is_not_there(tools: Any, engine: Engine) -> None:
    status, error, exchange = ask(tools, engine, f"127.0.0.1:{closed_port()}")
    assert (status, error["type"]) == (502, "faultwire_upstream")
    assert "127.0.0.1" in error["message"]
    assert exchange.ending == "upstream_aborted"
    assert exchange.error == error["message"]
    assert exchange.upstream is None
    assert exchange.delivered.status == 502


@pytest.mark.parametrize("flaw", ["expired", "wrong host", "unknown CA"])
def test_an_upstream_certificate_that_is_not_valid(
    tools: Any, engine: Engine, test_ca: Any, tmp_path_factory: Any, request: Any, flaw: str
) -> None:
    made = test_ca
    if flaw == "unknown CA":
        made = type(test_ca)(
            test_ca.pem,
            tools.ec.generate_private_key(tools.ec.SECP256R1()),
            test_ca.certificate,
            test_ca.folder,
        )
        made.made = 100
    names = ("elsewhere.test",) if flaw == "wrong host" else ("localhost",)
    server = tools.Upstream(made.server_context(*names, expired=flaw == "expired"))
    request.addfinalizer(server.close)
    server.answer("/", b"never")
    status, error, exchange = ask(tools, engine, f"localhost:{server.port}", tls=True)
    assert (status, error["type"]) == (502, "faultwire_upstream")
    assert "ertificate verify failed" in error["message"]
    if flaw == "expired":
        assert "expired" in error["message"]
    assert server.asked == []
    assert exchange.ending == "upstream_aborted"
    assert exchange.error == error["message"]


def test_an_upstream_that_says_nothing_and_leaves(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.shutdown(socket.SHUT_RDWR)
    status, error, exchange = ask(tools, engine, f"127.0.0.1:{upstream.port}")
    assert (status, error["type"]) == (502, "faultwire_upstream")
    assert exchange.ending == "upstream_aborted"


def test_an_upstream_that_leaves_in_the_middle(tools: Any, engine: Engine, upstream: Any) -> None:
    def answer(asked: Any, connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_RDWR)

    upstream.handlers["/"] = answer
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.get("/")
        assert client.rest().endswith(b"\r\n\r\nhalf")
    engine.close_session(handle.name)
    exchange = tools.recorded(engine, handle.name)
    assert exchange.ending == "upstream_aborted"
    assert exchange.upstream.body == b"half"


@pytest.mark.parametrize(
    "reply",
    [
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
    ],
    ids=["garbage", "two lengths", "endless head"],
)
def test_an_upstream_that_does_not_speak_http(
    tools: Any, engine: Engine, upstream: Any, reply: bytes
) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(reply)
    status, error, exchange = ask(tools, engine, f"127.0.0.1:{upstream.port}")
    assert (status, error["type"]) == (502, "faultwire_upstream")
    assert exchange.ending == "upstream_aborted"


# ---------------------------------------------------------------- the guard


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0.0.0.0"])
def test_a_private_target_is_refused_by_what_it_resolves_to(
    tools: Any, settings: Any, upstream: Any, host: str
) -> None:
    """Names are looked up by the engine itself; nothing but the address decides."""
    upstream.answer("/", b"internal")
    with Engine.start(settings.model_copy(update={"allow_hosts": ()})) as engine:
        status, error, exchange = ask(tools, engine, f"{host}:{upstream.port}")
    assert (status, error["type"]) == (403, "faultwire_refused")
    assert f"--allow-host {host}" in error["message"]
    assert upstream.asked == []
    assert exchange.ending == "refused"
    assert exchange.error == error["message"]


def test_an_allowed_host_passes(tools: Any, settings: Any, upstream: Any) -> None:
    """The control: the same target, allowed with its port only."""
    upstream.answer("/", b"{}")
    rules = (f"127.0.0.1:{upstream.port}",)
    with Engine.start(settings.model_copy(update={"allow_hosts": rules})) as engine:
        with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
            client.get("/")
            assert client.response()[0] == 200
        with tools.Client(engine, f"127.0.0.1:{closed_port()}") as client:
            client.get("/")
            assert client.response()[0] == 403


def test_the_proxy_refuses_itself_even_where_its_address_is_allowed(tools: Any, engine: Engine) -> None:
    other = engine.open_session(tools.fresh(), tools.CALM, 1)
    for port in (engine.port, other.port):
        for host in ("127.0.0.1", "localhost"):
            status, error, _ = ask(tools, engine, f"{host}:{port}")
            assert (status, error["type"]) == (403, "faultwire_refused")
            assert "this proxy itself" in error["message"]
    engine.close_session(other.name)


# ---------------------------------------------------------------- whose traffic


def test_a_stranger_is_refused(tools: Any, settings: Any, upstream: Any) -> None:
    with Engine.start(settings.model_copy(update={"implicit": None})) as engine:
        mine = engine.open_session("mine", tools.CALM, 1)
        wrong = base64.b64encode(f"{mine.user}:wrong".encode())
        for header in (b"", b"proxy-authorization: Basic " + wrong + b"\r\n"):
            with socket.create_connection(("127.0.0.1", engine.port), TIMEOUT_S) as raw:
                raw.sendall(b"CONNECT x.test:443 HTTP/1.1\r\nhost: x.test:443\r\n" + header + b"\r\n")
                reply = raw.recv(65536)
            assert reply.startswith(b"HTTP/1.1 407")
            assert b"faultwire_session" in reply
        assert engine.stats()["refused"] == 2
        other = engine.open_session("other", tools.CALM, 1)
        (note,) = engine.notes()
        for session in (mine, other):
            summary = engine.close_session(session.name)
            assert (summary.exchanges, summary.voids, summary.notes) == (0, (), ())
        assert "2 calls to `x.test`" in note
        assert "407" in note


def test_a_session_is_known_by_its_port(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", port=handle.port) as client:
        client.get("/")
        assert client.response()[0] == 200
    assert engine.close_session(handle.name).exchanges == 1
    with pytest.raises(ConnectionRefusedError):  # its listener is gone with it
        tools.Client(engine, f"127.0.0.1:{upstream.port}", port=handle.port)


# ---------------------------------------------------------------- limits


def test_an_endless_head_is_refused(tools: Any, engine: Engine) -> None:
    with tools.Client(engine, "x.test:80") as client:
        client.send(b"GET / HTTP/1.1\r\nx: " + b"y" * 70_000)
        status, _, body = client.response()
        assert status == 431
        assert tools.error_of(body)["type"] == "faultwire_refused"
        assert client.rest() == b""


def test_a_slow_head_is_dropped_and_a_silent_connection_is_not(
    tools: Any, settings: Any, upstream: Any
) -> None:
    upstream.answer("/", b"{}")
    strict = settings.model_copy(update={"head_timeout_s": 0.3})
    target = f"127.0.0.1:{upstream.port}"
    with Engine.start(strict) as engine, tools.Client(engine, target) as silent:
        with tools.Client(engine, target) as slow:
            slow.send(b"GET / HTTP/1.1\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert slow.rest() == b""
        assert engine.stats()["slow_heads"] == 1
        silent.get("/")
        assert silent.response()[0] == 200


def test_too_many_at_once_are_asked_to_come_back(tools: Any, settings: Any, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    with Engine.start(settings.model_copy(update={"max_exchanges": 1})) as engine:
        handle = engine.open_session("full", tools.acting(before=["wait"]), 1)
        with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as first:
            first.post("/", b"{}")
            while engine.stats()["live"] == 0:
                pass
            with tools.Client(engine, f"127.0.0.1:{upstream.port}") as second:
                second.get("/")
                status, headers, body = second.response()
        assert (status, headers["retry-after"]) == (503, "1")
        assert tools.error_of(body)["type"] == "faultwire_busy"


def test_what_is_not_http_is_refused(tools: Any, engine: Engine) -> None:
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, "x.test:22", session=handle) as client:
        client.send(b"SSH-2.0-agent\r\n\r\n")
        status, headers, body = client.response()
        assert (status, headers["content-type"]) == (400, "application/json")
        assert tools.error_of(body)["type"] == "faultwire_malformed"
        assert client.rest() == b""
    summary = engine.close_session(handle.name)
    assert (summary.exchanges, summary.voids) == (0, ())
    assert summary.notes == ("1 call had a malformed or oversized head and went nowhere",)


def test_a_held_up_upgrade_to_h2c_stays_http1(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    with tools.Client(engine, f"127.0.0.1:{upstream.port}") as client:
        client.get(
            "/", b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"
        )
        assert client.response()[0] == 200
    assert upstream.asked[0].header("upgrade") is None
    assert upstream.asked[0].header("http2-settings") is None


@pytest.mark.parametrize(
    ("request_bytes", "reason"),
    [
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", "has no colon"),
        (b"GET / HTTP/9\r\nhost: x.test\r\n\r\n", "neither HTTP/1.1 nor"),
        (
            b"POST / HTTP/1.1\r\nhost: x.test\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
            "both `transfer-encoding` and",
        ),
        (b"GET / HTTP/1.1\r\nx: y\r\n\r\n", "no `host` field"),
    ],
)
def test_a_malformed_request_is_refused_with_the_reason(
    tools: Any, engine: Engine, request_bytes: bytes, reason: str
) -> None:
    handle = engine.open_session(tools.fresh(), tools.CALM, 1)
    with tools.Client(engine, "x.test:80", port=handle.port, connect=False) as client:
        client.send(request_bytes)
        status, _, body = client.response()
    error = tools.error_of(body)
    assert (status, error["type"]) == (400, "faultwire_malformed")
    assert reason.lower() in error["message"].lower()
    assert engine.close_session(handle.name).notes == (
        "1 call had a malformed or oversized head and went nowhere",
    )
