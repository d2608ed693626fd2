"""Clients that ask the proxy itself for `http` URLs, on the native path and on mitmproxy's own."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest
from tests.e2e.engine.test_native import ACTS, ANSWERS, CHUNKS, SSE, answer, exchange, paths

from faultwire.mitm.engine.client import Engine

__all__ = ["paths"]


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_to_a_plain_url_is_the_same_on_both_paths(
    tools: Any, paths: dict[str, Engine], upstream: Any, kind: str
) -> None:
    upstream.handlers["/"] = ANSWERS[kind]
    before, found = paths["native"].stats()["native_plain"], {}
    for path, engine in paths.items():
        upstream.asked.clear()
        found[path] = exchange(tools, engine, upstream, ACTS["waits"], "acts", plain=True)
    assert found["native"] == found["mitmproxy"]
    assert found["native"]["asked"], "it reached the server"
    assert paths["native"].stats()["native_plain"] == before + 1
    assert paths["mitmproxy"].stats()["native_plain"] == 0


@pytest.mark.parametrize("acts_", [name for name in ACTS if name not in ("calm", "waits")])
def test_every_action_on_a_plain_url_is_the_same_on_both_paths(
    tools: Any, paths: dict[str, Engine], upstream: Any, acts_: str
) -> None:
    upstream.handlers["/"] = answer(SSE + b"".join(CHUNKS) + b"0\r\n\r\n")
    found = {}
    for path, engine in paths.items():
        upstream.asked.clear()
        found[path] = exchange(tools, engine, upstream, ACTS[acts_], "event_acts", plain=True)
    assert found["native"] == found["mitmproxy"]


def test_a_client_of_the_proxy_may_ask_one_host_after_the_other_and_then_for_a_tunnel(
    tools: Any, paths: dict[str, Engine], upstream: Any, tls_upstream: Any, test_ca: Any
) -> None:
    upstream.answer("/", b"plain")
    tls_upstream.answer("/", b"secret")
    for engine in paths.values():
        handle = engine.open_session(tools.fresh("turns"), tools.CALM, 1)
        auth = tools.basic(handle)
        with tools.Client(engine, "localhost", connect=False) as client:
            for host in ("localhost", "127.0.0.1", "localhost"):
                client.get(f"http://{host}:{upstream.port}/", extra=auth)
                assert client.response()[2] == b"plain"
            place = f"localhost:{tls_upstream.port}".encode()
            client.send(b"CONNECT %s HTTP/1.1\r\nhost: %s\r\n%s\r\n" % (place, place, auth))
            assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200")
            context = ssl.create_default_context(cafile=str(engine.ca_pem))
            client.sock = context.wrap_socket(client.raw, server_hostname="localhost")
            client.get("/")
            assert client.response()[2] == b"secret"
        summary = engine.close_session(handle.name)
        assert (summary.exchanges, summary.voids) == (4, ())


@pytest.mark.parametrize("pieces", [1, 3, 8, 400])
def test_a_plain_request_may_come_in_any_pieces(
    tools: Any, paths: dict[str, Engine], upstream: Any, pieces: int
) -> None:
    upstream.answer("/", b"plain")
    engine = paths["native"]
    before = engine.stats()["native_plain"]
    handle = engine.open_session(tools.fresh("pieces"), tools.CALM, 1)
    asked = b"GET http://localhost:%d/ HTTP/1.1\r\nhost: localhost\r\n%s\r\n" % (
        upstream.port,
        tools.basic(handle),
    )
    with tools.Client(engine, "localhost", connect=False) as client:
        client.raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(asked), pieces):
            client.send(asked[at : at + pieces])
        assert client.response()[2] == b"plain"
    assert engine.stats()["native_plain"] == before + 1


def test_a_client_of_the_proxy_without_a_user_is_refused_alike(
    tools: Any, paths: dict[str, Engine], upstream: Any
) -> None:
    found = {}
    for path, engine in paths.items():
        with tools.Client(engine, "localhost", connect=False) as client:
            client.get(f"http://localhost:{upstream.port}/")
            status, headers, body = client.response()
            found[path] = (status, headers, body)
    assert found["native"] == found["mitmproxy"]
    assert found["native"][0] == 407
    assert not upstream.asked
