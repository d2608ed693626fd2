"""The stage of the faults: decides which act on the exchange, and lets them act in their chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Close, Cut, Reset, Send
from faultwire.exchange.active_fault import activate, ledger_line, release_unfired
from faultwire.exchange.canaries import plant_canary
from faultwire.exchange.plan import Decision, decide, decide_head, unknown_websocket
from faultwire.exchange.request_out import unpacked
from faultwire.exchange.stage import ExchangeState, Stage
from faultwire.faults._api import Need

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, FaultFired, Response, Side
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.plan import Plan

ENDS = (Cut, Reset, Close)
REFUSED_STREAM = 7
"""Nobody has looked at the request, and it may be sent again (RFC 9113 §8.7): HTTP clients do so unasked."""
"""Actions that end an exchange."""
_READS = Need.BODY | Need.EVENTS


class FaultStage(Stage):
    """Plans the faults of one exchange and feeds their chain."""

    def __init__(self, state: ExchangeState) -> None:
        self.state = state
        self._plan: Plan | None = None
        self._order: list[ActiveFault | Decision] = []
        """What was decided, in order: a fault that acts or looks on, or a decision that rests."""

    # ------------------------------------------------------------ request

    def on_request(self) -> None:
        """Decide on the request, and start what fires."""
        context = self.state.context
        self._plan = decide(context.profile, context.dice, self.state.exchange, context.state)
        for active in self._activated(self._plan):
            self.state.chain.add(active)

    def forward(self) -> Iterable[Action]:
        """What the faults do before upstream is called."""
        faults = self.state.chain
        return self._watched(faults.depart()) if faults.acts_before else ()

    def settle_request(self) -> None:
        """The request is about to go: a body that a fault must read, or may have to, has to come unpacked;
        where a fault has answered, the same request again is its retry."""
        at = self.state
        if at.chain.answer is not None:
            self.mark_failed()
        elif not at.chain.ended and at.withheld is not None:
            at.chain.withhold(at.withheld)
        elif not at.chain.ended and self._plan is not None:
            needs = at.chain.needs
            for entry in self._plan.deferred:
                needs |= entry.fault.needs
            if needs & _READS:
                at.request = unpacked(at.request)
            for active in at.chain.all:
                if active.acts and active.mutator is not None:
                    at.request = active.mutator.outbound(at.request)

    def mark_failed(self, *, seen: bool = True) -> None:
        """This attempt fails for the agent; its HTTP client may repeat one that nobody has `seen`."""
        self.state.context.state.mark_failed(self.state.exchange.key, self.state.exchange.n, seen=seen)

    # ------------------------------------------------------------ response

    def on_response(self) -> Iterable[Action]:
        """Decide what could only be decided on the head, and act as if it had been decided before."""
        if self._plan is None or not self._plan.deferred:
            return
        context, faults = self.state.context, self.state.chain
        plan = decide_head(self._plan, context.dice, self.state.exchange, context.state)
        for active in self._activated(plan):
            faults.join(active)
        yield from self._watched(faults.pending())

    def on_response_head(self, response: Response) -> Response:
        """The head as the faults leave it."""
        at, delivered = self.state, response
        if not at.chain.idle:
            exchange = at.exchange
            delivered = at.chain.arrive(
                exchange if exchange.response is response else exchange.answered(response)
            )
        if delivered.status != response.status:
            self.mark_failed()
        self.touches, self.holds = at.chain.touches, at.chain.holds
        return delivered

    def on_data(self, actions: Iterable[Action]) -> Iterable[Action]:
        """Through the chain, event by event where the stream is framed. Events that every fault lets pass are
        a list, which is known at once and needs no watching."""
        faults = self.state.chain
        if type(actions) is tuple:  # no other stage stands behind it
            return faults.feed(actions[0].data, self._watched)
        return self._watched(faults.relayed(actions))

    def on_message(self, actions: Iterable[Action], by: Side) -> Iterator[Action]:
        """Through the chain, in the direction in which the message goes."""
        for action in actions:
            if isinstance(action, Send):
                made = self.state.chain.message(action.data, text=bool(action.text), by=by)
                yield from self._watched(made)
            else:
                yield action

    def on_end(self, actions: Iterable[Action]) -> Iterable[Action]:
        """What is left, then each fault's last word."""
        return self._watched(self.state.chain.finish(actions))

    def _watched(self, actions: Iterable[Action]) -> Iterator[Action]:
        """The same request after an end that we made is a retry; and what a fault has planted is looked for
        from now on, before the agent can have read it."""
        at = self.state
        for action in actions:
            if isinstance(action, ENDS):
                refused = isinstance(action, Reset) and action.code == REFUSED_STREAM
                self.mark_failed(seen=not refused or at.exchange.response is not None)
            for active in at.chain.all:
                if active.mutator is not None and active.mutator.canary is not None:
                    plant_canary(active.mutator.canary, active.decision, at.exchange, at.context.state)
            yield action

    # ------------------------------------------------------------ ledger

    def over(self) -> None:
        """A fault that has not fired by now never will."""
        release_unfired(self.state.chain.all, self.state.context.state)

    def ledger(self) -> list[FaultFired]:
        """A line for each decision."""
        at = self.state
        lines: list[FaultFired] = []
        if at.exchange.kind == "other":
            lines += unknown_websocket(at.context.profile, at.exchange)
        here = set(map(id, at.chain.all))  # others wait for another stream
        for one in self._order:
            if isinstance(one, Decision):
                lines.append(one.line())
            elif id(one) in here:
                lines.append(ledger_line(one))
        return lines

    def _activated(self, plan: Plan) -> list[ActiveFault]:
        """Those of which anything may come; a profile may have hundreds of which nothing does."""
        at, context, order = self.state, self.state.context, self._order
        session = context.state
        found: list[ActiveFault] = []
        for decision in plan.decisions:
            if decision.counted:
                session.note(decision.entry.id, decision.subject, decision.call, decision.at_s)
        for decision in plan.decisions:
            if decision.verb != "fire" and decision.rests:
                order.append(decision)
                continue
            active = activate(decision, at.exchange, context.dice, session)
            order.append(active)
            found.append(active)
        return found
