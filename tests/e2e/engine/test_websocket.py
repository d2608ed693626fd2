"""WebSocket sessions through a running engine, between a real client and a real server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

from faultwire.events import Message, Recorded
from faultwire.faults._registry import BUILTIN
from faultwire.mitm.engine.client import Engine, SessionHandle
from faultwire.tape.evidence.verify import verify

SECRET = "sk-proj-" + "Ab3" * 16


class Server:
    """Answers with what a test tells it to say."""

    def __init__(self) -> None:
        self.talk: Callable[[ServerConnection], None] = echo
        self.closed: list[tuple[int | None, str | None]] = []
        self.heard: list[str | bytes] = []
        self.done = threading.Event()
        self._server = serve(self._serve, "127.0.0.1", 0, max_size=None)
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _serve(self, socket: ServerConnection) -> None:
        try:
            self.talk(socket)
            for said in socket:
                self.heard.append(said)
        except ConnectionClosed:
            pass
        finally:
            self.closed.append((socket.close_code, socket.close_reason))
            self.done.set()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()


def echo(socket: ServerConnection) -> None:
    for said in socket:
        socket.send(said)


def counts(socket: ServerConnection) -> None:
    """Waits for the client's first word, then says five of its own."""
    socket.recv()
    for number in range(5):
        socket.send(f"word {number}")


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def dial(tools: Any, engine: Engine, server: Server, handle: SessionHandle, **more: Any) -> ClientConnection:
    proxy = f"http://{handle.user}:{handle.token}@127.0.0.1:{engine.port}"
    address = f"ws://127.0.0.1:{server.port}/ws"
    return connect(address, proxy=proxy, open_timeout=tools.TIMEOUT_S, close_timeout=5, max_size=None, **more)


def opened(engine: Engine, tools: Any, *entries: dict[str, Any]) -> SessionHandle:
    settings = [{"on": {"path": "/ws"}, **entry} for entry in entries]
    return engine.open_session(tools.fresh("ws"), tools.profile(*settings) if entries else tools.CALM, 1)


def fault(name: str, **settings: Any) -> dict[str, Any]:
    return {"fault": {"name": name, "settings": settings}}


def all_of(socket: ClientConnection, tools: Any) -> list[str | bytes]:
    """What comes until the session is closed."""
    found: list[str | bytes] = []
    try:
        while True:
            found.append(socket.recv(timeout=tools.TIMEOUT_S))
    except ConnectionClosed:
        return found


def ended(engine: Engine, tools: Any, handle: SessionHandle) -> tuple[Recorded, dict[str, int]]:
    summary = engine.close_session(handle.name)
    assert summary.voids == ()
    return tools.recorded(engine, handle.name), dict(summary.fired)


def said(messages: tuple[Message, ...], by: str) -> list[bytes]:
    return [m.data for m in messages if m.by == by and m.kind != "close" and m.sent_ns is not None]


def delivered(messages: tuple[Message, ...], by: str) -> list[bytes]:
    return [m.data for m in messages if m.by == by and m.kind != "close" and m.delivered_ns is not None]


# ---------------------------------------------------------------- calm


@pytest.mark.parametrize("compression", ["deflate", None])
def test_nothing_is_changed_and_everything_is_on_the_tape(
    tools: Any, engine: Engine, server: Server, compression: str | None
) -> None:
    handle = opened(engine, tools)
    words: list[str | bytes] = ["", "eins", "żółw 🐢", b"", bytes(range(256)), "x" * 200_000, b"y" * 70_000]
    before = engine.stats()["websocket_messages"]
    with dial(tools, engine, server, handle, compression=compression) as socket:
        for word in words:
            socket.send(word)
            assert socket.recv(timeout=tools.TIMEOUT_S) == word
        socket.send(["in ", "three ", "pieces"])
        assert socket.recv(timeout=tools.TIMEOUT_S) == "in three pieces"
        assert socket.ping().wait(tools.TIMEOUT_S), "a ping comes back as a pong"
        socket.close(4321, "enough")
    assert server.done.wait(tools.TIMEOUT_S)
    assert server.closed == [(4321, "enough")]
    exchange, fired = ended(engine, tools, handle)
    assert engine.stats()["websocket_messages"] == before + 2 * (len(words) + 1)
    assert (exchange.ending, exchange.error, fired) == ("complete", None, {})
    sent = [word if isinstance(word, bytes) else word.encode() for word in [*words, "in three pieces"]]
    assert said(exchange.messages, "client") == sent
    assert delivered(exchange.messages, "server") == sent
    kinds = [m.kind for m in exchange.messages if m.by == "server" and m.kind != "close"]
    assert kinds == ["binary" if isinstance(word, bytes) else "text" for word in [*words, "text"]]
    closes = [(m.by, m.code, m.data) for m in exchange.messages if m.kind == "close"]
    assert closes == [("client", 4321, b"enough"), ("server", 4321, b"enough")]
    instants = [m.sent_ns for m in exchange.messages]
    assert instants == sorted(instants)
    assert all(m.delivered_ns is not None for m in exchange.messages if m.kind != "close")


@pytest.mark.parametrize("close", [(1001, "off"), (1000, ""), (4999, "ż")])
def test_the_code_of_the_server_arrives(
    tools: Any, engine: Engine, server: Server, close: tuple[int, str]
) -> None:
    server.talk = lambda socket: socket.close(*close)
    handle = opened(engine, tools)
    with dial(tools, engine, server, handle) as socket:
        assert all_of(socket, tools) == []
        assert (socket.close_code, socket.close_reason) == close
    assert ended(engine, tools, handle)[0].ending == "complete"


def test_a_server_that_just_goes_is_not_made_to_say_goodbye(
    tools: Any, engine: Engine, server: Server
) -> None:
    """mitmproxy's own relay makes a Close with code 1000 of it."""

    def vanish(socket: ServerConnection) -> None:
        socket.send("one")
        socket.socket.shutdown(2)

    server.talk = vanish
    handle = opened(engine, tools)
    with dial(tools, engine, server, handle) as socket:
        assert all_of(socket, tools) == ["one"]
        assert socket.close_code == 1006
    exchange, _ = ended(engine, tools, handle)
    assert exchange.ending == "upstream_aborted"
    assert exchange.messages[-1].code == 1006


def test_a_secret_in_a_message_is_not_on_the_tape(tools: Any, engine: Engine, server: Server) -> None:
    handle = opened(engine, tools)
    with dial(tools, engine, server, handle) as socket:
        for word in (f'{{"api_key": "{SECRET}"}}', f"it is {SECRET}.", f"bytes {SECRET}".encode()):
            socket.send(word)
            assert socket.recv(timeout=tools.TIMEOUT_S) == word
    exchange, _ = ended(engine, tools, handle)
    assert len(delivered(exchange.messages, "server")) == 3
    assert all(b"redacted:v1:" in data for data in said(exchange.messages, "client"))
    tape = engine.control.parent / "run.tape"
    for path in (tape, Path(f"{tape}-wal")):
        assert not path.exists() or SECRET.encode() not in path.read_bytes()
    assert [f for f in verify(tape).findings if not f.is_note] == []


# ---------------------------------------------------------------- faults

WORDS = [f"word {number}" for number in range(5)]
ROWS: dict[str, tuple[dict[str, Any], list[str | bytes], int]] = {
    "websocket_close": ({"code": 4008, "after_messages": 2, "reason": "too slow"}, WORDS[:2], 4008),
    "cut_stream": ({"after_events": 2}, WORDS[:2], 1006),
    "drop_event": ({"at": 2}, [WORDS[0], *WORDS[2:]], 1000),
    "duplicate_event": ({"at": 2}, [*WORDS[:2], *WORDS[1:]], 1000),
    "reorder_events": ({"at": 2}, [WORDS[0], WORDS[2], WORDS[1], *WORDS[3:]], 1000),
    "malformed_event": ({"at": 2}, [WORDS[0], "wor", *WORDS[2:]], 1000),
    "slow_tokens": ({"ms": 5}, WORDS, 1000),
    "slow_first_token": ({"ms": 20}, WORDS, 1000),
    "stall": ({"after_events": 1, "for_ms": 20}, WORDS, 1000),
    "split_events": ({"piece_bytes": 3}, WORDS, 1000),
    "bandwidth": ({"bytes_per_s": 2000}, WORDS, 1000),
    "slow_close": ({"ms": 20}, WORDS, 1000),
    "latency": ({"ms": 20}, WORDS, 1000),
    "close": ({"at": {"after_bytes": 8}}, WORDS[:1], 1006),
    "reset": ({"at": {"after_bytes": 8}}, WORDS[:1], 1006),
}


@pytest.mark.parametrize("name", ROWS)
def test_faults_act_on_messages_as_on_events(tools: Any, engine: Engine, server: Server, name: str) -> None:
    def talk(socket: ServerConnection) -> None:
        counts(socket)
        socket.close(1000)

    server.talk = talk
    settings, expected, code = ROWS[name]
    handle = opened(engine, tools, fault(name, **settings))
    with dial(tools, engine, server, handle) as socket:
        socket.send("go")
        assert all_of(socket, tools) == expected
        assert socket.close_code == code
        if name == "websocket_close":
            assert socket.close_reason == "too slow"
    assert server.done.wait(tools.TIMEOUT_S)
    exchange, fired = ended(engine, tools, handle)
    assert fired == {f"{name}#0": 1}
    got = [data.decode() for data in delivered(exchange.messages, "server")]
    assert got == expected
    assert said(exchange.messages, "client") == [b"go"]
    told = [data.decode() for data in said(exchange.messages, "server")]
    assert told == WORDS[: len(told)]
    assert len(told) >= len(set(expected) & set(WORDS))


def test_every_fault_on_websockets_has_its_row() -> None:
    """What needs a WebSocket is fired nowhere else."""
    assert {fault.name for fault in BUILTIN if fault.name.startswith("websocket_")} <= set(ROWS)


def test_the_same_without_the_fault_being_due(tools: Any, engine: Engine, server: Server) -> None:
    """The control of the rows above."""
    entry = {**fault("websocket_close"), "trigger": {"probability": 0.0}}
    handle = opened(engine, tools, entry)
    with dial(tools, engine, server, handle) as socket:
        socket.send("hello")
        assert socket.recv(timeout=tools.TIMEOUT_S) == "hello"
    exchange, fired = ended(engine, tools, handle)
    assert (exchange.ending, fired) == ("complete", {})
    assert [line.outcome for line in exchange.faults] == ["skipped"]


def test_a_stalled_direction_holds_up_neither_the_other_nor_pings(
    tools: Any, engine: Engine, server: Server
) -> None:
    server.talk = counts
    handle = opened(engine, tools, fault("stall", after_events=1))
    with dial(tools, engine, server, handle) as socket:
        socket.send("go")
        assert socket.recv(timeout=tools.TIMEOUT_S) == "word 0"
        socket.send("still there?")
        assert socket.ping().wait(tools.TIMEOUT_S)
        socket.close(1000)
    assert server.done.wait(tools.TIMEOUT_S)
    assert server.heard == ["still there?"]
    exchange, fired = ended(engine, tools, handle)
    assert fired == {"stall#0": 1}
    assert delivered(exchange.messages, "server") == [b"word 0"]
    assert said(exchange.messages, "server") == [word.encode() for word in WORDS]


def test_an_answer_of_ours_takes_the_place_of_the_session(tools: Any, engine: Engine, server: Server) -> None:
    handle = opened(engine, tools, fault("status", code=503))
    with pytest.raises(InvalidStatus) as raised:
        dial(tools, engine, server, handle)
    assert raised.value.response.status_code == 503
    assert ended(engine, tools, handle)[1] == {"status#0": 1}
    assert server.closed == []


def test_an_answer_decided_on_the_switch_lets_upstream_go(tools: Any, engine: Engine, server: Server) -> None:
    entry = {**fault("status", code=503), "on": {"path": "/ws", "status": 101}}
    handle = opened(engine, tools, entry)
    with pytest.raises(InvalidStatus) as raised:
        dial(tools, engine, server, handle)
    assert raised.value.response.status_code == 503
    assert server.done.wait(tools.TIMEOUT_S), "the server is told"
    assert ended(engine, tools, handle)[1] == {"status#0": 1}


@pytest.mark.parametrize("name", ["truncate_body", "stream_error", "truncate_response"])
def test_a_fault_that_cannot_act_on_messages_reports_that(
    tools: Any, engine: Engine, server: Server, name: str
) -> None:
    settings = {"truncate_body": {"fraction": 0.5}, "truncate_response": {"max_tokens": 3}}.get(name, {})
    handle = opened(engine, tools, fault(name, **settings))
    with dial(tools, engine, server, handle) as socket:
        socket.send("hello")
        assert socket.recv(timeout=tools.TIMEOUT_S) == "hello"
    exchange, fired = ended(engine, tools, handle)
    assert fired == {}
    assert [line.outcome for line in exchange.faults] == ["inapplicable"]


def test_a_session_that_may_be_a_models_is_not_passed_over_in_silence(
    tools: Any, engine: Engine, server: Server
) -> None:
    handle = opened(engine, tools, {**fault("stall", after_events=1), "on": {"kind": "llm"}})
    with dial(tools, engine, server, handle) as socket:
        socket.send("hello")
        assert socket.recv(timeout=tools.TIMEOUT_S) == "hello"
    exchange, _ = ended(engine, tools, handle)
    (line,) = exchange.faults
    assert line.outcome == "inapplicable"
    assert "no known protocol" in line.reason


def test_a_message_that_would_have_to_be_held_whole_is_refused(
    tools: Any, engine: Engine, server: Server
) -> None:
    server.talk = lambda socket: socket.send(b"z" * (33 << 20))
    handle = opened(engine, tools)
    with dial(tools, engine, server, handle) as socket:
        assert all_of(socket, tools) == []
        assert socket.close_code == 1009
    summary = engine.close_session(handle.name)
    assert summary.voids == ("a message is longer than 32 MiB",)


def resident_mb(engine: Engine) -> float:
    pages = Path(f"/proc/{engine._process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096 / 1e6


@pytest.mark.parametrize("touched", [False, True])
def test_memory_stays_flat_while_a_session_goes_on(
    tools: Any, engine: Engine, server: Server, touched: bool
) -> None:
    handle = opened(engine, tools, *([fault("split_events", piece_bytes=65_536)] if touched else []))
    word = "x" * 40_000

    def exchange(socket: ClientConnection, count: int) -> None:
        for _ in range(count):
            socket.send(word)
            assert socket.recv(timeout=tools.TIMEOUT_S) == word

    sizes = []
    with dial(tools, engine, server, handle, compression=None) as socket:
        for _ in range(5):
            exchange(socket, 150)
            engine.flush()
            sizes.append(resident_mb(engine))
    grown = sizes[-1] - sizes[1]  # by then the writer's buffers have their size
    engine.close_session(handle.name)
    assert grown < 20, f"{grown:.0f} MB for 36 MB of messages, {sizes}"
