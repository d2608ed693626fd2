"""What the parts of one stream share: the exchange, how far each half of it has come, and who has left."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import SendHttp

from faultwire.mitm.compat import ReadOn, transports

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.compat.hooks import Pause
    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.messages.error_responses import Refusal

Known = tuple[commands.Command, ...]
"""Commands that mitmproxy carries out one after the other, nothing between them."""

Commands = Iterable[commands.Command]
"""What mitmproxy is to do: a tuple where all of it is known, a generator where something is waited for."""

Ended = Generator[commands.Command, Any, bool]
"""Commands whose last word is whether the exchange is over for the client."""

QUEUE_LIMIT = 512 * 1024
"""Bytes of a paused response that may wait in memory before we stop reading from upstream."""


class RequestPhase(Enum):
    """How far the request has come."""

    HEAD = auto()
    HELD = auto()
    """Its body is gathered before anything goes upstream."""
    STREAMED = auto()
    """Its body goes upstream as it comes."""
    DISCARDED = auto()
    """The rest is read and dropped; then the answer that is ready goes out."""
    IGNORED = auto()
    """The rest is dropped: the client has its answer already, or left."""
    DONE = auto()
    FAILED = auto()


class ResponsePhase(Enum):
    """How far the response has come."""

    NONE = auto()
    """No request has gone upstream."""
    AWAITED = auto()
    STREAMED = auto()
    HELD = auto()
    """Its body is gathered before anything of it is delivered."""
    DONE = auto()
    FAILED = auto()


@dataclass(slots=True, eq=False)
class StreamState:
    """One exchange on the wire."""

    context: Context
    stream_id: int
    gateway: Gateway
    flow: http.HTTPFlow = None  # type: ignore[assignment]  # set before any part is asked anything
    recorded: RecordedExchange = None  # type: ignore[assignment]
    whole: bool = False
    """Has all of the request come with its head? Then nothing of it is waited for."""
    begun: bool = False
    """Is there a `recorded`? Not for a head that belongs to nobody."""
    request: RequestPhase = RequestPhase.HEAD
    response: ResponsePhase = ResponsePhase.NONE
    head_sent: bool = False
    left: bool = False
    """Has the client gone? (The event that says so may still be queued.)"""
    upstream: bool = False
    """Does a server connection work for this exchange?"""
    pause: Pause | None = None
    """The wait of a fault that is under way."""
    waiting: int = 0
    """Bytes of the response that wait behind it."""
    throttled: bool = False
    withheld: Refusal | None = None
    """What is given in place of sending the request, unless a fault answers first."""
    joins: bool = False
    """Does the port take a request that is all there as one event?"""

    @property
    def nobody_asks(self) -> bool:
        """Is there nobody left to answer?"""
        return self.left or (self.begun and self.recorded.ended)

    def leave(self) -> None:
        """The client has gone."""
        self.left = True
        if self.pause is not None:
            self.pause.leave()
            if self.begun:
                self.recorded.client_left()

    def is_held(self) -> bool:
        """Do we keep the response waiting ourselves?"""
        waits = self.pause is not None or self.throttled or self.gateway.lags()
        return waits or transports.is_behind(self.flow.client_conn)

    def is_unread(self) -> bool:
        """Do we not read from the client, or does its answer stream already?"""
        return self.pause is not None or self.answers or transports.lags_behind(self.flow.client_conn)

    @property
    def answers(self) -> bool:
        """Has a response begun?"""
        return self.response in (ResponsePhase.STREAMED, ResponsePhase.HELD, ResponsePhase.DONE)

    def drop_server(self, why: str) -> None:
        """The server took too long: its connection ends, and the stream hears of it. Where other streams may
        share the connection the stream is woken, and ends itself."""
        if not self.upstream or self.recorded.ended:
            return
        if self.flow.request.is_http2:
            transports.wake(self.flow.client_conn, self.context.layers[-1])
        else:
            transports.drop(self.flow.client_conn, self.flow.server_conn)

    def fail(self) -> None:
        """Nothing more is sent to either side."""
        self.request, self.response = RequestPhase.FAILED, ResponsePhase.FAILED

    def hold_back(self, size: int) -> None:
        """Bytes of the response wait; from some size on no more are read."""
        self.waiting += size
        if self.waiting > QUEUE_LIMIT and not self.throttled:
            self._throttle(paused=True)

    def release(self, size: int) -> Known:
        """Bytes wait no longer; gives what has to be told to the server."""
        self.waiting = max(0, self.waiting - size)
        if self.throttled and self.waiting <= QUEUE_LIMIT // 2:
            return self._throttle(paused=False)
        return ()

    def _throttle(self, *, paused: bool) -> Known:
        """Stop or go on reading the response. In HTTP/2 the client's other streams go on: a connection to an
        HTTP/1 server is this stream's own, and one of HTTP/2 has a window for it."""
        self.throttled = paused
        server = self.flow.server_conn
        if not self.flow.request.is_http2:
            self.gateway.throttle(self.flow, paused=paused)
        elif server.alpn != b"h2":
            transports.read_more(self.flow.client_conn, server, paused=paused)
        elif not paused:
            return (SendHttp(ReadOn(self.stream_id), server),)
        else:
            layers: Any = self.context.layers
            next(one for one in reversed(layers) if hasattr(one, "withhold")).withhold(server, self.stream_id)
        return ()

    def release_all(self) -> None:
        """Nothing waits any longer."""
        if self.waiting or self.throttled:
            self.release(self.waiting)


def joined(first: Known, rest: Commands) -> Commands:
    """Commands that are known, and those that follow; known at once where both are."""
    if type(rest) is tuple:
        return first + rest
    return _one_after_the_other(first, rest) if first else rest


def _one_after_the_other(first: Commands, rest: Commands) -> Generator[commands.Command, Any, None]:
    yield from first
    yield from rest
