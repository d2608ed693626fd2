"""The faults that act on one exchange, chained: what one delivers, the next one is fed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultwire.events import Chunk, Cut, Reset, Send, header, with_header
from faultwire.faults._api import Mutator, Need
from faultwire.wire import framing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    def ident(self) -> str:
        """The entry's id."""
        return self.decision.entry.id

    @property
    def needs(self) -> Need:
        """What it must be shown."""
        return self.decision.entry.fault.needs


class Course:
    """The chain. `ended` turns True once a fault ended the exchange; the faults after it are
    pre-empted, and nothing that upstream still says is delivered. `answer` is set once a fault gave an
    answer of its own before the call.

    Whatever gives actions gives them one by one: a fault is asked for the next only when the last one
    was performed, so that none claims what the agent, who may have left, never met.

    Before the call faults act in the order of composition. The response passes them from the inside
    out: what the model and the server said first, then how it is divided, then the connection.
    """

    def __init__(self) -> None:
        self.all: list[Running] = []
        self.ended = False
        self.answer: Response | None = None
        self.touches = False
        self.holds = False
        self._chain: list[Running] = []
        self._late: list[Running] = []
        self._index = 0
        self._unit: Literal["event", "body", "bytes"] = "bytes"
        self._splitter: framing.Splitter | None = None
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

    def depart(self) -> Iterator[Action]:
        """The actions before upstream is called; `answer` is valid after the last."""
        for at, running in enumerate(self.all):
            if running.mutator is None or not running.acts:
                continue
            for action in running.mutator.before():
                if isinstance(action, Cut | Reset):
                    self._end(running, self.all[at + 1 :])
                    self._unsent(running)
                    yield action
                    return
                yield action
            answer = running.mutator.answer()
            if answer is not None:
                self._preempt(running, self.all[at + 1 :])
                self._unsent(running)
                self.answer = self._surrounded(running, self.all[:at], _final(running, answer))
                return

    def _surrounded(self, ender: Running, earlier: list[Running], answer: Response) -> Response:
        """An answer of ours reaches the agent through the faults on the connection before it; what
        others before it would have done to upstream's answer is not done to this one."""
        for running in earlier:
            if not running.acts or running.mutator is None:
                continue
            if running.decision.entry.fault.site == "connection":
                self._chain.append(running)
                answer = running.mutator.head(answer)
                self.touches = self.touches or _shapes(running.mutator)
            elif running.mutator.effect is None:
                running.dropped = ("preempted", f"`{ender.ident}` replaced the answer")
        return answer

    def _unsent(self, ender: Running) -> None:
        """Nothing goes upstream, so a fault on the request has nothing to change."""
        for running in self.all:
            if running.acts and running.decision.entry.fault.site == "request":
                running.dropped = ("preempted", f"`{ender.ident}` ended the exchange first")

    def _end(self, ender: Running, later: list[Running]) -> None:
        self.ended = True
        self._preempt(ender, later)

    def _preempt(self, ender: Running, later: list[Running]) -> None:
        for running in later:
            if running.acts and running.mutator is not None and running.mutator.effect is None:
                running.dropped = ("preempted", f"`{ender.ident}` ended the exchange first")

    # ------------------------------------------------------------ response

    def arrive(self, exchange: Exchange) -> Response:
        """Take the response head: drop who cannot act on it, and say how the body is to be fed."""
        response = exchange.response
        if response is None:
            raise ValueError("a response head is needed")
        splitter = framing.splitter(response.headers)
        streams = splitter is not None
        self._packed = header(response.headers, "content-encoding")
        self._chain = sorted(self.all, key=_depth)
        met = [running for running in self._chain if running.mutator and running.mutator.effect]
        for at, running in enumerate(self._chain):  # each sees the head as those before it leave it
            if exchange.response is not response:
                exchange = replace(exchange, response=response)
            self._drop_unfit(running, exchange, streams)
            if running.acts and running.mutator is not None:
                delivered = running.mutator.head(response)
                response = delivered if delivered is response else _final(running, delivered)
                self.touches = self.touches or _shapes(running.mutator)
                if running.mutator.replaces:
                    self._outdo(running, self._chain[:at], met)
        needs = self.needs
        if splitter is not None and needs & Need.EVENTS:
            self._splitter, self._unit = splitter, "event"
        elif needs & Need.BODY and not streams:
            self.holds, self._unit = True, "body"
        return response

    def _outdo(self, replacer: Running, earlier: list[Running], met: list[Running]) -> None:
        """Nothing of what these deliver reaches the agent, except for what it met before the call."""
        for running in earlier:
            if running.acts and not any(running is one for one in met):
                running.dropped = ("preempted", f"`{replacer.ident}` replaced the answer")

    def join(self, running: Running) -> None:
        """Add a fault that was decided on the response head; `pending` and `arrive` follow."""
        self.all.append(running)
        self._late.append(running)

    def pending(self) -> Iterator[Action]:
        """What the faults that joined would have done before the call is done before the first byte of
        the response, and their answer takes the place of the one that came."""
        for running in self._late:
            if running.mutator is None or not running.acts:
                continue
            for action in running.mutator.before():
                if isinstance(action, Cut | Reset):
                    self._end(running, [one for one in self.all if one is not running])
                    yield action
                    return
                yield action
            answer = running.mutator.answer()
            if answer is not None:
                running.mutator = _Instead(running.mutator, answer)

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

    def feed(self, data: bytes) -> Iterator[Action]:
        """Pass bytes through the chain: by event where the stream is framed, whole where held."""
        pieces: Iterable[bytes] = (data,) if self._splitter is None else self._splitter.feed(data)
        for piece in pieces:
            if self.ended:
                return
            yield from self._push(0, Chunk(piece, self._index, self._unit))
            self._index += 1

    def finish(self) -> Iterator[Action]:
        """What is left of an unfinished event, then each fault's last word."""
        rest = self._splitter.finish() if self._splitter is not None else b""
        if rest and not self.ended:
            yield from self._push(0, Chunk(rest, self._index, "bytes"))
        for at, running in enumerate(self._chain):
            if self.ended:
                return
            if running.acts and running.mutator is not None:
                yield from self._deliver(at, running.mutator.finish(), Chunk(b"", self._index, self._unit))

    def _push(self, start: int, chunk: Chunk) -> Iterator[Action]:
        for at in range(start, len(self._chain)):
            running = self._chain[at]
            if running.acts and running.mutator is not None:
                yield from self._deliver(at, running.mutator.feed(chunk), chunk)
                return
        yield Send(chunk.data)

    def _deliver(self, at: int, actions: Iterable[Action], chunk: Chunk) -> Iterator[Action]:
        for action in actions:
            if isinstance(action, Send):
                yield from self._push(at + 1, Chunk(action.data, chunk.index, chunk.unit))
            else:
                if isinstance(action, Cut | Reset):
                    self._end(self._chain[at], self._chain[at + 1 :])
                yield action
            if self.ended:
                return


def _shapes(mutator: Mutator) -> bool:
    """Can it change what upstream's answer looks like? One that only waits before the call cannot."""
    kind = type(mutator)
    return kind.head is not Mutator.head or kind.feed is not Mutator.feed or kind.finish is not Mutator.finish


def _depth(running: Running) -> int:
    """How far outside a fault acts on a response; equal ones keep their order."""
    fault = running.decision.entry.fault
    return 2 if fault.site == "connection" else int(fault.outermost)


def _final(running: Running, response: Response) -> Response:
    """An answer of ours, which says so to SDKs where the profile wants no repetition."""
    if not running.decision.entry.trigger.no_sdk_retry:
        return response
    return replace(response, headers=with_header(response.headers, "x-should-retry", "false"))


class _Instead(Mutator):
    """Gives an answer in place of one that upstream has already begun."""

    replaces = True

    def __init__(self, fault: Mutator, answer: Response) -> None:
        self._answer = answer
        self.effect = fault.effect

    def head(self, response: Response) -> Response:
        return self._answer

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        return ()

    def finish(self) -> Iterable[Action]:
        yield Send(self._answer.body or b"")
