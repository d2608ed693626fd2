"""Servers that stop in the middle, and a process that runs out of file descriptors."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine

LIMIT_S = 0.6


@pytest.fixture
def impatient(settings: Any) -> Any:
    limited = settings.model_copy(update={"first_byte_s": LIMIT_S, "idle_body_s": LIMIT_S})
    with Engine.start(limited) as engine:
        yield engine


def test_a_server_that_never_answers_is_given_up(tools: Any, impatient: Engine, upstream: Any) -> None:
    over = threading.Event()
    upstream.handlers["/"] = lambda asked, connection: over.wait(tools.TIMEOUT_S)
    handle = impatient.open_session("never", tools.CALM, 1)
    began = time.monotonic()
    with tools.Client(impatient, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        status, _, body = client.response()
    over.set()
    assert (status, tools.error_of(body)["type"]) == (504, "faultwire_timeout")
    assert time.monotonic() - began < LIMIT_S + 10
    summary = impatient.close_session("never")
    assert summary.voids == ()
    assert tools.recorded(impatient, "never").ending == "upstream_aborted"


def test_a_stream_that_falls_silent_is_cut_and_one_that_goes_on_is_not(
    tools: Any, impatient: Engine, upstream: Any
) -> None:
    over = threading.Event()

    def silent(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head() + tools.chunk(b"data: 1\n\n"))
        over.wait(tools.TIMEOUT_S)

    def slow(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head())
        for _ in range(6):
            over.wait(LIMIT_S / 3)
            connection.sendall(tools.chunk(b": alive\n\n"))
        connection.sendall(b"0\r\n\r\n")

    upstream.handlers.update({"/silent": silent, "/slow": slow})
    handle = impatient.open_session("streams", tools.CALM, 1)
    with tools.Client(impatient, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/slow", b"{}")
        status, _, body = client.response()
        assert (status, body) == (200, b": alive\n\n" * 6)
        client.post("/silent", b"{}")
        with pytest.raises(EOFError):
            client.response()
    over.set()
    assert impatient.close_session("streams").voids == ()
