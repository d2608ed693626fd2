"""Redaction of WebSocket messages: each by itself, and what the pieces in several of them say when joined.

A model that speaks over a WebSocket sends a few letters per message, so a secret that it repeats stands in no
single one. Messages wait until more have come; the ones that wait are looked through as one text. They wait
as they came: without the beginning of a secret nobody would know the rest of it in the next message.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from faultwire import _core
from faultwire.tape.redact.edit import merged
from faultwire.tape.redact.stream import TextPiece, ahead, joined_edits, whole_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


class _Held(NamedTuple):
    """A message that waits."""

    message: Message
    data: bytes
    """What came, but for the rest of a secret that was released before it."""
    pieces: list[Piece]
    """Its texts, found when it came: it waits through several looks."""
    own: list[Edit]
    """Where its secrets are by itself, found at the same time."""


class WaitingMessages:
    """The messages of one connection until they may be stored."""

    def __init__(self, redactor: Redactor, counts: Counts) -> None:
        self._redactor = redactor
        self._counts = counts
        self._held: list[_Held] = []
        self._size = 0

    def add(self, message: Message) -> None:
        """One more, as it came."""
        self._held.append(self._looked(message, message.data))
        self._size += len(message.data)

    def release(self, *, final: bool) -> list[tuple[Message, bytes]]:
        """Those that may be stored now, in order, redacted. `final`: no more come."""
        full = len(self._held) > MOST or self._size > MOST_BYTES
        if not (final or full):
            return []
        starts = [0, *accumulate(len(one.data) + 1 for one in self._held)]
        edits = self._edits()
        count = len(self._held) if final else max(1, len(self._held) // 2)
        while not final:
            bound = starts[count]
            # A secret of which a part must wait waits whole, unless it is that which fills the room.
            begin = min([bound, *(first for first, last in edits if last > bound)])
            at = bisect_right(starts, begin) - 1
            if begin == bound or at == 0:
                break
            count = at
        done = self._applied(edits, starts, count)
        del self._held[:count]
        self._size = sum(len(one.data) for one in self._held)
        return done

    def _edits(self) -> dict[tuple[int, int], list[Edit]]:
        """The edits of each secret, by the places of its first and its last character."""
        text = "\n".join(one.data.decode("latin-1") for one in self._held)
        groups: dict[tuple[str, ...], list[TextPiece]] = {}
        at = 0
        for one in self._held:
            for name, start, end in one.pieces:
                piece = TextPiece(name[1], at + start, at + end)
                groups.setdefault((one.message.by, *name), []).append(piece)
            at += len(one.data) + 1
        found: dict[tuple[int, int], list[Edit]] = {}
        for pieces in groups.values():
            for parts in joined_edits(text, pieces, self._redactor.rules):
                found[parts[0].start, parts[-1].end] = parts
        return found

    def _looked(self, message: Message, data: bytes) -> _Held:
        own = whole_edits(data.decode("latin-1"), self._redactor.rules)
        return _Held(message, data, _pieces(data), own)

    def _applied(
        self, edits: dict[tuple[int, int], list[Edit]], starts: list[int], count: int
    ) -> list[tuple[Message, bytes]]:
        reached = [parts for (first, _), parts in edits.items() if first < starts[count]]
        found: dict[int, list[Edit]] = {}
        # As in `stream`: what goes on in another message, then what is found in one by itself, then the rest.
        _sort(ahead(reached), starts, found)
        for at, one in enumerate(self._held[:count]):
            found.setdefault(at, []).extend(one.own)
        _sort((parts[0] for parts in reached if len(parts) == 1), starts, found)
        for at, each in found.items():
            one = self._held[at]
            clean, _ = self._redactor.apply(one.data, merged(each), self._counts)
            # Of one that waits on, what is left is looked through anew.
            self._held[at] = self._looked(one.message, clean) if at >= count else one._replace(data=clean)
        return [(one.message, one.data) for one in self._held[:count]]


def _sort(edits: Iterable[Edit], starts: list[int], found: dict[int, list[Edit]]) -> None:
    """Put each to those of its message, counted from its beginning."""
    for edit in edits:
        at = bisect_right(starts, edit.start) - 1
        place = starts[at]
        moved = edit._replace(start=edit.start - place, end=edit.end - place)
        found.setdefault(at, []).append(moved)


def _pieces(data: bytes) -> list[Piece]:
    """The texts in a message: every string of a JSON document, with its kind and the names around the text;
    else all that it is."""
    try:
        value = json.loads(data)
        if isinstance(value, dict):
            kind = value.get("type")
            return list(_strings(data, 0, (kind if isinstance(kind, str) else "", "$")))
    except (ValueError, RecursionError):
        pass  # it is no JSON, or not what the core takes for JSON
    return [(("", ""), 0, len(data))]


def _strings(data: bytes, at: int, name: tuple[str, str], depth: int = 0) -> Iterator[Piece]:
    """Those in a JSON value, which stands at `at` of the message."""
    for key, first, last in _core.json_children(data, ()):
        inner = data[first:last]
        path = name[1] + (f".{key}" if isinstance(key, str) else "[]")
        if inner.startswith(b'"'):
            # The kind is the same in all messages of a group: joined it says nothing.
            if path != "$.type":
                yield (name[0], path), at + first + 1, at + last - 1
        elif depth < _DEPTH:
            yield from _strings(inner, at + first, (name[0], path), depth + 1)
