"""What the messages of a WebSocket say together: models and agents send a text a few letters at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Name = tuple[str, str]
"""The kind of a message, and the names around a text in it."""

_TAIL: Final = 512
"""Characters of a text that are kept for what comes next."""
_TEXTS: Final = 256
"""Texts that go on, at most."""


def joined(messages: Iterable[bytes]) -> list[str]:
    """The texts that go on over several messages, by the kind of the message and the names around the text:
    every streaming protocol over WebSockets sends them so. Plain texts and bytes go on as they come."""
    pieces: dict[Name, list[str]] = {}
    for data in messages:
        for name, piece in _pieces(data):
            pieces.setdefault(name, []).append(piece)
    return ["".join(found) for found in pieces.values() if len(found) > 1]


class JoinedTexts:
    """The same for messages as they come, with the last characters of each text."""

    def __init__(self) -> None:
        self._tails: dict[Name, str] = {}

    def feed(self, data: bytes) -> list[str]:
        """What the texts in one more message go on with, each behind the end of what came before."""
        found: list[str] = []
        for name, piece in _pieces(data):
            before = self._tails.pop(name, "")
            if before:
                found.append(before + piece)
            self._tails[name] = (before + piece)[-_TAIL:]
            if len(self._tails) > _TEXTS:
                del self._tails[next(iter(self._tails))]
        return found


def _pieces(data: bytes) -> Iterator[tuple[Name, str]]:
    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text) if text.lstrip()[:1] == "{" else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        yield ("", ""), text
        return
    kind = str(value.get("type", ""))
    for name, piece in _strings(value):
        yield (kind, name), piece


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
