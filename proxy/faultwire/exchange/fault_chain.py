"""The faults that act on one exchange, chained: what one delivers, the next one is fed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import header
from faultwire.exchange.active_fault import (
    END,
    STEPS,
    ActiveFault,
    ReplacementAnswer,
    depth,
    mark_answer,
    shapes_response,
)
from faultwire.exchange.relay import FaultRelay
from faultwire.faults._api import Need
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Action, Exchange, Headers, Response


class FaultChain(FaultRelay):
    """The chain: who stands in it, and what each does until the response's head is delivered; the data then
    goes the way of a `FaultRelay`. `answer` is set once a fault gave an answer of its own before the call: it
    takes the whole way that upstream's would have taken, through every fault that stands before the one which
    gave it.

    Before the call faults act in the order of composition. The response passes them from the inside
    out: first the content from the model and the server, then its division, then the connection.
    """

    answer: Response | None = None
    touches = False
    holds = False
    _packed: str | None = None
    _answerer: ActiveFault | None = None

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
        for active in self.all:  # noqa: SIM110 - no generator: this is asked of every exchange
            if active.mutator is not None and active.dropped is None:
                return False
        return True

    @property
    def acts_before(self) -> bool:
        """May anybody here do something before upstream is called?"""
        for active in self.all:
            if active.mutator is not None and active.dropped is None:
                steps = STEPS[type(active.mutator)]
                if "before" in steps or "answer" in steps:
                    return True
        return False

    @property
    def needs(self) -> Need:
        """What the faults that still act must be shown."""
        needs = Need.HEAD
        for active in self.all:
            if active.mutator is not None and active.dropped is None:
                needs |= active.decision.entry.fault.needs
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

    def withhold(self, why: str) -> None:
        """The request goes nowhere, and nobody has answered it: there is nothing left to act on."""
        for active in self.all:
            if active.acts and active.mutator is not None and active.mutator.effect is None:
                active.dropped = ("preempted", why)

    # ------------------------------------------------------------ response

    def arrive(self, exchange: Exchange) -> Response:
        """Take the response head: drop who cannot act on it, and say how the body is to be fed."""
        response = exchange.response
        if response is None:
            raise ValueError("a response head is needed")
        self._socket = response.status == framing.SWITCHING and framing.is_socket(response)
        protocol = wire.protocol(exchange.protocol) if exchange.protocol else None
        splitter = None if self._socket else framing.splitter_of(response, protocol, exchange.request)
        streams = self._socket or splitter is not None
        self._packed = header(response.headers, "content-encoding")
        self._chain, effective = self._meeting()
        for at, active in enumerate(self._chain):  # each sees the head as those before it leave it
            if exchange.response is not response:
                exchange = replace(exchange, response=response)
            self._drop_unfit(active, exchange, streams)
            if active.mutator is not None and active.dropped is None:
                if "head" in STEPS[type(active.mutator)]:
                    delivered = active.mutator.head(response)
                    response = delivered if delivered is response else mark_answer(active, delivered)
                self.touches = self.touches or shapes_response(active.mutator)
                if active.mutator.replaces:
                    self._outdo(active, self._chain[:at], effective)
        self._divide(splitter, streams=streams)
        return response

    def _divide(self, splitter: framing.Splitter | None, *, streams: bool) -> None:
        """How the body is fed: in messages or events, whole, or as it comes."""
        needs = self.needs
        if self._socket:
            self._unit = "event"
        elif splitter is not None and needs & Need.EVENTS:
            self._splitter, self._unit = splitter, "event"
            self._joiner = framing.joiner(splitter)
            if self._joiner is not None:
                self._border = sum(depth(active) == 0 for active in self._chain)
            self._find_alone()
        elif needs & Need.BODY and not streams:
            self.holds, self._unit = True, "body"

    def _meeting(self) -> tuple[list[ActiveFault], list[ActiveFault]]:
        """Whom this response meets, in order, and who of them has acted already. An answer of ours meets only
        those that stand before it. Whoever only takes notes takes them of what the other side says."""
        found = self.all
        if self._answerer is not None:
            earlier = self.all[: self.all.index(self._answerer)]
            found = [active for active in earlier if active.decision.verb == "fire"]
        if len(found) < 2:  # as nearly always: in order, and with nobody to outdo
            return found, []
        found = sorted(found, key=depth)
        return found, [active for active in found if active.mutator and active.mutator.effect]

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
        if mutator is None or mutator.effect is not None or active.dropped is not None:
            return
        fault = active.decision.entry.fault
        why, needs = fault.inapplicable(exchange), fault.needs
        reads = Need.EVENTS if streams else Need.BODY
        if why is None and self._socket and needs & Need.BODY and not needs & Need.EVENTS:
            why = "a WebSocket session has no body"
        if why is None and needs & reads and self._packed not in (None, "identity"):
            why = f"the body is packed with `{self._packed}` although identity was asked for"
        if why is not None:
            active.dropped = ("inapplicable", why)

    def trailers(self, headers: Headers) -> Headers:
        """The trailers to deliver after the last byte."""
        for active in self._chain:
            mutator = active.mutator if active.dropped is None else None
            if mutator is None:
                continue
            headers = () if mutator.replaces else headers
            if "trailers" in STEPS[type(mutator)]:
                headers = mutator.trailers(headers)
        return headers
