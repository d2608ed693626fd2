"""Redaction of WebSocket messages: each by itself, and what the pieces in several of them say when joined.

A model that speaks over a WebSocket sends a few letters per message, so a secret that it repeats stands in no
single one. Messages wait until more have come; the ones that wait are looked through as one text.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from faultwire import _core
from faultwire.tape.redact.edit import merged
from faultwire.tape.redact.stream import TextPiece, joined_edits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Message
    from faultwire.tape.redact.edit import Edit
    from faultwire.tape.redact.redactor import Counts, Redactor

MOST: Final = 512
"""Messages of one connection that wait, at most."""
MOST_BYTES: Final = 32 << 10
"""Bytes of them, at most. A secret that is spread over more messages or bytes is not found in pieces."""
_DEPTH: Final = 8
"""Objects and lists around each other in which pieces are looked for."""

Piece = tuple[tuple[str, str], int, int]
"""The kind of message and the names around a text, and where the text stands in the message."""


class WaitingMessages:
    """The messages of one connection, each redacted by itself, until they may be stored."""

    def __init__(self, redactor: Redactor, counts: Counts) -> None:
        self._redactor = redactor
        self._counts = counts
        self._held: list[tuple[Message, bytes]] = []
        self._pieces: list[list[Piece]] = []
        """The texts of each, found when it came: it waits through several looks."""
        self._size = 0

    def add(self, message: Message, clean: bytes) -> None:
        """One more, with its data as redacted by itself."""
        self._held.append((message, clean))
        self._pieces.append(_pieces(clean))
        self._size += len(clean)

    def release(self, *, final: bool) -> list[tuple[Message, bytes]]:
        """Those that may be stored now, in order, redacted. `final`: no more come."""
        full = len(self._held) > MOST or self._size > MOST_BYTES
        if not self._held or not (final or full):
            return []
        starts = [0, *accumulate(len(data) + 1 for _, data in self._held)]
        edits = self._edits()
        count = len(self._held) if final else max(1, len(self._held) // 2)
        while not final:
            bound = starts[count]
            # A secret of which a part must wait waits whole, unless it is that which fills the room.
            begin = min((first for first, last in edits if first < bound <= last), default=bound)
            at = bisect_right(starts, begin) - 1
            if begin == bound or at == 0:
                break
            count = at
        done = self._applied(edits, starts, count)
        del self._held[:count], self._pieces[:count]
        self._size = sum(len(data) for _, data in self._held)
        return done

    def _edits(self) -> dict[tuple[int, int], list[Edit]]:
        """The edits of each secret, by the places of its first and its last character."""
        text = "\n".join(data.decode("latin-1") for _, data in self._held)
        groups: dict[tuple[str, ...], list[TextPiece]] = {}
        at = 0
        for (message, data), found_in in zip(self._held, self._pieces, strict=True):
            for name, start, end in found_in:
                piece = TextPiece(name[1], at + start, at + end)
                groups.setdefault((message.by, *name), []).append(piece)
            at += len(data) + 1
        found: dict[tuple[int, int], list[Edit]] = {}
        for pieces in groups.values():
            if len(pieces) > 1:
                for parts in joined_edits(text, pieces, self._redactor.rules):
                    found[parts[0].start, parts[-1].end] = parts
        return found

    def _applied(
        self, edits: dict[tuple[int, int], list[Edit]], starts: list[int], count: int
    ) -> list[tuple[Message, bytes]]:
        by_message: dict[int, list[Edit]] = {}
        for (first, _), parts in edits.items():
            if first < starts[count]:
                for part in parts:
                    at = bisect_right(starts, part.start) - 1
                    place = starts[at]
                    moved = part._replace(start=part.start - place, end=part.end - place, lead=-1)
                    by_message.setdefault(at, []).append(moved)
        for at, own in by_message.items():
            message, data = self._held[at]
            clean, _ = self._redactor.apply(data, merged(own), self._counts)
            self._held[at] = (message, clean)
            if at >= count:
                self._pieces[at] = _pieces(clean)
        return self._held[:count]


def _pieces(data: bytes) -> list[Piece]:
    """The texts in a message: every string of a JSON document, with its kind and the names around the text;
    else all that it is."""
    try:
        value = json.loads(data) if data.lstrip()[:1] == b"{" else None
        if isinstance(value, dict):
            kind = value.get("type")
            return list(_strings(data, 0, len(data), (kind if isinstance(kind, str) else "", "$")))
    except (ValueError, RecursionError):
        pass  # it is no JSON, or not what the core takes for JSON
    return [(("", ""), 0, len(data))]


def _strings(data: bytes, start: int, end: int, name: tuple[str, str], depth: int = 0) -> Iterator[Piece]:
    for key, first, last in _core.json_children(data[start:end], ()):
        inner = data[start + first : start + last]
        path = name[1] + (f".{key}" if isinstance(key, str) else "[]")
        if inner[:1] == b'"':
            if path != "$.type":
                yield (name[0], path), start + first + 1, start + last - 1
        elif inner[:1] in (b"{", b"[") and depth < _DEPTH:
            yield from _strings(data, start + first, start + last, (name[0], path), depth + 1)
