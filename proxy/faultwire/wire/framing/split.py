"""How a stream is divided into events. Joined events are the stream again.

A protocol says how its responses are framed (`Protocol.splitter`); by default their content type does.
"""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern
from typing import TYPE_CHECKING, Protocol

from faultwire import _core
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Headers, Request, Response


class Splitter(Protocol):
    """Cuts bytes into events, at any chunking."""

    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole events that the chunk completes, with their framing bytes."""

    def finish(self) -> bytes:
        """The event that never ended."""


class HasFraming(Protocol):
    """What says how responses are framed: a `wire.protocol.Protocol`."""

    def splitter(self, request: Request, response: Response) -> Splitter | None:
        """What cuts this response into events; None where it is no framed stream."""


EVENT_STREAM = "application/vnd.amazon.eventstream"
JSON = "application/json"
SWITCHING = 101
NDJSON = "application/x-ndjson"
SSE = "text/event-stream"

_BY_TYPE: dict[str, Callable[[], Splitter]] = {
    SSE: _core.SseSplitter,
    EVENT_STREAM: _core.EventStreamSplitter,
    **dict.fromkeys(("application/grpc", "application/grpc+proto"), _core.GrpcSplitter),
    **dict.fromkeys(
        (
            NDJSON,
            "application/ndjson",
            "application/jsonl",
            "application/x-jsonlines",
            "application/jsonlines",
        ),
        _core.LineSplitter,
    ),
}


def content_type(headers: Headers) -> str:
    """The media type without its parameters, in lower case."""
    return (header(headers, "content-type") or "").split(";", 1)[0].strip().lower()


def splitter(headers: Headers) -> Splitter | None:
    """What cuts a response with these headers into events; None where it is no framed stream."""
    for name, value in headers:
        if name.lower() == "content-type":
            make = _BY_TYPE.get(value.split(";", 1)[0].strip().lower())
            return make() if make is not None else None
    return None


def splitter_of(
    response: Response, protocol: HasFraming | None = None, request: Request | None = None
) -> Splitter | None:
    """What cuts this response into events, in its protocol's own way where that is known."""
    if protocol is None or request is None:
        return splitter(response.headers)
    return protocol.splitter(request, response)


def wants_socket(request: Request) -> bool:
    """Does it ask to become a WebSocket (RFC 6455 §4.1)?"""
    for name, value in request.headers:
        if name.lower() == "upgrade":
            return value.strip().lower() == "websocket"
    return False


def is_socket(response: Response) -> bool:
    """Does this response open a WebSocket (RFC 6455 §4.2.2)? Its messages are its events."""
    return response.status == SWITCHING and (header(response.headers, "upgrade") or "").lower() == "websocket"


def is_stream(headers: Headers) -> bool:
    """Is a response with these headers a framed stream, whatever its protocol?"""
    return splitter(headers) is not None


def streams(response: Response, protocol: HasFraming | None = None, request: Request | None = None) -> bool:
    """Is this response a framed stream?"""
    return splitter_of(response, protocol, request) is not None


def events(stream: bytes, headers: Headers) -> list[bytes]:
    """The events of a whole stream with these headers; an unterminated rest is the last one."""
    return cut(stream, splitter(headers))


def cut(stream: bytes, cutter: Splitter | None) -> list[bytes]:
    """The events of a whole stream; an unterminated rest is the last one."""
    if cutter is None:
        return [stream] if stream else []
    found = cutter.feed(stream)
    rest = cutter.finish()
    return [*found, rest] if rest else found


def flaw(cutter: Splitter | None) -> str | None:
    """Why the bytes that were fed are not framed as they should be, or None."""
    broken = getattr(cutter, "broken", None)
    return "the body is no JSON array" if broken is True else broken or None


# ---------------------------------------------------------------- events that need one another


class Joiner(Protocol):
    """Puts events together again of which some were lost, changed, doubled or moved."""

    def join(self, event: bytes) -> bytes:
        """The event as it must stand behind those before it; the same bytes where nothing was moved."""

    def close(self) -> bytes:
        """What a stream that ends here in good order still needs."""


def joiner(cutter: Splitter | None) -> Joiner | None:
    """What a framing needs whose events hold signs about their neighbours; None where none do."""
    return _ArrayJoiner(cutter) if isinstance(cutter, _core.ArraySplitter) else None


_LEAD = re.compile(rb"[ \t\r\n]*([\[,]?)[ \t\r\n]*")
_COMMA = b",\r\n"


class _ArrayJoiner:
    """Elements of a JSON array: the first one brings the bracket, each later one its comma."""

    def __init__(self, cutter: _core.ArraySplitter) -> None:
        self._cutter = cutter
        self._opened = False
        self._ended = False
        """Was there the closing bracket, or something that no array holds?"""

    def join(self, event: bytes) -> bytes:
        """With the sign that belongs there. What is written as a server-sent event loses that framing."""
        self._ended = self._ended or self._cutter.broken
        if self._ended:
            return event
        if event.startswith(b"data:"):
            parsed = _core.sse_parse(event)
            event = parsed[1] if parsed is not None else event
        found = _LEAD.match(event)
        sign, at = (found[1], found.start(1)) if found else (b"", 0)
        rest = event[at + len(sign) :]
        if rest.lstrip()[:1] == b"]" and not sign:
            self._ended = True
            return event if self._opened else b"[" + event
        opened, self._opened = self._opened, True
        wanted = b"," if opened else b"["
        if sign == wanted:
            return event
        if not sign:
            return (_COMMA if opened else b"[") + event
        return event[:at] + wanted + rest

    def close(self) -> bytes:
        """The closing bracket."""
        if self._ended:
            return b""
        self._ended = True
        return b"]" if self._opened else b"[]"
