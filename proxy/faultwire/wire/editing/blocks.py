"""Rewrites answers: an array of texts and calls (blocks, parts, items) of which some change.

What stays keeps its bytes, and so does everything in a changed element that is not its text or call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Path, ToolCall
    from faultwire.wire.editing.api import Change, Finish


class New(NamedTuple):
    """The new content; None: unchanged. `refuse`: where refusals are declared."""

    text: str | None = None
    calls: tuple[ToolCall, ...] | None = None
    refuse: bool = False


def decided(change: Change, text: str, calls: tuple[ToolCall, ...]) -> New | None:
    """What a change makes of an answer, None where it leaves it as it is.

    Calls are changed where there are some: a model that makes none is not made to call.
    """
    new_text = text if change.text is None else change.text(text)
    new_calls = calls if change.calls is None or not calls else change.calls(calls)
    refuse = change.refuse and bool(new_text)
    if new_text == text and new_calls == calls and not refuse:
        return None
    return New(
        new_text if new_text != text or refuse else None, new_calls if new_calls != calls else None, refuse
    )


def stop_word(words: dict[Finish, str], change: Change, reason: object) -> str | None:
    """What shall stand where a protocol tells why it stopped; None where nothing is to change."""
    was = change.finish_was
    if change.finish is None or not reason or (was is not None and reason != words[was]):
        return None
    word = words[change.finish]
    return None if reason == word else word


def value_of(arguments: str) -> bytes:
    """Arguments where they are a JSON value and no text: what is no JSON becomes a string."""
    try:
        json_bytes.load(arguments)
    except WireError:
        return json_bytes.dump(arguments)
    return arguments.encode("utf-8", "replace")


class Shape(ABC):
    """How the elements of an array tell text and calls; by default they tell no text."""

    def is_text(self, element: json_bytes.Object) -> bool:
        """Is this text that the model says to the user?"""
        return False

    @abstractmethod
    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        """The call that this is; one without an id gets one by its place, which is never written."""

    def with_text(self, element: bytes, new: New) -> bytes:
        """The element with `new.text` in place of its text; nothing where nothing is left of it."""
        return element

    @abstractmethod
    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        """The element with another call in it."""

    def fresh(self, new: New) -> bytes:
        """An element that says `new.text`."""
        return b'{"type":"text","text":' + json_bytes.dump(new.text) + b"}"

    def calls(self, array: object) -> tuple[ToolCall, ...]:
        """The calls, in order."""
        found = (self.call(element, at) for at, element in json_bytes.objects(array))
        return tuple(call for call in found if call is not None)

    def rewritten(self, body: bytes, place: Path, new: New) -> bytes:
        """The body with the array at `place` rewritten: the first text holds the whole text."""
        array = _part(body, place)
        kept, more = self._elements(array, new)
        for at in reversed(range(len(kept))):
            element = kept[at]
            if element == b"":
                array = json_bytes.drop(array, (at,))
            elif element is not None:
                array = json_bytes.put(array, (at,), element)
        for element in more:
            array = json_bytes.insert(array, None, element)
        if new.text and not any(
            self.is_text(element) for _, element in json_bytes.objects(json_bytes.load(array))
        ):
            array = json_bytes.insert(array, self._place(array), self.fresh(new))
        return json_bytes.put(body, place, array)

    def _elements(self, array: bytes, new: New) -> tuple[list[bytes | None], list[bytes]]:
        """What becomes of each element (None: nothing, empty: it goes), and what is added."""
        elements = shared_edits.elements(array, ())
        out: list[bytes | None] = [None] * len(elements)
        left, sent, model = list(new.calls or ()), False, b""
        for at, element in json_bytes.objects(json_bytes.load(array)):
            call = self.call(element, at)
            if new.text is not None and self.is_text(element):
                out[at] = self.with_text(elements[at], New("") if sent else new)
                sent = sent or bool(out[at])
            elif call is not None and new.calls is not None:
                model = elements[at]
                out[at] = self._instead(model, call, left)
        return out, [self.with_call(model, call) for call in left] if model else []

    def _instead(self, element: bytes, call: ToolCall, left: list[ToolCall]) -> bytes | None:
        found = next((one for one in left if one.id == call.id), None)
        if found is None:
            return b""
        left.remove(found)
        return None if found == call else self.with_call(element, found)

    def _place(self, array: bytes) -> int | None:
        """New text stands before the first call."""
        elements = json_bytes.objects(json_bytes.load(array))
        return next((at for at, element in elements if self.call(element, at) is not None), None)


def _part(body: bytes, place: Path) -> bytes:
    found = json_bytes.span(body, place)
    array = body[slice(*found)] if found else b""
    return array if array[:1] == b"[" else b"[]"


def shared(new: New, own: Sequence[Sequence[ToolCall]]) -> list[tuple[ToolCall, ...] | None]:
    """Which of the new calls each of several carriers tells: its own ones, and the last one all others."""
    if new.calls is None:
        return [None] * len(own)
    known = [{call.id for call in calls} for calls in own]
    out = [tuple(call for call in new.calls if call.id in ids) for ids in known]
    more = tuple(call for call in new.calls if not any(call.id in ids for ids in known))
    last = max((at for at, calls in enumerate(own) if calls), default=None)
    if last is not None:
        out[last] += more
    return list(out)
