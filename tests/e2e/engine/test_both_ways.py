"""Traffic that goes both ways at once, and clients that want an answer before they have said all."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from faultwire.mitm.engine.client import Engine

SIZE, TIMES = 16 << 20, 4
"""Bytes that a client says, and how often they are said back: more than any socket's buffer holds."""


@pytest.fixture
def echo(tools: Any) -> Iterator[int]:
    """The port of a server that answers with what it reads, and reads nothing more until that is taken."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            connection.settimeout(tools.TIMEOUT_S)
            with connection, contextlib.suppress(OSError):
                said = b""
                while b"\r\n\r\n" not in said:
                    said += connection.recv(1)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (SIZE * TIMES))
                while piece := connection.recv(65536):
                    connection.sendall(piece * TIMES)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(tools.TIMEOUT_S)


def test_who_answers_while_it_reads_is_read_while_it_does_not_read(
    tools: Any, engine: Engine, echo: int
) -> None:
    handle = engine.open_session(tools.fresh("both"), tools.CALM, 1)
    with tools.Client(engine, f"127.0.0.1:{echo}", session=handle) as client:
        client.send(b"POST /echo HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-length: %d\r\n\r\n" % (echo, SIZE))
        sending = threading.Thread(target=client.send, args=(bytes(SIZE),), daemon=True)
        sending.start()
        client.until(b"\r\n\r\n")
        left = SIZE * TIMES
        while left:
            piece = client.sock.recv(65536)
            assert piece, "the connection ended"
            left -= len(piece)
        sending.join(tools.TIMEOUT_S)
    assert engine.close_session(handle.name).voids == ()
