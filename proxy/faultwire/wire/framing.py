"""How a stream is divided into events, by its content type. Joined events are the stream again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from faultwire import _core
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Headers


class Splitter(Protocol):
    """Cuts bytes into events, at any chunking."""

    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole events that the chunk completes, with their framing bytes."""

    def finish(self) -> bytes:
        """The event that never ended."""


EVENT_STREAM = "application/vnd.amazon.eventstream"
NDJSON = "application/x-ndjson"
SSE = "text/event-stream"

_BY_TYPE: dict[str, Callable[[], Splitter]] = {
    SSE: _core.SseSplitter,
    EVENT_STREAM: _core.EventStreamSplitter,
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


def splitter(headers: Headers) -> Splitter | None:
    """What cuts a response with these headers into events; None where it is no framed stream."""
    content_type = header(headers, "content-type") or ""
    make = _BY_TYPE.get(content_type.split(";", 1)[0].strip().lower())
    return make() if make is not None else None


def is_stream(headers: Headers) -> bool:
    """Is a response with these headers a framed stream?"""
    return splitter(headers) is not None


def events(stream: bytes, headers: Headers) -> list[bytes]:
    """The events of a whole stream; an unterminated rest is the last one."""
    cutter = splitter(headers)
    if cutter is None:
        return [stream] if stream else []
    found = cutter.feed(stream)
    rest = cutter.finish()
    return [*found, rest] if rest else found
