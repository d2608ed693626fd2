"""Rewrites streamed answers: their events are held until the answer stops, and then sent rewritten."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing.blocks import New, decided
from faultwire.wire.editing.json_stream import SSE, Framed, Gatherer
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import ResponseView, ToolCall
    from faultwire.wire.editing.api import Change


class Event(NamedTuple):
    """An event of the stream: its bytes, its type where the framing names one, and its JSON."""

    raw: bytes
    name: str
    data: bytes
    document: json_bytes.Object


Block = list[Event]
"""The events of one text, call or the like, in order."""
Made = tuple[Event, bytes]
"""An event, and the data that it shall have."""


class HoldBack(StreamEditor):
    """Reads events; what the client cannot read either is passed on unchanged."""

    framed: Framed = SSE

    def __init__(self, change: Change) -> None:
        self._change = change

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver now."""
        try:
            found = self.framed.read(event)
            if found is None:
                return (event,)
            return tuple(self.take(Event(event, *found, json_bytes.load_object(found[1]))))
        except WireError:
            return (event,)

    @abstractmethod
    def take(self, event: Event) -> Iterable[bytes]:
        """The events to deliver now, after this one."""

    def put(self, event: Event, data: bytes) -> bytes:
        """The event with other data."""
        if data == event.data:
            return event.raw
        self.changed = True
        return self.framed.swap(event.raw, data)


class BlockEditor(HoldBack):
    """For answers that come block by block, each with a number, and tell of their end.

    Blocks are held from the first one that is to change.
    """

    loose: ClassVar[bool] = False
    """Do events of no block keep their place between blocks?"""

    def __init__(self, change: Change) -> None:
        super().__init__(change)
        self._held: dict[tuple[str, int], Block] = {}
        self._arrived: list[bytes] = []
        """What is held, in the order in which it came: blocks may cross each other."""
        self._kinds: dict[tuple[str, int], str] = {}
        self._next: dict[str, int] = {}
        self._stopped = False

    # ------------------------------------------------------------ what a protocol knows

    @abstractmethod
    def reader(self) -> Gatherer:
        """What reads events of this stream."""

    @abstractmethod
    def place(self, event: Event) -> tuple[str, int] | None:
        """The row of blocks that an event belongs to and the number in it; None for one of no block."""

    @abstractmethod
    def kind(self, event: Event) -> str:
        """What the block is that begins with this event: `text`, `call`, or something else."""

    @abstractmethod
    def stops(self, event: Event) -> bool:
        """Does it tell about the answer as a whole, after all blocks?"""

    @abstractmethod
    def closing(self, event: Event, new: New | None) -> bytes:
        """The data of such an event, in agreement with the text sent."""

    @abstractmethod
    def text_block(self, block: Block, new: New) -> Iterator[Made]:
        """The block saying `new.text`."""

    @abstractmethod
    def fresh_block(self, new: New) -> Iterator[Made]:
        """A block that says `new.text`, where the answer had no text."""

    @abstractmethod
    def call_block(self, block: Block, old: ToolCall, call: ToolCall) -> Iterator[Made]:
        """The block, which makes the call `old`, making another one."""

    @abstractmethod
    def numbered(self, data: bytes, number: int) -> bytes:
        """The data of an event of a block with this number."""

    def row(self, kind: str) -> str:
        """The row in which blocks of a kind are numbered."""
        return ""

    def passing(self, event: Event) -> bytes:
        """An event that is not held."""
        return event.raw

    def moved(self, event: Event, data: bytes) -> bytes:
        """An event of an answer of which something is rewritten."""
        return self.put(event, data)

    # ------------------------------------------------------------ what is common to all

    def read(self, block: Block) -> ResponseView:
        """What these events say."""
        reader = self.reader()
        reader.framed = self.framed
        for event in block:
            reader.feed(event.raw)
        return reader.view()

    def take(self, event: Event) -> Iterable[bytes]:
        """Hold it, pass it on, or tell what was held."""
        if self.stops(event):
            return self._released(event)
        place = self.place(event)
        if place is None:
            if not (self._held and self.loose):
                return (self.passing(event),)
            place = ("loose", len(self._held))
        if place not in self._kinds:
            self._begin(place, event)
        if place not in self._held:
            return (self.passing(event),)
        self._held[place].append(event)
        self._arrived.append(event.raw)
        return ()

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        arrived, self._arrived, self._held = self._arrived, [], {}
        return arrived

    def _begin(self, place: tuple[str, int], event: Event) -> None:
        kind = self._kinds[place] = "loose" if place[0] == "loose" else self.kind(event)
        # New text stands before the first call, so calls wait for it, too.
        wanted = {"text": self._change.text, "call": self._change.calls or self._change.text}.get(kind)
        if self._held or wanted is not None:
            self._held[place] = []
        else:
            self._next[place[0]] = place[1] + 1

    def _released(self, event: Event) -> Iterator[bytes]:
        held, self._held = self._held, {}
        arrived, self._arrived = self._arrived, []
        new = None
        if not self._stopped:
            self._stopped = True
            views = [self.read(block) for block in held.values()]
            calls = tuple(call for view in views for call in view.tool_calls)
            new = decided(self._change, "".join(view.text for view in views), calls)
        if new is None:
            yield from arrived
            yield self.put(event, self.closing(event, None))
            return
        self.changed = True
        yield from self._anew(held, new)
        yield self.moved(event, self.closing(event, new))

    def _anew(self, held: dict[tuple[str, int], Block], new: New) -> Iterator[bytes]:
        kinds = [self._kinds[place] for place in held]
        sent = not new.text
        model: tuple[Block, ToolCall] | None = None
        left = list(new.calls or ())
        for kind, block in zip(kinds, held.values(), strict=True):
            if not sent and (kind == "text" or (kind == "call" and "text" not in kinds)):
                made = self.text_block(block, new) if kind == "text" else self.fresh_block(new)
                yield from self._emit("text", made)
                sent = True
                if kind == "text":
                    continue
            if kind == "text" and new.text is not None:
                continue
            if kind == "call" and new.calls is not None:
                model = (block, self.read(block).tool_calls[0])
                yield from self._called(block, model[1], left)
            else:
                yield from self._emit(kind, ((one, one.data) for one in block))
        if not sent:
            yield from self._emit("text", self.fresh_block(new))
        for call in left:
            if model is not None:
                yield from self._emit("call", self.call_block(*model, call))

    def _called(self, block: Block, old: ToolCall, left: list[ToolCall]) -> Iterator[bytes]:
        """The call that takes this one's place, if there is one."""
        call = next((one for one in left if one.id == old.id), None)
        if call is not None:
            left.remove(call)
            same = ((one, one.data) for one in block)
            yield from self._emit("call", same if call == old else self.call_block(block, old, call))

    def _emit(self, kind: str, made: Iterable[Made]) -> Iterator[bytes]:
        if kind == "loose":
            yield from (self.moved(event, data) for event, data in made)
            return
        row = self.row(kind)
        number = self._next.get(row, 0)
        self._next[row] = number + 1
        yield from (self.moved(event, self.numbered(data, number)) for event, data in made)
