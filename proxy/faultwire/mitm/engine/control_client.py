"""Asks an engine over its control socket: one JSON line there and one back, on connections that are kept.

A run opens and closes a session for every cell. A connection for each question would cost both sides more
than the question does; so one that was answered waits for the next question, whoever asks it.
"""

from __future__ import annotations

import json
import socket
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from faultwire.mitm.settings import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPLY_TIMEOUT_S = 60.0
_PIECE = 1 << 16


class ControlClient:
    """Used from several threads: there are as many connections as questions at the same time."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        self._idle: deque[socket.socket] = deque()
        self._closed = False

    @classmethod
    def at(cls, path: Path, limit_s: float = REPLY_TIMEOUT_S) -> ControlClient:
        """To whoever listens at this path, and answers within the limit."""
        return cls(lambda: _connected(str(path), limit_s))

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """What the other side answers. Raises OSError where it does not."""
        line = json.dumps(message).encode() + b"\n"
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            connection.sendall(line)
            reply: dict[str, Any] = json.loads(_line(connection))
        except BaseException:
            # What comes on it now would be taken for the answer to another question.
            connection.close()
            raise
        self._idle.append(connection)
        if self._closed:
            self.close()
        return reply

    def close(self) -> None:
        """Let the connections go, those on which somebody waits for an answer as soon as it has come."""
        self._closed = True
        with suppress(IndexError):  # somebody else may be at it
            while True:
                self._idle.pop().close()


def _connected(path: str, limit_s: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(limit_s)
        connection.connect(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _line(connection: socket.socket) -> bytes:
    """One line. Raises ConnectionError where none comes whole."""
    pieces: list[bytes] = []
    size = 0
    while size < MAX_LINE:
        piece = connection.recv(_PIECE)
        pieces.append(piece)
        size += len(piece)
        if piece.endswith(b"\n"):
            return b"".join(pieces)
        if not piece:
            raise ConnectionError("the control socket was closed")
    raise ConnectionError(f"the control socket sent more than {MAX_LINE} bytes in one line")
