"""The HTTP face of a stdio server: each message is a `POST`, and its answer an event in the response.

No socket here: `mock.server` listens. What the server says unasked comes in the stream of a `GET`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.mock._api import Answer
from faultwire.mock.feed import Feed
from faultwire.wire import json_bytes
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Request

TOKEN = "authorization"
"""Names who may speak to the server: nobody but its own shim, through the proxy."""
COUNT = "faultwire-message"
"""The ordinal of a message, by which the shim hears that it has come through."""
_SSE = (("content-type", "text/event-stream"), ("cache-control", "no-cache"))


class Bridge:
    """Answers requests by writing lines to a server and waiting for its own."""

    def __init__(self, token: str, write: Callable[[bytes], None]) -> None:
        self.unasked = Feed()
        self._token = f"Bearer {token}"
        self._write = write
        self._waiting: dict[bytes, Feed] = {}
        self._arrivals: dict[str, asyncio.Event] = {}
        self._ended = False

    def arrival(self, number: str) -> asyncio.Event:
        """Set once the message with this number has come through the proxy."""
        return self._arrivals.setdefault(number, asyncio.Event())

    def __call__(self, request: Request) -> Answer:
        """The answer to one request."""
        if header(request.headers, TOKEN) != self._token:
            return Answer(403, (("content-type", "text/plain"),), b"this server belongs to another program")
        if request.method == "GET":
            return Answer(200, _SSE, feed=self.unasked)
        if request.method != "POST":
            return Answer(405, ())
        body = request.body or b""
        wanted = [json_bytes.dump(one.id) for one in mcp.asked(request) if one.is_request]
        answer = Answer(202, ())
        if wanted:
            feed = Feed()
            self._waiting |= dict.fromkeys(wanted, feed)
            answer = Answer(200, _SSE, feed=feed)
            if self._ended:  # while the message was on its way
                self.end()
        self._write(body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
        arrived = self._arrivals.pop(header(request.headers, COUNT) or "", None)
        if arrived is not None:
            arrived.set()
        return answer

    def receive(self, line: bytes) -> None:
        """A line of the server's: the answer to a request, or something unasked."""
        event = mcp.as_event(line)
        try:
            messages = mcp.messages(line)
        except WireError:
            messages = ()
        found = [self._waiting.pop(json_bytes.dump(one.id), None) for one in messages if one.is_answer]
        feeds = [feed for feed in found if feed is not None]
        (feeds[0] if feeds else self.unasked).put(event)
        for feed in dict.fromkeys(feeds):
            if feed not in self._waiting.values():  # else other answers to its batch are to come
                feed.end()

    def end(self) -> None:
        """The server has ended: no more messages follow."""
        self._ended = True
        for feed in (*self._waiting.values(), self.unasked):
            feed.end()
        self._waiting.clear()


class Lines:
    """Cuts a server's output into lines, of any length."""

    def __init__(self) -> None:
        self._splitter = _core.LineSplitter()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete, without their ends."""
        return [line.strip() for line in self._splitter.feed(data) if line.strip()]
