"""The faults that act on one exchange, chained: what one delivers, the next one is fed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultwire._core import SseSplitter
from faultwire.events import Chunk, Cut, Reset, Send, header
from faultwire.faults._api import Mutator, Need
from faultwire.wire import sse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.decide import Decision
    from faultwire.events import Action, Exchange, Outcome, Response


@dataclass(slots=True)
class Running:
    """A decision and, where it fires, its mutator. `dropped` says why it no longer acts."""

    decision: Decision
    mutator: Mutator | None
    dropped: tuple[Outcome, str] | None = None

    @property
    def acts(self) -> bool:
        """Is there still something to ask it?"""
        return self.mutator is not None and self.dropped is None

    @property
    def needs(self) -> Need:
        """What it must be shown."""
        return self.decision.entry.fault.needs


class Course:
    """The chain. `ended` turns True once a fault ended the exchange; the faults after it are
    pre-empted, and nothing that upstream still says is delivered."""

    def __init__(self) -> None:
        self.all: list[Running] = []
        self.ended = False
        self.touches = False
        self.holds = False
        self._late: list[tuple[Action, int]] = []
        self._index = 0
        self._unit: Literal["event", "body", "bytes"] = "bytes"
        self._splitter: SseSplitter | None = None
        self._packed: str | None = None

    def add(self, running: Running) -> None:
        """Append a decision, in the order of composition."""
        self.all.append(running)

    @property
    def needs(self) -> Need:
        """What the faults that still act must be shown."""
        needs = Need.HEAD
        for running in self.all:
            if running.acts:
                needs |= running.needs
        return needs

    def depart(self) -> tuple[list[Action], Response | None]:
        """The actions before upstream is called, and an answer given in its place."""
        actions: list[Action] = []
        for at, running in enumerate(self.all):
            if running.mutator is None:
                continue
            for action in running.mutator.before():
                actions.append(action)
                if isinstance(action, Cut | Reset):
                    self._end(at)
                    return actions, None
            answer = running.mutator.answer()
            if answer is not None:
                self._end(at)
                return actions, answer
        return actions, None

    def _end(self, at: int) -> None:
        self.ended = True
        ender = self.all[at].decision.entry.id
        for later in self.all[at + 1 :]:
            if later.acts and later.mutator is not None and later.mutator.effect is None:
                later.dropped = ("preempted", f"`{ender}` ended the exchange first")

    # ------------------------------------------------------------ response

    def arrive(self, exchange: Exchange) -> Response:
        """Take the response head: drop who cannot act on it, and say how the body is to be fed."""
        response = exchange.response
        if response is None:
            raise ValueError("a response head is needed")
        streams = sse.is_sse(response.headers)
        self._packed = header(response.headers, "content-encoding")
        for running in self.all:  # each sees the head as those before it leave it
            self._drop_unfit(running, replace(exchange, response=response), streams)
            if running.acts and running.mutator is not None:
                response = running.mutator.head(response)
                self.touches = True
        needs = self.needs
        if streams and needs & Need.EVENTS:
            self._splitter, self._unit = SseSplitter(), "event"
        elif needs & Need.BODY and not streams:
            self.holds, self._unit = True, "body"
        return response

    def join(self, running: Running) -> None:
        """Add a fault that was decided on the response head: what it would have done before the call
        is done before the first byte, and its answer takes the place of the one that came."""
        mutator = running.mutator
        if mutator is not None:
            self._late.extend((action, len(self.all)) for action in mutator.before())
            answer = mutator.answer()
            if answer is not None:
                running.mutator = _Instead(mutator, answer)
        self.all.append(running)

    def _overdue(self) -> list[Action]:
        out: list[Action] = []
        late, self._late = self._late, []
        for action, at in late:
            if self.ended:
                break
            out.append(action)
            if isinstance(action, Cut | Reset):
                self._end(at)
        return out

    def _drop_unfit(self, running: Running, exchange: Exchange, streams: bool) -> None:
        mutator = running.mutator
        if mutator is None or mutator.effect is not None or not running.acts:
            return
        why = running.decision.entry.fault.inapplicable(exchange)
        reads = Need.EVENTS if streams else Need.BODY
        if why is None and running.needs & reads and self._packed not in (None, "identity"):
            why = f"the body is packed with `{self._packed}` although identity was asked for"
        if why is not None:
            running.dropped = ("inapplicable", why)

    def feed(self, data: bytes) -> list[Action]:
        """Pass bytes through the chain: by event where the stream is framed, whole where held."""
        if self._splitter is not None:
            pieces: Iterable[bytes] = self._splitter.feed(data)
        else:
            pieces = (data,)
        out = self._overdue()
        for piece in pieces:
            if self.ended:
                break
            self._push(0, Chunk(piece, self._index, self._unit), out)
            self._index += 1
        return out

    def finish(self) -> list[Action]:
        """What is left of an unfinished event, then each fault's last word."""
        out = self._overdue()
        rest = self._splitter.finish() if self._splitter is not None else b""
        if rest and not self.ended:
            self._push(0, Chunk(rest, self._index, "bytes"), out)
        for at, running in enumerate(self.all):
            if self.ended:
                break
            if running.acts and running.mutator is not None:
                self._deliver(at, running.mutator.finish(), Chunk(b"", self._index, self._unit), out)
        return out

    def _push(self, start: int, chunk: Chunk, out: list[Action]) -> None:
        for at in range(start, len(self.all)):
            running = self.all[at]
            if running.acts and running.mutator is not None:
                self._deliver(at, running.mutator.feed(chunk), chunk, out)
                return
        out.append(Send(chunk.data))

    def _deliver(self, at: int, actions: Iterable[Action], chunk: Chunk, out: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Send):
                self._push(at + 1, Chunk(action.data, chunk.index, chunk.unit), out)
            else:
                out.append(action)
                if isinstance(action, Cut | Reset):
                    self._end(at)
            if self.ended:
                return


class _Instead(Mutator):
    """Gives an answer in place of one that upstream has already begun."""

    def __init__(self, fault: Mutator, answer: Response) -> None:
        self._answer = answer
        self.effect = fault.effect

    def head(self, response: Response) -> Response:
        return self._answer

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        return ()

    def finish(self) -> Iterable[Action]:
        yield Send(self._answer.body or b"")
