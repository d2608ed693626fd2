"""Where our own code fails, nothing passes, and the run is void."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine


@pytest.mark.parametrize(
    ("told", "reached"),
    [({"raise_in": "start"}, 0), ({"before": ["raise"]}, 0), ({"raise_in": "head"}, 1)],
    ids=["start", "before", "head"],
)
def test_a_fault_that_raises_refuses_the_exchange(
    tools: Any, engine: Engine, upstream: Any, told: dict[str, Any], reached: int
) -> None:
    upstream.answer("/", b"secret-answer")
    handle = engine.open_session(tools.fresh("failing"), tools.acting(**told), 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        status, headers, body = client.response()
        assert status == 502
        assert json.loads(body)["error"]["type"] == "faultwire_internal"
        assert headers["connection"] == "close"
        assert client.rest() == b""
    assert len(upstream.asked) == reached
    summary = engine.close_session(handle.name)
    assert len(summary.voids) == 1
    assert "proves nothing" in summary.voids[0]
    exchange = tools.recorded(engine, handle.name)
    assert exchange.ending == "refused"
    assert "faultwire failed" in (exchange.error or "")
    assert exchange.delivered is not None
    assert b"secret-answer" not in exchange.delivered.body
    # The log says where, and quotes nothing.
    log = (engine.control.parent / "engine.log").read_text()
    assert "engine_test_faults.py" in log
    assert "told to" not in log


def test_a_fault_that_raises_in_a_stream_ends_it(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        tools.sse_head() + tools.chunk(b"data: 1\n\n") + b"0\r\n\r\n"
    )
    handle = engine.open_session(tools.fresh("failing"), tools.acting(raise_in="feed"), 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        client.until(b"\r\n\r\n")
        assert client.rest() == b""
    assert len(engine.close_session(handle.name).voids) == 1


def test_other_sessions_are_not_void(tools: Any, engine: Engine, upstream: Any) -> None:
    """The control: the same engine, another session, everything passes and nothing is void."""
    upstream.answer("/", b"fine")
    failing = engine.open_session(tools.fresh("failing"), tools.acting(raise_in="start"), 1)
    calm = engine.open_session(tools.fresh("calm"), tools.CALM, 1)
    target = f"127.0.0.1:{upstream.port}"
    with tools.Client(engine, target, session=failing) as client:
        client.post("/", b"{}")
        assert client.response()[0] == 502
    with tools.Client(engine, target, session=calm) as client:
        client.post("/", b"{}")
        assert client.response()[::2] == (200, b"fine")
    assert engine.close_session(calm.name).voids == ()
    assert engine.close_session(failing.name).voids != ()
