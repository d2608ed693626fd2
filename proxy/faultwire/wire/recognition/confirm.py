"""Does an answer come from a server that speaks the protocol which its request seemed to be of?

A path like `/chat/completions` and a body with messages can be anybody's: a gateway that logs whole
conversations is asked in the same words. The answer tells them apart. It is asked only where nothing else
settles it: not for hosts that a provider runs, and not for errors, which anybody answers in his own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire import _core
from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.framing import split as framing, sse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Response

FEW = 8
"""Events of a stream that are looked at."""
MUCH = 256 << 10
"""Bytes of a body that are looked at, where it is no JSON as a whole."""
_NAMED_BY = ("object", "type", "event_type")
_PAGES = ("text/html", "application/xhtml+xml")


class Signs(NamedTuple):
    """What shows that an answer is of a protocol.

    `members` of a JSON object, of which one has to be there; `words` with which its `object`, `type` or
    `event_type` begins; `media` types that nobody else has. `bare` says that any JSON object may be an
    answer, because what it holds is up to each model.
    """

    members: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    bare: bool = False


def by_signs(signs: Signs, response: Response, splitter: framing.Splitter | None) -> bool | None:
    """Does this answer show one of the signs? None: it does not tell. Its body is unpacked, and may be
    only the beginning."""
    body = response.body or b""
    if not 200 <= response.status < 300 or not body.strip():
        return None
    kind = framing.content_type(response.headers)
    if kind in signs.media:
        return True
    found = None
    for document in _documents(body, splitter):
        shown = _shows(signs, document)
        if shown:
            return True
        found = shown if found is None else found
    if found is None and (kind in _PAGES or body.lstrip()[:1] == b"<" or kind.startswith("image/")):
        return False
    if found is None and kind.startswith("text/plain"):
        return False
    return found


def _shows(signs: Signs, document: Any) -> bool | None:
    if not isinstance(document, dict):
        return None if signs.bare else False
    if any(name in document for name in signs.members):
        return True
    for name in _NAMED_BY:
        if signs.words and json_bytes.string(document.get(name)).startswith(signs.words):
            return True
    # An error with status 200 is one of the ways in which servers of every kind fail.
    failed = "error" in document or document.get("object") == "error" or document.get("type") == "error"
    return None if failed or not document or signs.bare else False


def _documents(body: bytes, splitter: framing.Splitter | None) -> Iterator[Any]:
    """What the body says in JSON: as a whole, or in its first events."""
    if splitter is None:
        try:
            document = json_bytes.load(body)
        except WireError:
            return
        yield from (document[:1] or [{}]) if isinstance(document, list) else [document]
        return
    for event in splitter.feed(body[:MUCH])[:FEW]:
        data = _payload(event)
        if data.startswith(b"[DONE]"):
            yield {"choices": None}
        elif data:
            try:
                yield json_bytes.load(data)
            except WireError:
                continue


def _payload(event: bytes) -> bytes:
    """The data of one event, however it is framed."""
    if event[:1] == b"\0":
        try:
            return _core.eventstream_parse(event)[1]
        except ValueError:
            return b""
    fields = sse.fields(event)
    if fields is not None and fields.data:
        return fields.data
    return event.strip().lstrip(b"[,").strip()
