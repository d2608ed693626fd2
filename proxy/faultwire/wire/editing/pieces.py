"""Streams whose every event is a piece of the answer, in the shape of a whole one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.blocks import New, decided, shared
from faultwire.wire.editing.hold_back import Event, HoldBack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import ToolCall
    from faultwire.wire import json_bytes
    from faultwire.wire.editing.api import Change

_Content = tuple[str, tuple["ToolCall", ...]]


class PieceEditor(HoldBack):
    """Holds pieces from the first one whose content changes until the last one is there."""

    def __init__(self, change: Change) -> None:
        super().__init__(change)
        self._held: list[Event] = []
        self._over = False
        self.new: New | None = None
        """The new content of the whole answer, once that is known."""

    @abstractmethod
    def content(self, document: json_bytes.Object) -> _Content:
        """The text and the calls of a piece."""

    @abstractmethod
    def rewritten(self, data: bytes, document: json_bytes.Object, new: New) -> bytes:
        """The piece with other content."""

    @abstractmethod
    def closed(self, data: bytes, document: json_bytes.Object) -> bytes:
        """The piece with the reason and the usage that it shall have."""

    @abstractmethod
    def ends(self, document: json_bytes.Object) -> bool:
        """Does the answer end with this piece?"""

    @abstractmethod
    def is_empty(self, data: bytes) -> bool:
        """Is a piece without content, so that it can be dropped?"""

    def take(self, event: Event) -> Iterable[bytes]:
        """Hold it, pass it on, or send what was held."""
        if self._over:
            return (self.put(event, self.closed(event.data, event.document)),)
        if self.ends(event.document):
            self._over = True
            held, self._held = [*self._held, event], []
            return self._released(held)
        text, calls = self.content(event.document)
        change = self._change
        if not self._held and not (change.text and text) and not (change.calls and calls):
            return (self.put(event, self.closed(event.data, event.document)),)
        self._held.append(event)
        return ()

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        held, self._held = [event.raw for event in self._held], []
        return held

    def _released(self, held: list[Event]) -> Iterator[bytes]:
        contents = _unique([self.content(event.document) for event in held])
        text, calls = (
            "".join(words for words, _ in contents),
            tuple(call for _, own in contents for call in own),
        )
        new = self.new = decided(self._change, text, calls)
        if new is None:
            yield from (self.put(event, self.closed(event.data, event.document)) for event in held)
            return
        self.changed = True
        for event, own in zip(held, self._spread(contents, new), strict=True):
            data = event.data if own == New() else self.rewritten(event.data, event.document, own)
            last = event is held[-1]
            if last or data == event.data or not self.is_empty(data):
                yield self.put(event, self.closed(data, event.document))

    def _spread(self, contents: list[_Content], new: New) -> list[New]:
        """The new content of each piece: the text keeps its number of pieces, each call its place."""
        carriers = [at for at, (words, _) in enumerate(contents) if words]
        first_call = next((at for at, (_, calls) in enumerate(contents) if calls), len(contents) - 1)
        texts: list[str | None] = [None] * len(contents)
        if new.text is not None:
            places = carriers or [first_call]
            parts = shared_edits.pieces(new.text, len(places))
            for number, at in enumerate(places):
                texts[at] = parts[number] if number < len(parts) else ""
        calls = shared(new, [own for _, own in contents])
        return [
            New(text, own if own != contents[at][1] else None)
            for at, (text, own) in enumerate(zip(texts, calls, strict=True))
        ]


def _unique(contents: list[_Content]) -> list[_Content]:
    """Calls without ids of their own are distinguished by the piece that they come in."""
    seen: set[str] = set()
    out = []
    for at, (words, calls) in enumerate(contents):
        own = tuple(call if call.id not in seen else replace(call, id=f"{call.id}_{at}") for call in calls)
        seen.update(call.id for call in own)
        out.append((words, own))
    return out
