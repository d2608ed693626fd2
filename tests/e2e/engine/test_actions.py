"""What a fault asks for is done to the agent's connection, on a live stream."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine

TIMEOUT_S = 20
EVENTS = [b'data: {"n": %d}\n\n' % n for n in range(4)]


def streaming(tools: Any, upstream: Any) -> None:
    def stream(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head())
        for event in EVENTS:
            connection.sendall(tools.chunk(event))
        connection.sendall(b"0\r\n\r\n")

    upstream.handlers["/"] = stream


def run(
    tools: Any,
    engine: Engine,
    upstream: Any,
    act: Any,
    *,
    tls: bool = False,
    fault: str = "acts",
    **told: Any,
) -> tuple[Any, Any]:
    """Send one request through a session with that fault; what `act` saw, and the summary."""
    name = tools.fresh("acting")
    handle = engine.open_session(name, tools.acting(fault, **told), 1)
    with tools.Client(engine, f"localhost:{upstream.port}", tls=tls, session=handle) as client:
        client.post("/", b"{}")
        seen = act(client)
    return seen, engine.close_session(name)


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def tls(request: Any) -> bool:
    return bool(request.param)


@pytest.fixture
def server(request: Any, tls: bool, tools: Any) -> Any:
    found = request.getfixturevalue("tls_upstream" if tls else "upstream")
    streaming(tools, found)
    return found


def test_without_a_fault_that_acts_everything_arrives(
    tools: Any, engine: Engine, server: Any, tls: bool
) -> None:
    (status, _, body), summary = run(
        tools, engine, server, lambda c: c.response(), tls=tls, fault="event_acts"
    )
    assert (status, body) == (200, b"".join(EVENTS))
    assert summary.fired == {"event_acts#0": 1}
    assert summary.voids == ()


def test_a_stream_is_cut_between_two_events(tools: Any, engine: Engine, server: Any, tls: bool) -> None:
    def act(client: Any) -> bytes:
        client.until(b"\r\n\r\n")
        with pytest.raises((EOFError, OSError)) as cut:
            client.until(b"0\r\n\r\n")
        return bytes(cut.value.args[0]) if isinstance(cut.value, EOFError) else b""

    got, summary = run(tools, engine, server, act, tls=tls, fault="event_acts", chunks={2: ["cut"]})
    if not tls:  # with TLS a cut without close_notify is an error, which carries no bytes
        assert got == tools.chunk(EVENTS[0]) + tools.chunk(EVENTS[1])
    assert summary.exchanges == 1
    assert server.gone.wait(TIMEOUT_S)
    recorded = tools.recorded(engine, summary.name)
    assert recorded.ending == "cut"
    assert recorded.delivered.body == EVENTS[0] + EVENTS[1]


def test_a_stream_is_ended_early_as_if_it_were_whole(
    tools: Any, engine: Engine, server: Any, tls: bool
) -> None:
    def act(client: Any) -> Any:
        first = client.response()
        client.post("/", b"{}")  # the connection goes on
        return first, client.response()

    (first, second), _ = run(tools, engine, server, act, tls=tls, fault="event_acts", chunks={1: ["end"]})
    assert first[::2] == (200, EVENTS[0])
    assert second[::2] == (200, EVENTS[0])


def test_a_stream_is_reset(tools: Any, engine: Engine, upstream: Any) -> None:
    streaming(tools, upstream)

    def act(client: Any) -> bytes:
        client.until(b"\r\n\r\n")
        got = client.until(tools.chunk(EVENTS[0]))
        with pytest.raises(ConnectionResetError):
            client.rest()
        return bytes(got)

    got, summary = run(tools, engine, upstream, act, fault="event_acts", chunks={1: ["reset"]})
    assert got == tools.chunk(EVENTS[0])
    assert tools.recorded(engine, summary.name).ending == "reset"


@pytest.mark.parametrize("action", ["reset", "cut"])
def test_a_connection_ends_before_upstream_is_asked(
    tools: Any, engine: Engine, upstream: Any, action: str
) -> None:
    streaming(tools, upstream)

    def act(client: Any) -> Any:
        if action == "cut":
            return client.rest()
        with pytest.raises(ConnectionResetError):
            client.rest()
        return b""

    got, summary = run(tools, engine, upstream, act, before=[action])
    assert got == b""
    assert upstream.asked == []
    recorded = tools.recorded(engine, summary.name)
    assert recorded.ending == action
    assert recorded.upstream is None


def test_waiting_takes_its_time_and_the_rest_comes(
    tools: Any, engine: Engine, server: Any, tls: bool
) -> None:
    from faultwire import clock

    def act(client: Any) -> Any:
        began = clock.monotonic()
        response = client.response()
        return clock.monotonic() - began, response

    told = {"before": ["wait:0.1"], "chunks": {1: ["wait:0.1", "pass"]}, "finish": ["wait:0.1"]}
    (took, response), _ = run(tools, engine, server, act, tls=tls, fault="event_acts", **told)
    assert took >= 0.3
    assert response[::2] == (200, b"".join(EVENTS))


def test_one_stream_waits_while_another_goes_on(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"{}")
    waiting = engine.open_session(name := tools.fresh(), tools.acting(before=["wait"]), 1)
    target = f"127.0.0.1:{upstream.port}"
    with tools.Client(engine, target, session=waiting) as slow, tools.Client(engine, target) as quick:
        slow.get("/")
        for _ in range(3):
            quick.get("/")
            assert quick.response()[0] == 200
    assert engine.close_session(name).exchanges == 1


def test_a_wait_for_ever_ends_when_the_client_leaves(tools: Any, engine: Engine, upstream: Any) -> None:
    arrived, left = threading.Event(), threading.Event()

    def stream(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head() + tools.chunk(EVENTS[0]) + tools.chunk(EVENTS[1]))
        arrived.set()
        if connection.recv(1) == b"":
            left.set()

    upstream.handlers["/"] = stream

    def act(client: Any) -> None:
        client.until(tools.chunk(EVENTS[0]))

    _, summary = run(tools, engine, upstream, act, fault="event_acts", chunks={1: ["wait"]})
    assert arrived.is_set()
    assert left.wait(TIMEOUT_S)  # the call upstream was given up
    assert engine.stats()["live"] == 0
    assert summary.voids == ()
    assert tools.recorded(engine, summary.name).ending == "client_aborted"


def test_an_answer_is_given_without_upstream(tools: Any, engine: Engine, server: Any, tls: bool) -> None:
    (status, headers, body), _ = run(tools, engine, server, lambda c: c.response(), tls=tls, say="a teapot")
    assert (status, headers["x-said"], body) == (418, "yes", b"a teapot")
    assert server.asked == []


def test_a_held_body_gets_the_length_that_it_has(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b'{"long": "answer"}')
    told = {"fault": "held_acts", "chunks": {0: ["send:{}"]}}
    (status, headers, body), _ = run(tools, engine, upstream, lambda c: c.response(), **told)
    assert (status, headers["content-length"], body) == (200, "2", b"{}")


def test_a_touched_body_of_known_length_is_framed_anew(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b"12345")
    told = {"chunks": {0: ["pass", "send:678"]}}
    (status, headers, body), _ = run(tools, engine, upstream, lambda c: c.response(), **told)
    assert (status, body) == (200, b"12345678")
    assert "content-length" not in headers


def test_a_slow_fault_does_not_pile_up_what_upstream_sends(tools: Any, engine: Engine, upstream: Any) -> None:
    """Past the limit of the queue, upstream is no longer read: it cannot send all of it."""
    done = threading.Event()
    blocked = threading.Event()
    piece = b"x" * 65536

    def stream(asked: Any, connection: Any) -> None:
        connection.sendall(tools.sse_head())
        connection.settimeout(2)
        try:
            for _ in range(1000):
                connection.sendall(tools.chunk(piece))
        except TimeoutError:
            blocked.set()
        done.set()

    upstream.handlers["/"] = stream

    def act(client: Any) -> None:
        client.until(b"\r\n\r\n")
        assert done.wait(TIMEOUT_S)

    run(tools, engine, upstream, act, chunks={0: ["wait"]})
    assert blocked.is_set()


# ---------------------------------------------------------------- what the ledger and the tape say of it


def both(tools: Any, *faults: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    entries = ({"fault": {"name": name, "settings": told}, "on": {"path": "*"}} for name, told in faults)
    made: dict[str, Any] = tools.profile(*entries)
    return made


def test_a_client_that_leaves_during_a_wait_gets_no_later_fault(
    tools: Any, engine: Engine, upstream: Any
) -> None:
    told = both(tools, ("latency", {"ms": 60_000}), ("status", {"code": 503}))
    handle = engine.open_session(tools.fresh("impatient"), told, 1)
    live = engine.stats()["live"]
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        while engine.stats()["live"] == live:
            pass
    summary = engine.close_session(handle.name)
    assert summary.fired == {"latency#0": 1}
    exchange = tools.recorded(engine, handle.name)
    assert exchange.ending == "client_aborted"
    assert [fault.outcome for fault in exchange.faults] == ["fired", "no_effect"]
    assert upstream.asked == []


def test_what_a_client_left_behind_is_neither_faulted_nor_recorded(
    tools: Any, engine: Engine, upstream: Any
) -> None:
    upstream.handlers["/"] = lambda asked, connection: connection.sendall(
        tools.sse_head() + tools.chunk(b"".join(EVENTS)) + b"0\r\n\r\n"
    )
    told = both(
        tools, ("event_acts", {"chunks": {0: ["pass"], 1: ["wait"]}}), ("cut_stream", {"after_events": 3})
    )
    handle = engine.open_session(tools.fresh("left"), told, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        client.until(tools.chunk(EVENTS[0]))
    assert engine.close_session(handle.name).fired == {"event_acts#0": 1}
    exchange = tools.recorded(engine, handle.name)
    assert exchange.ending == "client_aborted"
    assert exchange.delivered.body == EVENTS[0]


def test_a_closed_session_writes_nothing_more(tools: Any, engine: Engine, upstream: Any) -> None:
    streaming(tools, upstream)
    handle = engine.open_session(
        tools.fresh("closed"), tools.acting("event_acts", chunks={1: ["wait:3", "pass"]}), 1
    )
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        client.until(tools.chunk(EVENTS[0]))
        engine.close_session(handle.name)
        with contextlib.suppress(ConnectionResetError):
            client.rest()
    other = engine.open_session(tools.fresh("other"), tools.CALM, 1)
    engine.close_session(other.name)
    exchange = tools.recorded(engine, handle.name)
    assert exchange.error == "the session was closed"
    assert exchange.delivered.body == EVENTS[0]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("acts", {"chunks": {0: ["pass", "send:678"]}}),
        ("held_acts", {"chunks": {0: ["send:{}"]}}),
        ("acts", {"say": "a teapot"}),
        ("acts", {}),
    ],
    ids=["framed anew", "held", "answered", "touched only"],
)
def test_the_tape_has_the_head_of_the_wire(
    tools: Any, engine: Engine, upstream: Any, fault: str, told: dict[str, Any]
) -> None:
    upstream.answer("/", b'{"a": 1}')
    (_, headers, body), summary = run(tools, engine, upstream, lambda c: c.response(), fault=fault, **told)
    delivered = tools.recorded(engine, summary.name).delivered
    assert {name.lower(): value for name, value in delivered.headers} == headers
    assert delivered.body == body


def test_latency_alone_leaves_the_answer_as_it_is(tools: Any, engine: Engine, upstream: Any) -> None:
    upstream.answer("/", b'{"a": 1}')
    handle = engine.open_session(tools.fresh("late"), both(tools, ("latency", {"ms": 1})), 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        _, headers, _ = client.response()
    assert headers["content-length"] == "8"
    assert "transfer-encoding" not in headers
    assert engine.close_session(handle.name).fired == {"latency#0": 1}
    exchange = tools.recorded(engine, handle.name)
    assert exchange.delivered == exchange.upstream


@pytest.mark.parametrize("end", ["reset", "close"])
def test_the_connection_ends_in_an_answer_of_ours(
    tools: Any, engine: Engine, upstream: Any, end: str
) -> None:
    told = both(tools, (end, {"at": {"after_bytes": 2}}), ("status", {"code": 503}))
    handle = engine.open_session(tools.fresh("ended"), told, 1)
    with tools.Client(engine, f"127.0.0.1:{upstream.port}", session=handle) as client:
        client.post("/", b"{}")
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 503")
        assert client.exactly(2) == b'{"'
        if end == "reset":
            with pytest.raises(ConnectionResetError):
                client.rest()
        else:
            assert client.rest() == b""
    summary = engine.close_session(handle.name)
    assert summary.fired == {f"{end}#0": 1, "status#1": 1}
    exchange = tools.recorded(engine, handle.name)
    assert exchange.upstream is None
    assert (exchange.delivered.status, exchange.delivered.body) == (503, b'{"')
    assert upstream.asked == []
