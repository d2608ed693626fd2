"""WebSockets for the mock (RFC 6455): the upgrade, and a client's messages to and from a `Session`.

Framing, masking and the closing handshake are wsproto's. Extensions are declined, so that what is seen
on the wire is what was sent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from wsproto import events
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.utilities import generate_accept_token

from faultwire import clock
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Headers, Request
    from faultwire.mock._api import OutgoingMessage, Session

MAX_MESSAGE = 16 << 20
"""Characters of one message; a client that sends more is closed with 1009."""
NOT_TEXT, TOO_BIG = 1003, 1009


def handshake(request: Request, subprotocols: tuple[str, ...] = ()) -> Headers | None:
    """The header fields of the answer 101; None where the request is no sound upgrade."""
    key = header(request.headers, "sec-websocket-key")
    if not key or header(request.headers, "sec-websocket-version") != "13":
        return None
    offered = [
        word.strip()
        for name, value in request.headers
        if name.lower() == "sec-websocket-protocol"
        for word in value.split(",")
    ]
    chosen = next((name for name in subprotocols if name in offered), None)
    return (
        ("upgrade", "websocket"),
        ("connection", "Upgrade"),
        ("sec-websocket-accept", generate_accept_token(key.encode("latin-1", "replace")).decode("ascii")),
        *((("sec-websocket-protocol", chosen),) if chosen else ()),
    )


class Socket:
    """One client after the upgrade. Bytes come in by `receive`; messages go out by the transport."""

    def __init__(self, session: Session, transport: asyncio.Transport, writable: asyncio.Event) -> None:
        self._session = session
        self._transport = transport
        self._writable = writable
        self._wire = Connection(ConnectionType.SERVER)
        self._parts: list[str] = []
        self._length = 0
        self._outbox: deque[Iterator[OutgoingMessage]] = deque()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Say what the server says first."""
        self._enqueue(self._session.opening())

    def receive(self, data: bytes) -> None:
        """Take bytes as they come."""
        if self._wire.state not in (ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING):
            return
        self._wire.receive_data(data)
        for event in self._wire.events():
            self._take(event)

    def cancel(self) -> None:
        """The client is gone."""
        self._outbox.clear()
        if self._task is not None:
            self._task.cancel()

    def _take(self, event: events.Event) -> None:
        match event:
            case events.TextMessage():
                self._text(event)
            case events.BytesMessage():
                self._close(NOT_TEXT)
            case events.Ping():
                self._transport.write(self._wire.send(event.response()))
            case events.CloseConnection():
                if self._wire.state is ConnectionState.OPEN:  # it was no Close frame, but a broken one
                    self._close(event.code)
                    return
                if self._wire.state is ConnectionState.REMOTE_CLOSING:
                    self._transport.write(self._wire.send(event.response()))
                self._transport.close()

    def _text(self, event: events.TextMessage) -> None:
        self._length += len(event.data)
        if self._length > MAX_MESSAGE:
            self._close(TOO_BIG)
            return
        self._parts.append(event.data)
        if event.message_finished:
            message, self._parts, self._length = "".join(self._parts), [], 0
            self._enqueue(self._session.receive(message))

    def _enqueue(self, what: Iterable[OutgoingMessage]) -> None:
        self._outbox.append(iter(what))
        if self._task is None:
            self._start()

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._perform())
        self._task.add_done_callback(self._done)

    async def _perform(self) -> None:
        while self._outbox:
            for message in self._outbox.popleft():
                if message.delay_ms:
                    await clock.sleep(message.delay_ms / 1000)
                await self._writable.wait()
                if self._wire.state is not ConnectionState.OPEN:
                    return
                if message.text:
                    self._transport.write(self._wire.send(events.TextMessage(data=message.text)))
                if message.closes is not None:
                    self._close(message.closes)
                    return

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled():
            if task.exception() is not None:
                self._transport.abort()
            task.result()
            if self._outbox:  # heard after the task's last step, and before it was known to be done
                self._start()

    def _close(self, code: int) -> None:
        """Begin the closing handshake; the client's answer ends the connection."""
        self._outbox.clear()
        if self._wire.state is ConnectionState.OPEN:
            self._transport.write(self._wire.send(events.CloseConnection(code=code)))
        elif self._wire.state is not ConnectionState.LOCAL_CLOSING:
            self._transport.close()
