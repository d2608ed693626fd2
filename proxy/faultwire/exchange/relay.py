"""The way of a response's data through faults in a row: what one delivers, the next one is fed."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from faultwire.events import Chunk, Cut, Send
from faultwire.exchange.active_fault import END, STEPS, ActiveFault, depth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from faultwire.events import Action, Side
    from faultwire.faults._api import Mutator
    from faultwire.wire.framing import split as framing

    Watch = Callable[[Iterable[Action]], Iterable[Action]]


class FaultRelay:
    """Leads data through the faults of `_chain`. `ended` turns True once one of them ended the exchange; the
    faults after it are pre-empted, and nothing that upstream still says is delivered.

    Whatever gives actions gives them one by one: a fault is asked for the next only when the last one was
    performed, so that none claims what never reached the agent, which may have left. Events that nobody acts
    on are known at once.
    """

    ended = False
    _index = 0
    _unit: Literal["event", "body", "bytes"] = "bytes"
    _splitter: framing.Splitter | None = None
    _joiner: framing.Joiner | None = None
    _border = 0
    _socket = False
    _alone: Mutator | None = None
    """Of a framed stream: the only one who acts on it, where it knows beforehand on which events."""
    _place = 0
    """Its place in the chain."""
    _chain: list[ActiveFault]

    def _end(self, ender: ActiveFault, later: list[ActiveFault]) -> None:
        self.ended = True
        self._preempt(ender, later)

    def _preempt(self, ender: ActiveFault, later: list[ActiveFault]) -> None:
        for active in later:
            if active.acts and active.mutator is not None and active.mutator.effect is None:
                active.dropped = ("preempted", f"`{ender.ident}` ended the exchange first")

    # ------------------------------------------------------------ data

    def _find_alone(self) -> None:
        """Is there one fault alone that acts on this stream, and knows beforehand on which events?"""
        acting: list[int] = []
        for at, active in enumerate(self._chain):
            if active.mutator is not None and active.dropped is None:
                acting.append(at)
        if len(acting) == 1 and self._joiner is None:
            found = self._chain[acting[0]].mutator
            if found is not None and "passing" in STEPS[type(found)]:
                self._place, self._alone = acting[0], found

    def feed(self, data: bytes, watched: Watch = iter) -> Iterable[Action]:
        """Pass bytes through the chain: by event where the stream is framed, whole where held. A list where
        nobody acts on any of them; `watched` is given what faults do, to look at it action by action."""
        pieces: Sequence[bytes] = (data,) if self._splitter is None else self._splitter.feed(data)
        if self._alone is None:
            return watched(self._each(pieces))
        passing = 0 if self.ended else self._alone.passing(pieces)
        if passing < len(pieces):
            return chain.from_iterable(self._divided(self._alone, pieces, passing, watched))
        self._index += passing
        return list(map(Send, pieces))

    def _each(self, pieces: Iterable[bytes]) -> Iterator[Action]:
        for piece in pieces:
            if self.ended:
                return
            yield from self._push(0, Chunk(piece, self._index, self._unit))
            self._index += 1

    def _divided(
        self, mutator: Mutator, pieces: Sequence[bytes], passing: int, watched: Watch
    ) -> Iterator[Iterable[Action]]:
        """In turn: the events that pass, which are known at once, and what is done about the one behind."""
        at = 0
        while not self.ended:
            if passing:
                yield list(map(Send, pieces[at : at + passing]))
                at += passing
                self._index += passing
            if at < len(pieces):
                chunk = Chunk(pieces[at], self._index, "event")
                yield watched(self._deliver(self._place, mutator.feed(chunk), chunk))
                at += 1
                self._index += 1
            if at == len(pieces):
                return
            passing = 0 if self.ended else mutator.passing(pieces[at:])

    def relayed(self, actions: Iterable[Action]) -> Iterator[Action]:
        """What somebody else gives in place of upstream's bytes, through the faults here."""
        for action in actions:
            if isinstance(action, Send):
                yield from self.feed(action.data)
            else:
                yield action

    def finish(self, actions: Iterable[Action] = ()) -> Iterator[Action]:
        """What somebody else gives at the end; what is left of an unfinished event; then each fault's last
        word."""
        if actions:
            yield from self.relayed(actions)
        rest = self._splitter.finish() if self._splitter is not None else b""
        # What closes an array comes after all that the faults on its elements held back.
        place = self._border if self._joiner is not None else 0
        last = Chunk(b"", self._index, self._unit, True if self._socket else None)
        for at, active in enumerate((*self._chain, None)):
            if rest and at == place and not self.ended:
                yield from self._push(at, Chunk(rest, self._index, "bytes"))
            if self.ended or active is None:
                return
            mutator = active.mutator if active.dropped is None else None
            if mutator is not None and "finish" in STEPS[type(mutator)]:
                yield from self._deliver(at, mutator.finish(), last)

    def message(self, data: bytes, *, text: bool, by: Side) -> Iterator[Action]:
        """Pass a WebSocket message through the chain, or a client's the other way."""
        if self.ended:
            return
        if by == "client":
            yield from self._ascend(len(self._chain) - 1, Chunk(data, self._index, "event", text))
            return
        yield from self._push(0, Chunk(data, self._index, "event", text))
        self._index += 1

    def _ascend(self, start: int, chunk: Chunk) -> Iterator[Action]:
        """From the client to the server: the outermost fault comes first."""
        for at in range(start, -1, -1):
            active = self._chain[at]
            if not active.acts or active.mutator is None:
                continue
            for action in active.mutator.upward(chunk):
                if isinstance(action, Send) and action.to == "server":
                    text = chunk.text if action.text is None else action.text
                    yield from self._ascend(at - 1, Chunk(action.data, chunk.index, "event", text))
                else:
                    if isinstance(action, END):
                        self._end(active, [one for one in self._chain if one is not active])
                    yield action
                if self.ended:
                    return
            return
        yield Send(chunk.data, "server", chunk.text)

    def _push(self, start: int, chunk: Chunk) -> Iterator[Action]:
        for at in range(start, len(self._chain)):
            active = self._chain[at]
            if active.mutator is not None and active.dropped is None:
                if self._joiner is not None:
                    chunk = self._joined(start, at, chunk)
                yield from self._deliver(at, active.mutator.feed(chunk), chunk)
                return
        if self._joiner is not None:
            chunk = self._joined(start, len(self._chain), chunk)
        yield Send(chunk.data) if chunk.text is None else Send(chunk.data, "client", chunk.text, chunk.more)

    def _joined(self, start: int, at: int, chunk: Chunk) -> Chunk:
        """A piece that leaves the faults on events for those that divide it anew, or for the client."""
        if self._joiner is None or not start <= self._border <= at:
            return chunk
        data = self._joiner.join(chunk.data)
        return chunk if data == chunk.data else replace(chunk, data=data)

    def _deliver(self, at: int, actions: Iterable[Action], chunk: Chunk) -> Iterator[Action]:
        active, given = self._chain[at], 0
        for action in actions:
            if isinstance(action, Send) and action.to == "client":
                made = Chunk(action.data, chunk.index, chunk.unit)
                if chunk.text is not None:
                    # Whoever divides bytes divides a message into its fragments, not into several.
                    given += len(action.data)
                    divided = depth(active) > 0 and given < len(chunk.data)
                    text = chunk.text if action.text is None else action.text
                    made = replace(made, text=text, more=divided or action.more or chunk.more)
                if self._alone is None:
                    yield from self._push(at + 1, made)
                else:  # nobody comes after it
                    yield Send(made.data)
            else:
                if isinstance(action, Cut) and action.clean and self._joiner is not None:
                    yield Send(self._joiner.close())
                if isinstance(action, END):
                    self._end(active, self._chain[at + 1 :])
                yield action
            if self.ended:
                return
