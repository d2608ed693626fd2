"""Server-sent events: typed face of the core's framing, and edits that keep it.

An event here is its bytes with the blank line that ends it. Joined events are the stream again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Headers


class Fields(NamedTuple):
    """What a client reads in an event; `name` is empty where no `event:` line gives one."""

    name: str
    data: bytes


def is_sse(headers: Headers) -> bool:
    """Does this response stream server-sent events?"""
    content_type = header(headers, "content-type") or ""
    return content_type.split(";", 1)[0].strip().lower() == "text/event-stream"


def events(stream: bytes) -> list[bytes]:
    """The events of a whole stream; an unterminated rest is the last one."""
    splitter = _core.SseSplitter()
    found = splitter.feed(stream)
    rest = splitter.finish()
    return [*found, rest] if rest else found


def fields(event: bytes) -> Fields | None:
    """The event as a client reads it, None where it would not be dispatched (comments, keep-alives)."""
    parsed = _core.sse_parse(event)
    return None if parsed is None else Fields(parsed[0] or "", parsed[1])


def write(data: bytes, name: str = "") -> bytes:
    """One event as the providers write it; `data` holds no line break."""
    return (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + data + b"\n\n"


def with_data(event: bytes, data: bytes) -> bytes:
    """The event with its data replaced by one line of it, all other lines kept as they are."""
    lines = event.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if _is_data(line)]
    if not places:
        return event
    line = lines[places[0]]
    bom = line[: len(line) - len(line.removeprefix(_BOM))]
    colon = b"data: " if line.removeprefix(_BOM).startswith(b"data: ") else b"data:"
    ending = line[len(line.rstrip(b"\r\n")) :]
    lines[places[0]] = bom + colon + data + ending
    return b"".join(line for at, line in enumerate(lines) if at == places[0] or at not in places)


_BOM = b"\xef\xbb\xbf"


def _is_data(line: bytes) -> bool:
    bare = line.removeprefix(_BOM)
    return bare.startswith(b"data:") or bare.rstrip(b"\r\n") == b"data"
