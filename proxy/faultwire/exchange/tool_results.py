"""The tool results that one request brings to the model, replaced where a fault wants it so.

Clients resend their whole history, so a replaced result is replaced again in every later request: the
story that the model reads never changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import WireError
from faultwire.exchange import rewrites
from faultwire.exchange.request_out import with_body
from faultwire.exchange.session_state import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Exchange, FaultFired, Request, ToolResult, Wait
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.request_out import SessionContext
    from faultwire.wire.protocol import Protocol


class ToolResultRewriter:
    """What one request tells, and what is to be done before it goes on (`waits`)."""

    def __init__(self, context: SessionContext, exchange: Exchange, protocol: Protocol | None) -> None:
        self.waits: list[Wait] = []
        self._context = context
        self._exchange = exchange
        self._protocol = protocol
        self._lines: list[FaultFired] = []
        self._carried: dict[str, FaultFired] = {}
        self._answered = False

    def rewritten(self, request: Request) -> Request:
        """The request with every tool result that a fault replaced, now or in an earlier request."""
        view, protocol, body = self._exchange.view, self._protocol, request.body
        if view is None or protocol is None or body is None or not view.results:
            return request
        state = self._context.state
        signed = wire.is_signed(request)
        for key, result in rewrites.keyed_results(view.results):
            if result.new and key not in state.rewrites:
                self._judge(key, result)
            rewrite = state.rewrites.get(key)
            if rewrite is not None:
                try:
                    if signed:
                        raise WireError(wire.SIGNED)
                    body = protocol.replace_result(body, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    self._leave(key, error.message)
            if key in state.unread_lines:
                self._carried[key] = state.unread_lines[key]
        return with_body(request, body)

    def retold(self, request: Request, chain: Iterable[ActiveFault]) -> Request:
        """The request with every text that a fault changed, now or in an earlier request."""
        protocol, body, context = self._protocol, request.body, self._context
        if protocol is None or self._exchange.view is None or body is None:
            return request
        for active in chain:
            mutator = active.mutator
            if mutator is not None and active.decision.verb == "fire":
                mutator.effect = mutator.effect or rewrites.apply_attack(
                    protocol, body, active.decision, context.dice, self._exchange, context.state
                )
        return with_body(request, rewrites.reapply(protocol, body, context.state))

    def _judge(self, key: str, result: ToolResult) -> None:
        context = self._context
        judged = rewrites.decide_on_result(
            context.profile, context.dice, self._exchange, (key, result), context.state
        )
        self._lines.extend(judged.lines)
        self.waits.extend(judged.waits)

    def _leave(self, key: str, why: str) -> None:
        """A result cannot be replaced after all."""
        state = self._context.state
        line = state.unread_lines.pop(key, None)
        if line is not None:
            self._lines.append(replace(line, outcome="inapplicable", reason=why, effect=None))
            state.record_outcome(line.id, Subject(line.key, line.n, line.attempt), met=False)

    def answered(self) -> None:
        """A model has answered this request: it has read what stood in it."""
        self._answered = True
        for key in self._carried:
            self._context.state.unread_lines.pop(key, None)

    @property
    def lines(self) -> tuple[FaultFired, ...]:
        """The ledger's lines on results: a fault on one was met once a model has answered."""
        carried = tuple(self._carried.values())
        if not self._answered:
            never = "the request that carries it was not answered; the next one will"
            carried = tuple(replace(line, outcome="preempted", reason=never, effect=None) for line in carried)
        return (*self._lines, *carried)
