"""Questions to an engine on connections that are kept, over pairs of sockets."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from typing import Any

import pytest

from faultwire.mitm.engine.control_client import ControlClient
from faultwire.mitm.settings import MAX_LINE


class Other:
    """The other side of each connection; what it answers waits there before it is asked."""

    def __init__(self, stack: ExitStack) -> None:
        self.ends: list[socket.socket] = []
        self.answers: list[list[bytes]] = []
        self._stack = stack

    def connect(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.settimeout(5)
        self.ends.append(self._stack.enter_context(theirs))
        self._stack.enter_context(ours)
        for piece in self.answers.pop(0):
            theirs.sendall(piece)
        return ours

    def heard(self, at: int) -> list[Any]:
        return [json.loads(line) for line in self.ends[at].recv(1 << 16).splitlines()]


@pytest.fixture
def other() -> Any:
    with ExitStack() as stack:
        yield Other(stack)


def test_a_connection_that_was_answered_is_asked_again(other: Other) -> None:
    other.answers = [[b'{"a": 1}\n']]
    asking = ControlClient(other.connect)
    assert asking.ask({"op": "one"}) == {"a": 1}
    other.ends[0].sendall(b'{"b"')
    other.ends[0].sendall(b": 2}\n")
    assert asking.ask({"op": "two"}) == {"b": 2}
    assert other.heard(0) == [{"op": "one"}, {"op": "two"}]
    assert len(other.ends) == 1


def test_questions_at_the_same_time_have_connections_of_their_own(other: Other) -> None:
    class Nested(Other):
        """While it connects for one question, another one is asked."""

        def connect(self) -> socket.socket:
            if not self.ends:
                made = super().connect()
                inner.append(asking.ask({"op": "inner"}))
                return made
            return super().connect()

    inner: list[Any] = []
    with ExitStack() as stack:
        both = Nested(stack)
        both.answers = [[b'{"whose": "outer"}\n'], [b'{"whose": "inner"}\n']]
        asking = ControlClient(both.connect)
        assert asking.ask({"op": "outer"}) == {"whose": "outer"}
        assert inner == [{"whose": "inner"}]
        assert (both.heard(0), both.heard(1)) == ([{"op": "outer"}], [{"op": "inner"}])


def test_a_connection_without_an_answer_is_not_asked_again(other: Other) -> None:
    other.answers = [[b'{"a"'], [b'{"b": 2}\n']]
    asking = ControlClient(other.connect)
    first = asking._connect
    asking._connect = lambda: _half_closed(first(), other)
    with pytest.raises(ConnectionError, match="the control socket was closed"):
        asking.ask({"op": "one"})
    asking._connect = first
    assert asking.ask({"op": "two"}) == {"b": 2}
    assert len(other.ends) == 2


def _half_closed(ours: socket.socket, other: Other) -> socket.socket:
    other.ends[-1].shutdown(socket.SHUT_WR)
    return ours


def test_a_line_without_end_is_none(other: Other) -> None:
    class Endless:
        closed = False

        def sendall(self, _data: bytes) -> None:
            pass

        def recv(self, size: int) -> bytes:
            return b"x" * size

        def close(self) -> None:
            self.closed = True

    endless: Any = Endless()
    with pytest.raises(ConnectionError, match=f"more than {MAX_LINE} bytes"):
        ControlClient(lambda: endless).ask({})
    assert endless.closed


def test_what_is_closed_keeps_no_connection(other: Other) -> None:
    other.answers = [[b"{}\n"], [b"{}\n"]]
    asking = ControlClient(other.connect)
    asking.ask({})
    assert len(asking._idle) == 1
    asking.close()
    assert other.heard(0) == [{}]
    assert other.ends[0].recv(1) == b""
    asking.ask({})  # somebody who was late
    assert other.heard(1) == [{}]
    assert other.ends[1].recv(1) == b""
