"""WebSocket framing (RFC 6455) towards one peer, with the parser that mitmproxy brings along.

mitmproxy's own relay sends a Close with code 1000 where a connection just ended, waits for whole messages
as this does, and knows no way to end a session with a code of our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from wsproto import events as ws
from wsproto.connection import Connection as Wire, ConnectionState, ConnectionType
from wsproto.extensions import Extension, PerMessageDeflate
from wsproto.frame_protocol import Opcode
from wsproto.utilities import split_comma_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mitmproxy.connection import Connection

MOST = 32 * 1024 * 1024
"""A longer message is not taken; it would have to be held whole."""

NO_STATUS, ABNORMAL, GOING_AWAY, TOO_BIG = 1005, 1006, 1001, 1009
"""Codes of RFC 6455 §7.4.1."""


class ReceivedMessage(NamedTuple):
    """A whole message, and the sizes of the fragments in which it came."""

    data: bytes
    text: bool
    sizes: tuple[int, ...] = ()


class Control(NamedTuple):
    """A ping or a pong."""

    payload: bytes
    pong: bool


class Closed(NamedTuple):
    """The peer has ended: with a Close frame, by breaking the protocol, or without notice."""

    code: int
    reason: str
    how: Literal["frame", "broken", "lost"]


LOST = Closed(ABNORMAL, "", "lost")


class Peer:
    """One end of a WebSocket: what it sends, and what it receives."""

    def __init__(self, connection: Connection, extensions: str, *, is_server: bool) -> None:
        self.connection = connection
        kind = ConnectionType.CLIENT if is_server else ConnectionType.SERVER
        self._wire = Wire(kind, list(_extensions(extensions)))
        self._pieces: list[bytes] = []
        self._sizes: list[int] = []
        self._size = 0
        self._held = 0
        self._inside = False

    @property
    def open(self) -> bool:
        """May it be sent messages?"""
        return self._wire.state is ConnectionState.OPEN

    @property
    def may_close(self) -> bool:
        """May it be sent a Close frame?"""
        return self._wire.state in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)

    @property
    def done(self) -> bool:
        """Have both sides sent their Close?"""
        return self._wire.state is ConnectionState.CLOSED

    # ------------------------------------------------------------ what it says

    def receive(self, data: bytes) -> Iterator[ReceivedMessage | Control | Closed]:
        """What these bytes complete."""
        if self.done:
            return
        self._wire.receive_data(data)
        for event in self._wire.events():
            if isinstance(event, ws.Message):
                if self._gather(event):
                    yield Closed(TOO_BIG, "a message is longer than 32 MiB", "broken")
                    return
                if event.message_finished:
                    yield self._whole(text=isinstance(event, ws.TextMessage))
            elif isinstance(event, ws.Ping | ws.Pong):
                yield Control(bytes(event.payload), isinstance(event, ws.Pong))
            elif isinstance(event, ws.CloseConnection):
                broken = self._wire.state in (ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING)
                yield Closed(int(event.code), event.reason or "", "broken" if broken else "frame")
                return

    def _gather(self, event: ws.Message[Any]) -> bool:
        """Keep a piece of a message; True where it becomes too long."""
        data: Any = event.data
        piece = data.encode() if isinstance(data, str) else bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        self._held += len(piece)
        if event.frame_finished:
            self._sizes.append(self._size)
            self._size = 0
        return self._held > MOST

    def _whole(self, *, text: bool) -> ReceivedMessage:
        message = ReceivedMessage(b"".join(self._pieces), text, tuple(self._sizes))
        self._pieces, self._sizes, self._held = [], [], 0
        return message

    # ------------------------------------------------------------ to the peer

    def message(self, data: bytes, *, text: bool, sizes: tuple[int, ...] = (), more: bool = False) -> bytes:
        """The frames of a message, in fragments of these sizes where they fit; `more` leaves it open.

        Text goes out byte for byte, also where a fault has made it invalid.
        """
        if len(sizes) < 2 or sum(sizes) != len(data):
            return self._frame(data, text=text, last=not more)
        frames: list[bytes] = []
        start = 0
        for size in sizes:
            start += size
            last = start == len(data) and len(frames) == len(sizes) - 1
            frames.append(self._frame(data[start - size : start], text=text, last=last and not more))
        return b"".join(frames)

    def _frame(self, data: bytes, *, text: bool, last: bool) -> bytes:
        opcode = Opcode.CONTINUATION if self._inside else Opcode.TEXT if text else Opcode.BINARY
        self._inside = not last
        return bytes(self._wire._proto._serialize_frame(opcode, data, last))

    def control(self, control: Control) -> bytes:
        """A ping or pong."""
        return self._wire.send(ws.Pong(control.payload) if control.pong else ws.Ping(control.payload))

    def close(self, code: int, reason: str) -> bytes:
        """A Close frame; one without a code for 1005."""
        close_code: Any = None if code == NO_STATUS else code
        return self._wire.send(
            ws.CloseConnection(code=close_code, reason=reason if close_code is not None else None)
        )


def _extensions(header: str) -> Iterator[Extension]:
    """The extensions that both ends agreed on; there is only one that anybody uses (RFC 7692)."""
    for offer in split_comma_header(header.encode("ascii", "replace")):
        if offer.split(";", 1)[0].strip() == PerMessageDeflate.name:
            found = PerMessageDeflate()
            found.finalize(offer)
            yield found
