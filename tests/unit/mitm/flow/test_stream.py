"""How a stream is made of parts: faultwire.mitm.flow.stream. What they do together is in test_actions."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, ConnectionState
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context
from mitmproxy.proxy.layers.http import HttpStream, SendHttp
from mitmproxy.test.tflow import tflow

from faultwire.dice import Dice
from faultwire.events import Action, Cut, Reset, Send, Wait
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm import compat
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook
from faultwire.mitm.flow import actions, stream_state
from faultwire.mitm.flow.actions import ActionExecutor
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.replay_source import ReplaySource
from faultwire.mitm.flow.request import RequestReader
from faultwire.mitm.flow.response import Responder
from faultwire.mitm.flow.response_writer import ResponseWriter
from faultwire.mitm.flow.stream import FaultStream
from faultwire.mitm.flow.stream_state import StreamState
from faultwire.profile.model import Profile

PARTS = (StreamState, ResponseWriter, ActionExecutor, Responder, ReplaySource, RequestReader)


def test_a_stream_is_mitmproxy_s_and_its_parts_inherit_from_nobody() -> None:
    assert FaultStream.__bases__ == (HttpStream,)
    assert {part.__bases__ for part in PARTS} == {(object,)}


def test_what_goes_at_once_ends_at_the_first_wait() -> None:
    wait, later = Wait(1.0), Send(b"later")
    rest = iter([Send(b"a"), Send(b"b"), wait, later])
    assert actions.split_sends(rest) == ([Send(b"a"), Send(b"b")], wait)
    assert list(rest) == [later], "what follows is not asked for yet"
    assert actions.split_sends(iter([Cut(clean=True)])) == ([], Cut(clean=True))


@pytest.fixture(params=["HTTP/1.1", "HTTP/2.0"])
def state(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StreamState:
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
    gateway = Gateway()
    session = SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState())
    gateway.sessions.implicit = gateway.sessions.open(session)
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
    flow = tflow()
    flow.client_conn, flow.request.http_version = client, request.param
    made = StreamState(context.Context(client, Options()), 1, gateway, flow)
    made.begin(gateway.begin(flow))
    return made


def executor(state: StreamState) -> ActionExecutor:
    return ActionExecutor(state, ResponseWriter(state, finish=tuple))


def sent(found: list[commands.Command]) -> list[bytes]:
    """The frames of the body that these commands write."""
    frames: list[bytes] = []
    for command in found:
        if isinstance(command, SendHttp) and isinstance(command.event, compat.ResponsePieces):
            frames += command.event.pieces
        elif isinstance(command, SendHttp):
            frames.append(command.event.data)
    return frames


def test_what_is_sent_at_once_is_one_command_that_keeps_its_frames(state: StreamState) -> None:
    found = executor(state).execute(iter([Send(b"a"), Send(b""), Send(b"b")]))
    assert isinstance(found, tuple), "nothing is waited for"
    assert sent(list(found)) == [b"a", b"b"]
    assert len(found) == (2 if state.flow.request.is_http2 else 1)  # HTTP/2 has no chunks to join


def test_an_action_behind_a_wait_is_asked_for_when_it_is_over(state: StreamState) -> None:
    asked: list[str] = []

    def fault() -> Iterator[Action]:
        yield Send(b"a")
        yield Wait(1.0)
        asked.append("behind the wait")
        yield Send(b"b")

    running = iter(executor(state).execute(fault(), then=lambda: (commands.Log("then"),)))
    assert sent([next(running)]) == [b"a"]
    assert isinstance(next(running), FaultwireWaitHook)
    assert asked == []
    rest = list(running)
    assert (sent(rest[:1]), len(rest)) == ([b"b"], 2)
    assert isinstance(rest[1], commands.Log)


def test_a_client_that_leaves_during_a_wait_ends_the_exchange(state: StreamState) -> None:
    ended: list[bool] = []
    faults = iter([Wait(1.0), Send(b"never")])
    running = iter(executor(state).execute(faults, then=lambda: (), ended=lambda: ended.append(True)))
    assert isinstance(next(running), FaultwireWaitHook)
    state.leave()
    assert (list(running), ended) == ([], [True])


def test_what_a_fault_sent_before_it_failed_is_delivered(state: StreamState) -> None:
    def fault() -> Iterator[Action]:
        yield Send(b"a")
        raise ValueError("broken")

    running = iter(executor(state).execute(fault()))
    assert sent([next(running)]) == [b"a"]
    with pytest.raises(ValueError, match="broken"):
        next(running)


def test_a_reset_needs_the_connection_only_on_http_1(state: StreamState) -> None:
    found = list(executor(state).execute([Reset()]))
    assert isinstance(found[0], FaultwireResetHook) != state.flow.request.is_http2
    assert state.request is stream_state.RequestPhase.FAILED


def test_bytes_that_wait_are_counted_until_they_are_let_go(
    state: StreamState, monkeypatch: pytest.MonkeyPatch
) -> None:
    throttled: list[bool] = []
    monkeypatch.setattr(state.gateway, "throttle", lambda flow, paused: throttled.append(paused))
    monkeypatch.setattr(
        stream_state.transports, "read_more", lambda client, server, paused: throttled.append(paused)
    )
    state.hold_back(stream_state.QUEUE_LIMIT)
    assert throttled == []
    state.hold_back(1)
    state.release(1)
    assert throttled == [True]
    state.release_all()
    assert (throttled, state.waiting) == ([True, False], 0)


def test_known_commands_stay_known_with_what_follows() -> None:
    log = commands.Log("a")
    assert stream_state.joined((log,), (log,)) == (log, log)
    assert list(stream_state.joined((log,), iter([log]))) == [log, log]
