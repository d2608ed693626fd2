"""Base-URL mode: an agent without a proxy, on raw sockets; on either path."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine, SessionHandle

TIMEOUT_S = 20


class Caller:
    """A connection to our listener, without any proxy."""

    def __init__(self, tools: Any, engine: Engine, session: SessionHandle) -> None:
        self._client = tools.Client(engine, f"127.0.0.1:{engine.port}", connect=False)
        self.base = f"/{session.token}"

    def get(self, path: str, extra: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        self._client.get(self.base + path, extra)
        found: tuple[int, dict[str, str], bytes] = self._client.response()
        return found

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


@pytest.fixture(params=["mitmproxy", "native"])
def path(request: pytest.FixtureRequest) -> str:
    """Which path such connections take."""
    return str(request.param)


@pytest.fixture
def routed(settings: Any, upstream: Any, tls_upstream: Any, path: str) -> Iterator[Engine]:
    """An engine with routes to both upstreams, which nothing else may reach."""
    routes = {
        "plain": f"http://127.0.0.1:{upstream.port}/base",
        "secure": f"https://localhost:{tls_upstream.port}",
    }
    update = {"reverse": routes, "allow_hosts": (), "native": path == "native"}
    with Engine.start(settings.model_copy(update=update)) as engine:
        yield engine
        stats = engine.stats()
        assert (stats["native_base_url"] > 0) is (path == "native"), "no test passes by falling back"
        assert stats["native_declined"] == {}


def test_what_is_asked_is_the_upstream_request(
    tools: Any, routed: Engine, upstream: Any, tls_upstream: Any
) -> None:
    upstream.answer("/base/v1/x", b"plain")
    tls_upstream.answer("/v1/x", b"secure")
    session = routed.open_session("s", tools.CALM, 1)
    with Caller(tools, routed, session) as caller:
        assert caller.get("/plain/v1/x?q=1")[::2] == (200, b"plain")
        assert caller.get("/secure/v1/x", b"authorization: Bearer k\r\n")[::2] == (200, b"secure")
    assert routed.close_session("s").exchanges == 2
    assert upstream.asked[0].path == "/base/v1/x?q=1"
    assert upstream.asked[0].header("host") == f"127.0.0.1:{upstream.port}"
    assert tls_upstream.asked[0].header("host") == f"localhost:{tls_upstream.port}"
    assert tls_upstream.asked[0].header("authorization") == "Bearer k"
    with tools.TapeReader.open(routed.control.parent / "run.tape") as tape:
        plain, secure = tape.history("s").exchanges
    assert plain.request.url == f"http://127.0.0.1:{upstream.port}/base/v1/x?q=1"
    assert secure.request.url == f"https://localhost:{tls_upstream.port}/v1/x"
    stored = (routed.control.parent / "run.tape").read_bytes()
    assert session.token.encode() not in stored


@pytest.mark.parametrize("asked", ["/nowhere/v1/x", "/nowhere", "//evil.test/x", "/plain.evil/x"])
def test_only_declared_routes_lead_anywhere(tools: Any, routed: Engine, upstream: Any, asked: str) -> None:
    session = routed.open_session("s", tools.CALM, 1)
    with Caller(tools, routed, session) as caller:
        status, _, body = caller.get(asked)
    assert (status, tools.error_of(body)["type"]) == (404, "faultwire_route")
    summary = routed.close_session("s")
    assert (summary.exchanges, summary.voids) == (0, ())
    assert "which is not declared (404)" in summary.notes[0]
    assert upstream.asked == []


@pytest.mark.parametrize("token", ["", "0" * 32, "..", "%2e%2e"])
def test_without_the_token_nobody_gets_in(tools: Any, routed: Engine, upstream: Any, token: str) -> None:
    upstream.answer("/base/x", b"never")
    routed.open_session("s", tools.CALM, 1)
    with tools.Client(routed, f"127.0.0.1:{routed.port}", connect=False) as client:
        client.get(f"/{token}/plain/x")
        status, _, body = client.response()
    assert status == 403
    assert "this proxy itself" in tools.error_of(body)["message"]
    assert upstream.asked == []


def test_a_declared_target_is_the_only_private_one(tools: Any, routed: Engine, upstream: Any) -> None:
    upstream.answer("/base/x", b"{}")
    session = routed.open_session("s", tools.CALM, 1)
    with tools.Client(routed, "127.0.0.1:9", session=session) as client:
        client.get("/x")
        assert client.response()[0] == 403
    with Caller(tools, routed, session) as caller:
        assert caller.get("/plain/x")[0] == 200


def test_faults_act_as_on_proxied_traffic(tools: Any, routed: Engine, upstream: Any) -> None:
    upstream.answer("/base/v1/chat/completions", b'{"id": "x"}')
    fault = {"fault": {"name": "status", "settings": {"code": 503}}, "on": {"kind": "llm"}}
    session = routed.open_session("s", tools.profile(fault), 1)
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    with tools.Client(routed, f"127.0.0.1:{routed.port}", connect=False) as client:
        client.post(f"/{session.token}/plain/v1/chat/completions", body)
        assert client.response()[0] == 503
    assert dict(routed.close_session("s").fired) == {"status#0": 1}


@pytest.mark.parametrize("name", ["refuse", "dns_failure"])
def test_connection_faults_act_on_the_call(tools: Any, routed: Engine, tls_upstream: Any, name: str) -> None:
    fault = {"fault": {"name": name, "settings": {}}, "on": {"host": "localhost"}}
    session = routed.open_session("s", tools.profile(fault), 1)
    with Caller(tools, routed, session) as caller:
        if name == "refuse":
            with pytest.raises(ConnectionResetError):
                caller.get("/secure/x")
        else:
            assert caller.get("/secure/x")[0] == 502
    assert sum(routed.close_session("s").fired.values()) == 1
    assert tls_upstream.asked == []


def test_sessions_share_a_connection_without_mixing(tools: Any, routed: Engine, upstream: Any) -> None:
    upstream.answer("/base/x", b"{}")
    one, two = (routed.open_session(name, tools.CALM, 1) for name in ("one", "two"))
    with tools.Client(routed, f"127.0.0.1:{routed.port}", connect=False) as client:
        for token in (one.token, two.token, one.token):
            client.get(f"/{token}/plain/x")
            assert client.response()[0] == 200
    assert routed.close_session("two").exchanges == 1
    assert routed.close_session("one").exchanges == 2


# ---------------------------------------------------------------- links that lead past us


def test_a_card_leads_back_to_us_and_the_tape_has_upstreams_own(
    tools: Any, routed: Engine, upstream: Any
) -> None:
    theirs = f"http://127.0.0.1:{upstream.port}/base/a2a"
    card = json.dumps({"name": "a", "url": theirs, "skills": []}).encode()
    upstream.answer("/base/.well-known/agent-card.json", card)
    upstream.answer("/base/a2a", b"{}")
    session = routed.open_session("s", tools.CALM, 1)
    ours = f"http://127.0.0.1:{routed.port}/{session.token}/plain/a2a"
    with Caller(tools, routed, session) as caller:
        _, headers, body = caller.get("/plain/.well-known/agent-card.json")
        assert json.loads(body)["url"] == ours
        assert int(headers["content-length"]) == len(body)
        assert caller.get(ours.partition(session.token)[2])[0] == 200
    routed.close_session("s")
    assert [asked.path for asked in upstream.asked] == ["/base/.well-known/agent-card.json", "/base/a2a"]
    with tools.TapeReader.open(routed.control.parent / "run.tape") as tape:
        first = tape.history("s").exchanges[0]
    assert first.upstream.body == first.delivered.body == card


def test_a_redirect_within_the_upstream_leads_back_to_us(tools: Any, routed: Engine, upstream: Any) -> None:
    upstream.handlers["/base/old"] = lambda asked, connection: connection.sendall(
        b"HTTP/1.1 308 Moved\r\nlocation: /base/new?x=1\r\ncontent-length: 0\r\n\r\n"
    )
    upstream.handlers["/base/out"] = lambda asked, connection: connection.sendall(
        b"HTTP/1.1 302 Found\r\nlocation: http://elsewhere.test/\r\ncontent-length: 0\r\n\r\n"
    )
    session = routed.open_session("s", tools.CALM, 1)
    with Caller(tools, routed, session) as caller:
        ours = f"http://127.0.0.1:{routed.port}/{session.token}/plain/new?x=1"
        assert caller.get("/plain/old")[1]["location"] == ours
        assert caller.get("/plain/out")[1]["location"] == "http://elsewhere.test/"


def test_a_stream_passes_as_it_comes(tools: Any, routed: Engine, upstream: Any) -> None:
    def stream(asked: Any, connection: socket.socket) -> None:
        connection.sendall(tools.sse_head() + tools.chunk(b"data: 1\n\n"))
        connection.recv(1)  # the rest comes only once the client has seen the first event

    upstream.handlers["/base/s"] = stream
    session = routed.open_session("s", tools.CALM, 1)
    with tools.Client(routed, f"127.0.0.1:{routed.port}", connect=False) as client:
        client.get(f"/{session.token}/plain/s")
        client.until(b"\r\n\r\n")
        assert client.exactly(14) == b"9\r\ndata: 1\n\n\r\n"


def test_the_implicit_session_has_a_token_too(tools: Any, routed: Engine, upstream: Any) -> None:
    upstream.answer("/base/x", b"{}")
    with tools.Client(routed, f"127.0.0.1:{routed.port}", connect=False) as client:
        client.get(f"/{routed.token}/plain/x")
        assert client.response()[0] == 200
    assert routed.close_session("implicit").exchanges == 1


# ---------------------------------------------------------------- the same bytes on both paths


def exchanged(tools: Any, engine: Engine, asked: bytes) -> tuple[bytes, tuple[Any, ...]]:
    """All that a client gets for these bytes, its token and our port taken out, and what the session says."""
    name = tools.fresh("bytes")
    session = engine.open_session(name, tools.CALM, 1)
    port, token = str(engine.port).encode(), session.token.encode()
    with tools.Client(engine, f"127.0.0.1:{engine.port}", connect=False) as client:
        client.send(asked.replace(b"TOKEN", token).replace(b"PORT", port))
        got = client.rest()
    summary = engine.close_session(name)
    return got.replace(token, b"TOKEN").replace(port, b"PORT"), (summary.exchanges, summary.voids)


ENDS = b"host: 127.0.0.1:PORT\r\nconnection: close\r\n\r\n"
CARD = b'{"name": "a", "url": "http://127.0.0.1:%d/base/a2a", "skills": []}'
CARDS = "/base/.well-known/agent-card.json"
ASKED = {
    "plain": b"GET /TOKEN/plain/x HTTP/1.1\r\n" + ENDS,
    "two after each other": b"GET /TOKEN/plain/x HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\n\r\n"
    b"GET /TOKEN/plain/x HTTP/1.1\r\n" + ENDS,
    "no host": b"GET /TOKEN/plain/x HTTP/1.0\r\n\r\n",
    "another host": b"GET /x HTTP/1.1\r\nhost: 127.0.0.1:9\r\nconnection: close\r\n\r\n",
    "a card in chunks": b"GET /TOKEN/plain/.well-known/agent-card.json HTTP/1.1\r\n" + ENDS,
    "the head of a card": b"HEAD /TOKEN/plain/.well-known/agent-card.json HTTP/1.1\r\n" + ENDS,
    "a card that is cut off": b"GET /TOKEN/plain/cut/.well-known/agent-card.json HTTP/1.1\r\n" + ENDS,
    "no method": b"GET  /TOKEN HTTP/1.1\r\n" + ENDS,
}


@pytest.fixture
def both(settings: Any, upstream: Any, tmp_path: Any) -> Iterator[dict[str, Engine]]:
    """An engine on each path, with the same routes."""
    card = CARD % upstream.port
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    upstream.answer("/base/x", b"{}")

    def give(asked: Any, connection: socket.socket) -> None:
        connection.sendall(head)
        if asked.method != "HEAD":
            connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(card), card))

    def cut(asked: Any, connection: socket.socket) -> None:
        connection.sendall(head + b"%x\r\n%s" % (len(card), card[:20]))
        connection.shutdown(socket.SHUT_RDWR)

    upstream.handlers[CARDS] = give
    upstream.handlers["/base/cut/.well-known/agent-card.json"] = cut
    routes = {"plain": f"http://127.0.0.1:{upstream.port}/base"}
    with contextlib.ExitStack() as stack:
        found = {}
        for name in ("mitmproxy", "native"):
            folder = tmp_path / name
            folder.mkdir()
            changed = {"run_dir": folder, "tape": folder / "run.tape", "native": name == "native"}
            settings_ = settings.model_copy(update={"reverse": routes, "allow_hosts": (), **changed})
            found[name] = stack.enter_context(Engine.start(settings_))
        yield found


def test_every_answer_by_base_url_is_the_same_on_both_paths(
    tools: Any, both: dict[str, Engine], upstream: Any
) -> None:
    for asked, data in ASKED.items():
        found = {name: exchanged(tools, engine, data) for name, engine in both.items()}
        assert found["native"] == found["mitmproxy"], asked
        assert found["native"][0].startswith(b"HTTP/1."), asked
    card = exchanged(tools, both["native"], ASKED["a card in chunks"])[0]
    assert b"/TOKEN/plain/a2a" in card, "it was changed"
    declined = both["native"].stats()["native_declined"]
    assert (declined, both["mitmproxy"].stats()["native_base_url"]) == ({}, 0)


def test_a_client_by_base_url_may_ask_for_a_url_and_a_tunnel_next(
    tools: Any, both: dict[str, Engine], upstream: Any
) -> None:
    for engine in both.values():
        session = engine.open_session(tools.fresh("mixed"), tools.CALM, 1)
        auth = tools.basic(session)
        with tools.Client(engine, f"127.0.0.1:{engine.port}", connect=False) as client:
            client.get(f"/{session.token}/plain/x")
            assert client.response()[0] == 200
            client.get(f"http://127.0.0.1:{upstream.port}/base/x", extra=auth)
            assert client.response()[0] == 200
            place = b"127.0.0.1:9"
            client.send(b"CONNECT %s HTTP/1.1\r\nhost: %s\r\n%s\r\n" % (place, place, auth))
            assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
