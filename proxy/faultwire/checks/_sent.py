"""What an agent sent in an exchange, with its encodings undone: path, body, WebSocket messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from faultwire.checks._api import quoted, unknown
from faultwire.checks._transcripts import place
from faultwire.wire.framing.readings import Readings, of_path, readings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
    return unknown(f"what a request to {quoted(place(exchange))} holds cannot be read: {what.unread}")


def joined(messages: Iterable[bytes]) -> list[str]:
    """What the pieces in messages say together: by the kind of the message and the names around the text that
    holds them, as every streaming protocol over WebSockets sends them; plain texts and bytes as they come."""
    pieces: dict[tuple[str, str], list[str]] = {}
    for data in messages:
        text = data.decode("utf-8", "replace")
        try:
            value = json.loads(text) if text.lstrip()[:1] == "{" else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            pieces.setdefault(("", ""), []).append(text)
            continue
        kind = str(value.get("type", ""))
        for name, piece in _strings(value):
            pieces.setdefault((kind, name), []).append(piece)
    return ["".join(found) for found in pieces.values() if len(found) > 1]


def _strings(value: Any) -> Iterator[tuple[str, str]]:
    """Every text of a document with the names around it, but for its own type."""
    waiting: list[tuple[str, Any]] = [("$", value)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, dict):
            waiting += [(f"{name}.{key}", inner) for key, inner in reversed(one.items())]
        elif isinstance(one, list):
            waiting += [(f"{name}[]", inner) for inner in reversed(one)]
        elif isinstance(one, str) and name != "$.type":
            yield name, one
