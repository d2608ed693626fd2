"""What an agent sent in an exchange, with its encodings undone: path, body, WebSocket messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.checks._api import unknown
from faultwire.checks._transcripts import place, quoted_place
from faultwire.wire.framing.joined import joined
from faultwire.wire.framing.readings import Readings, of_path, readings

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Recorded, Verdict


def sent(exchange: Recorded) -> Readings:
    """All that a scan of a request must look at, and why some of it could not be read."""
    request = exchange.request
    parts = [of_path(request.path), readings(request.body or b"", request.headers)]
    own = [one.data for one in exchange.messages if one.by == "client" and one.sent_ns is not None]
    parts += [readings(data) for data in own]
    parts += [readings(text.encode("utf-8", "replace")) for text in joined(own)]
    texts = dict.fromkeys(text for part in parts for text in part.texts)
    return Readings(tuple(texts), next((part.unread for part in parts if part.unread), None))


def clean_place(exchange: Recorded, find: Callable[[str], list[str]]) -> str:
    """Host and path for explanations; only the host where something is found in the path."""
    path = exchange.request.path.partition("?")[0]
    return exchange.request.host if any(map(find, of_path(path).texts)) else place(exchange)


def unread_request(exchange: Recorded, what: Readings) -> Verdict | None:
    """Unknown, with the reason, where a request could not be read whole."""
    if what.unread is None:
        return None
    return unknown(f"what a request to {quoted_place(exchange)} holds cannot be read: {what.unread}")
