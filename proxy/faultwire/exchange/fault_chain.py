"""The faults that act on one exchange, chained: what one delivers, the next one is fed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from faultwire import wire
from faultwire.events import Chunk, Cut, Send, header
from faultwire.exchange.active_fault import (
    END,
    ActiveFault,
    ReplacementAnswer,
    depth,
    mark_answer,
    shapes_response,
)
from faultwire.faults._api import Need
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, Exchange, Headers, Response, Side


class FaultChain:
    """The chain. `ended` turns True once a fault ended the exchange; the faults after it are
    pre-empted, and nothing that upstream still says is delivered. `answer` is set once a fault gave an
    answer of its own before the call: it takes the whole way that upstream's would have taken, through
    every fault that stands before the one which gave it.

    Whatever gives actions gives them one by one: a fault is asked for the next only when the last one
    was performed, so that none claims what never reached the agent, which may have left.

    Before the call faults act in the order of composition. The response passes them from the inside
    out: first the content from the model and the server, then its division, then the connection.
    """

    ended = False
    answer: Response | None = None
    touches = False
    holds = False
    _index = 0
    _unit: Literal["event", "body", "bytes"] = "bytes"
    _splitter: framing.Splitter | None = None
    _joiner: framing.Joiner | None = None
    _border = 0
    _packed: str | None = None
    _answerer: ActiveFault | None = None
    _socket = False

    def __init__(self) -> None:
        self.all: list[ActiveFault] = []
        self._chain: list[ActiveFault] = []
        self._late: list[ActiveFault] = []

    def add(self, active: ActiveFault) -> None:
        """Append a decision, in the order of composition."""
        self.all.append(active)

    def detach(self) -> FaultChain:
        """What is still to act on the response, as a chain of its own: the response comes another way."""
        other = FaultChain()
        stay: list[ActiveFault] = []
        for active in self.all:
            mutator = active.mutator
            if active is self._answerer and mutator is not None and self.answer is not None:
                active.mutator, self.answer = ReplacementAnswer(mutator, self.answer), None
            moves = active.acts and active.mutator is not None and shapes_response(active.mutator)
            moves = moves and active.decision.entry.fault.site != "connection"
            (other.all if moves else stay).append(active)
        self.all, self._answerer = stay, None
        return other

    @property
    def idle(self) -> bool:
        """Has nobody here anything to do, or to note? Then a response passes as it is."""
        # Spelt out: `acts` of each is a call, and a profile may have hundreds that only wait.
        return not any(active.mutator is not None and active.dropped is None for active in self.all)

    @property
    def needs(self) -> Need:
        """What the faults that still act must be shown."""
        needs = Need.HEAD
        for active in self.all:
            if active.acts:
                needs |= active.needs
        return needs

    def depart(self) -> Iterator[Action]:
        """The actions before upstream is called; `answer` is valid after the last."""
        for at, active in enumerate(self.all):
            if active.mutator is None or not active.acts:
                continue
            for action in active.mutator.before():
                if isinstance(action, END):
                    self._end(active, self.all[at + 1 :])
                    self._unsent(active)
                    yield action
                    return
                yield action
            answer = active.mutator.answer()
            if answer is not None:
                self._preempt(active, self.all[at + 1 :])
                self._unsent(active)
                self.answer, self._answerer = mark_answer(active, answer), active
                return

    def _unsent(self, ender: ActiveFault) -> None:
        """Nothing goes upstream, so a fault on the request has nothing to change."""
        for active in self.all:
            if active.acts and active.decision.entry.fault.site == "request":
                active.dropped = ("preempted", f"`{ender.ident}` ended the exchange first")

    def _end(self, ender: ActiveFault, later: list[ActiveFault]) -> None:
        self.ended = True
        self._preempt(ender, later)

    def _preempt(self, ender: ActiveFault, later: list[ActiveFault]) -> None:
        for active in later:
            if active.acts and active.mutator is not None and active.mutator.effect is None:
                active.dropped = ("preempted", f"`{ender.ident}` ended the exchange first")

    # ------------------------------------------------------------ response

    def arrive(self, exchange: Exchange) -> Response:
        """Take the response head: drop who cannot act on it, and say how the body is to be fed."""
        response = exchange.response
        if response is None:
            raise ValueError("a response head is needed")
        self._socket = framing.is_socket(response)
        protocol = wire.protocol(exchange.protocol) if exchange.protocol else None
        splitter = None if self._socket else framing.splitter_of(response, protocol, exchange.request)
        streams = self._socket or splitter is not None
        self._packed = header(response.headers, "content-encoding")
        self._chain = sorted(self._meeting(), key=depth)
        effective = [active for active in self._chain if active.mutator and active.mutator.effect]
        for at, active in enumerate(self._chain):  # each sees the head as those before it leave it
            if exchange.response is not response:
                exchange = replace(exchange, response=response)
            self._drop_unfit(active, exchange, streams)
            if active.acts and active.mutator is not None:
                delivered = active.mutator.head(response)
                response = delivered if delivered is response else mark_answer(active, delivered)
                self.touches = self.touches or shapes_response(active.mutator)
                if active.mutator.replaces:
                    self._outdo(active, self._chain[:at], effective)
        needs = self.needs
        if self._socket:
            self._unit = "event"
        elif splitter is not None and needs & Need.EVENTS:
            self._splitter, self._unit = splitter, "event"
            self._joiner = framing.joiner(splitter)
            self._border = sum(depth(active) == 0 for active in self._chain)
        elif needs & Need.BODY and not streams:
            self.holds, self._unit = True, "body"
        return response

    def _meeting(self) -> list[ActiveFault]:
        """Whom this response meets; an answer of ours only those that stand before it. Whoever only takes
        notes takes them of what the other side says."""
        if self._answerer is None:
            return self.all
        earlier = self.all[: self.all.index(self._answerer)]
        return [active for active in earlier if active.decision.verb == "fire"]

    def _outdo(self, replacer: ActiveFault, earlier: list[ActiveFault], effective: list[ActiveFault]) -> None:
        """Nothing that these deliver reaches the agent, except for what acted before the call."""
        for active in earlier:
            if active.acts and not any(active is one for one in effective):
                active.dropped = ("preempted", f"`{replacer.ident}` replaced the answer")

    def join(self, active: ActiveFault) -> None:
        """Add a fault that was decided on the response head; `pending` and `arrive` follow."""
        self.all.append(active)
        self._late.append(active)

    def pending(self) -> Iterator[Action]:
        """What the faults that joined would have done before the call is done before the first byte of
        the response, and their answer takes the place of the one that came."""
        for active in self._late:
            if active.mutator is None or not active.acts:
                continue
            for action in active.mutator.before():
                if isinstance(action, END):
                    self._end(active, [one for one in self.all if one is not active])
                    yield action
                    return
                yield action
            answer = active.mutator.answer()
            if answer is not None:
                active.mutator = ReplacementAnswer(active.mutator, answer)

    def _drop_unfit(self, active: ActiveFault, exchange: Exchange, streams: bool) -> None:
        mutator = active.mutator
        if mutator is None or mutator.effect is not None or not active.acts:
            return
        why = active.decision.entry.fault.inapplicable(exchange)
        reads = Need.EVENTS if streams else Need.BODY
        if why is None and self._socket and active.needs & Need.BODY and not active.needs & Need.EVENTS:
            why = "a WebSocket session has no body"
        if why is None and active.needs & reads and self._packed not in (None, "identity"):
            why = f"the body is packed with `{self._packed}` although identity was asked for"
        if why is not None:
            active.dropped = ("inapplicable", why)

    def feed(self, data: bytes) -> Iterator[Action]:
        """Pass bytes through the chain: by event where the stream is framed, whole where held."""
        pieces: Iterable[bytes] = (data,) if self._splitter is None else self._splitter.feed(data)
        for piece in pieces:
            if self.ended:
                return
            yield from self._push(0, Chunk(piece, self._index, self._unit))
            self._index += 1

    def relayed(self, actions: Iterable[Action]) -> Iterator[Action]:
        """What somebody else gives in place of upstream's bytes, through the faults here."""
        for action in actions:
            if isinstance(action, Send):
                yield from self.feed(action.data)
            else:
                yield action

    def finish(self) -> Iterator[Action]:
        """What is left of an unfinished event, then each fault's last word."""
        rest = self._splitter.finish() if self._splitter is not None else b""
        # What closes an array comes after all that the faults on its elements held back.
        place = self._border if self._joiner is not None else 0
        last = Chunk(b"", self._index, self._unit, True if self._socket else None)
        for at, active in enumerate((*self._chain, None)):
            if rest and at == place and not self.ended:
                yield from self._push(at, Chunk(rest, self._index, "bytes"))
            if self.ended or active is None:
                return
            if active.acts and active.mutator is not None:
                yield from self._deliver(at, active.mutator.finish(), last)

    def trailers(self, headers: Headers) -> Headers:
        """The trailers to deliver after the last byte."""
        for active in self._chain:
            if active.acts and active.mutator is not None:
                headers = active.mutator.trailers(() if active.mutator.replaces else headers)
        return headers

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
                yield from self._push(at + 1, made)
            else:
                if isinstance(action, Cut) and action.clean and self._joiner is not None:
                    yield Send(self._joiner.close())
                if isinstance(action, END):
                    self._end(active, self._chain[at + 1 :])
                yield action
            if self.ended:
                return
