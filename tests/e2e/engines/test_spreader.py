"""Sockets are the subject here: real pairs and a real listener on loopback."""

from __future__ import annotations

import json
import os
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress

import pytest

from faultwire.errors import UsageError
from faultwire.mitm.engine.handed_over import CLOSED, FRAME, IDLE
from faultwire.mitm.engine.spreader import HEAD_S, Spreader

USER, TOKEN = "s12ab", "0123456789abcdef"
LIMIT_S = 20


@pytest.fixture
def spread() -> Iterator[tuple[Spreader, list[socket.socket]]]:
    """One that runs, and the channels of its two engines."""
    made = Spreader(("127.0.0.1", 0), 2, USER, TOKEN, 30.0)
    channels = [socket.socket(fileno=os.dup(made.descriptor(number))) for number in (1, 2)]
    for channel in channels:
        channel.settimeout(LIMIT_S)
    made.start()
    yield made, channels
    made.close()
    for channel in channels:
        channel.close()


def connected(made: Spreader) -> socket.socket:
    return socket.create_connection(("127.0.0.1", made.port), timeout=LIMIT_S)


def head(session: str) -> bytes:
    basic = b64encode(f"{USER}.{session}:{TOKEN}".encode()).decode()
    return f"CONNECT a:443 HTTP/1.1\r\nProxy-Authorization: Basic {basic}\r\n\r\n".encode()


def taken(channel: socket.socket) -> tuple[str, bytes]:
    """The session of a connection that an engine is given, and what can be read from it."""
    frame, descriptors, _, _ = socket.recv_fds(channel, FRAME, 1)
    with socket.socket(fileno=descriptors[0]) as client:
        return frame.rstrip(b"\0").decode(), client.recv(4096)


def test_a_client_that_says_nothing_has_its_own_time_and_not_that_of_a_head() -> None:
    made = Spreader(("127.0.0.1", 0), 1, USER, TOKEN, 0.1)
    made.start()
    try:
        with connected(made) as silent, connected(made) as begun:
            begun.sendall(b"CONN")
            silent.settimeout(HEAD_S / 2)
            assert silent.recv(1) == b""
            begun.settimeout(0.5)
            with pytest.raises(TimeoutError):
                begun.recv(1)  # it has as long as a head has
    finally:
        made.close()


def test_a_head_in_pieces_goes_unread_to_the_engine_of_its_session(
    spread: tuple[Spreader, list[socket.socket]],
) -> None:
    made, channels = spread
    with connected(made) as client:
        for at in range(0, len(head("a")), 40):
            client.sendall(head("a")[at : at + 40])
        assert taken(channels[1]) == ("a", head("a"))
    with connected(made) as client:
        client.sendall(b"GET http://x/ HTTP/1.1\r\n\r\n")
        assert taken(channels[0]) == ("", b"GET http://x/ HTTP/1.1\r\n\r\n")
    with connected(made) as client:
        client.sendall(head("a"))
        assert taken(channels[1])[0] == "a"  # where it was before


def test_a_client_that_ends_before_its_head_does_is_let_go(
    spread: tuple[Spreader, list[socket.socket]],
) -> None:
    made, _ = spread
    with connected(made) as client:
        client.sendall(b"CONNECT a:443 HT")
        client.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # what it sent was not read
            assert client.recv(1) == b""


def test_clients_of_an_engine_that_ended_get_a_503_and_others_are_served(
    spread: tuple[Spreader, list[socket.socket]],
) -> None:
    made, channels = spread
    with connected(made) as client:
        client.sendall(head("a"))
        assert taken(channels[1])[0] == "a"
    channels[1].close()
    with connected(made) as client:
        client.sendall(head("a"))
        answer = b""
        while piece := client.recv(4096):
            answer += piece
    first, _, body = answer.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 503 ")
    assert json.loads(body)["error"] == {
        "message": "engine 2 of this proxy has ended", "type": "faultwire_engine"
    }  # fmt: skip
    assert made.turned_away == 1
    with connected(made) as client:
        client.sendall(head("b"))
        assert taken(channels[0])[0] == "b"


def test_an_engine_that_is_drained_gets_no_new_sessions_and_is_reported_when_idle(
    spread: tuple[Spreader, list[socket.socket]],
) -> None:
    made, channels = spread
    drained, said = [], threading.Event()
    made.drained = lambda number: (drained.append(number), said.set())  # type: ignore[func-returns-value]
    channels[1].send(CLOSED)
    channels[1].send(IDLE)
    assert said.wait(LIMIT_S)
    assert drained == [2]
    for name in "abc":
        with connected(made) as client:
            client.sendall(head(name))
            assert taken(channels[0])[0] == name


def test_an_address_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(UsageError) as caught:
        Spreader(("127.0.0.1", other.getsockname()[1]), 2, USER, TOKEN, 30.0)
    assert caught.value.code == "engine.port"
