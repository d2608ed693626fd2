"""Accepts the connections of a proxy that several engines serve, and hands each to the engine of its session.

A thread of the command's process. It looks at the first request head of a connection without taking it, and
gives the engine the socket: what goes through a connection never passes here. The end of an engine is heard
at once, by its channel.
"""

from __future__ import annotations

import json
import selectors
import signal
import socket
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.errors import port_taken
from faultwire.mitm.engine.handed_over import CLOSED, IDLE, frame_of
from faultwire.mitm.engine.placement import MOST_HEAD, Placement, session_of

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_S = 0.25
HEAD_S = 10.0
"""Seconds for a head, as for every request head."""
WAITING = 512
"""Connections whose head has not come; more are not accepted before some have."""
BACKLOG = 512


@dataclass(slots=True)
class _Channel:
    number: int
    ours: socket.socket
    waiting: deque[tuple[socket.socket, str]] = field(default_factory=deque)


class Spreader:
    """Listens at `address`. `drained` is called, in this thread, with the number of an engine that has served
    all it had after it was drained; `turned_away` counts connections that had no engine any more.

    Raises UsageError where the address cannot be listened on.
    """

    def __init__(self, address: tuple[str, int], count: int, user: str, token: str, first_s: float) -> None:
        self._listener = _listening(address)
        self._host = f"[{address[0]}]" if ":" in address[0] else address[0]
        self.port: int = self._listener.getsockname()[1]
        self.drained: Callable[[int], None] = lambda _number: None
        self.turned_away = 0
        self.placement = Placement(count)
        self._user, self._token, self._first_s = user, token, first_s
        pairs = [socket.socketpair() for _ in range(count)]
        self._theirs = [theirs for _, theirs in pairs]
        self._channels = {number: _Channel(number, ours) for number, (ours, _) in enumerate(pairs, 1)}
        self._clients: dict[socket.socket, tuple[float, int]] = {}
        """Since when each may send its first byte, or its head; how many bytes of it were seen."""
        self._looking = selectors.DefaultSelector()
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="spreader", daemon=True)

    @property
    def address(self) -> str:
        """Where it listens, as `HOST:PORT`."""
        return f"{self._host}:{self.port}"

    def descriptor(self, number: int) -> int:
        """The descriptor by which engine `number` is given its connections; inherited by its process."""
        return self._theirs[number - 1].fileno()

    def start(self) -> None:
        """Accept, once all engines run."""
        for theirs in self._theirs:
            theirs.close()
        self._listener.setblocking(False)
        self._looking.register(self._listener, selectors.EVENT_READ, self._accept)
        self._looking.register(self._ended, selectors.EVENT_READ, None)
        for channel in self._channels.values():
            channel.ours.setblocking(False)
            self._looking.register(channel.ours, selectors.EVENT_READ, channel)
        self._thread.start()

    def close(self) -> None:
        """Accept no more; connections whose engine is not known are closed."""
        self._end.close()
        if self._thread.ident is not None:
            self._thread.join()
        for one in (self._listener, self._ended, *self._theirs, *self._clients):
            one.close()
        for channel in self._channels.values():
            channel.ours.close()
        self._looking.close()

    def _run(self) -> None:
        # Signals are for the command's main thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            for key, mask in self._looking.select(LOOK_S if self._clients else None):
                if key.fileobj is self._ended:
                    return
                if isinstance(key.data, _Channel):
                    self._serve_channel(key.data, mask)
                elif isinstance(key.fileobj, socket.socket):
                    key.data(key.fileobj)
            self._give_up_late()

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return  # it has left already, or descriptors have run out
        client.setblocking(False)
        self._clients[client] = (clock.monotonic(), 0)
        self._looking.register(client, selectors.EVENT_READ, self._look)
        if len(self._clients) >= WAITING:
            self._looking.unregister(listener)

    def _look(self, client: socket.socket) -> None:
        """Look at what a client has sent so far, and hand it over where that says enough."""
        try:
            seen = client.recv(MOST_HEAD, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            seen = b""
        began, before = self._clients[client]
        if len(seen) <= before:  # it has ended its side, and will not finish its head
            self._forget(client).close()
            return
        session = session_of(seen, self._user, self._token)
        if session is None:
            # It is readable again when there is more than what has been seen, or nothing will come.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, len(seen) + 1)
            self._clients[client] = (began if before else clock.monotonic(), len(seen))
            return
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        self._place(self._forget(client), session)

    def _place(self, client: socket.socket, session: str) -> None:
        place = self.placement.place(session)
        if isinstance(place, str):
            self._turn_away(client, place)
            return
        channel = self._channels[place]
        channel.waiting.append((client, session))
        self._flush(channel)

    def _flush(self, channel: _Channel) -> None:
        while channel.waiting:
            client, session = channel.waiting[0]
            try:
                socket.send_fds(channel.ours, [frame_of(session)], [client.fileno()])
            except BlockingIOError:
                break
            except OSError:
                self._lose(channel)
                return
            channel.waiting.popleft()
            client.close()
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.waiting else 0)
        self._looking.modify(channel.ours, mask, channel)

    def _serve_channel(self, channel: _Channel, mask: int) -> None:
        if mask & selectors.EVENT_READ:
            try:
                words = channel.ours.recv(FRAME_WORDS)
            except OSError:
                words = b""
            if not words:
                self._lose(channel)
                return
            if CLOSED in words:
                self.placement.close(channel.number)
            if IDLE in words:
                self.placement.lose(channel.number, "the engine of this session was drained")
                self.drained(channel.number)
        self._flush(channel)

    def _lose(self, channel: _Channel) -> None:
        """An engine has ended: what waits for it is told so, and what comes for its sessions."""
        if channel.ours in self._looking.get_map():
            self._looking.unregister(channel.ours)
        self.placement.lose(channel.number, f"engine {channel.number} of this proxy has ended")
        while channel.waiting:
            client, session = channel.waiting.popleft()
            self._place(client, session)

    def _turn_away(self, client: socket.socket, why: str) -> None:
        self.turned_away += 1
        body = json.dumps({"error": {"message": why, "type": "faultwire_engine"}}).encode()
        head = (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nx-should-retry: false\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        with suppress(OSError):
            client.recv(MOST_HEAD)  # unread bytes would make a reset of the end, and the answer be lost
            client.send(head.encode() + body)
            client.shutdown(socket.SHUT_WR)
        client.close()

    def _give_up_late(self) -> None:
        """Close connections of clients that say nothing, or do not finish their head."""
        now = clock.monotonic()
        for client, (began, seen) in list(self._clients.items()):
            if now - began > (HEAD_S if seen else self._first_s):
                self._forget(client).close()

    def _forget(self, client: socket.socket) -> socket.socket:
        self._looking.unregister(client)
        del self._clients[client]
        if len(self._clients) == WAITING - 1 and self._listener not in self._looking.get_map():
            self._looking.register(self._listener, selectors.EVENT_READ, self._accept)
        return client


FRAME_WORDS = 16
"""Bytes of an engine's words that are read at once."""


def _listening(address: tuple[str, int]) -> socket.socket:
    host, port = address
    try:
        family, kind, proto, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, proto)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise port_taken(host, port, error) from error
    return listener
