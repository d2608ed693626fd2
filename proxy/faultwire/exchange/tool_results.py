"""The tool results that one request brings to the model, replaced where a fault wants it so.

Clients resend their whole history, so a replaced result is replaced again in every later request: the
conversation that the model reads never changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import WireError
from faultwire.exchange.request_out import with_body
from faultwire.exchange.result_decisions import decide_on_result, keyed_results, replaced_again
from faultwire.exchange.session_state import Subject
from faultwire.exchange.stage import ExchangeState, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Action, FaultFired, Request, ToolResult, Wait

NOT_ANSWERED = "no model answered the request that carried the result"
"""Why a fault on a result has not fired: in a later request that carries it, it still may."""


class ToolResultRewriter(Stage):
    """Decides on new results, and replaces those that were decided on, now or in an earlier request."""

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state)
        self._waits: list[Wait] = []
        self._lines: list[FaultFired] = []
        self._carried: dict[str, FaultFired] = {}
        self._answered = False

    def on_request(self) -> None:
        """Replace results in the request to forward."""
        self.state.request = self._rewritten(self.state.request)

    def forward(self) -> Iterable[Action]:
        """The delays of results that come late."""
        return self._waits

    def on_response(self) -> Iterable[Action]:
        """A model has answered this request: it has read what stood in it."""
        self._answered = True
        for key in self._carried:
            self.state.context.state.unread_lines.pop(key, None)
        return ()

    def ledger(self) -> tuple[FaultFired, ...]:
        """The ledger's lines on results: a fault on one has fired once a model has answered."""
        carried = tuple(self._carried.values())
        if not self._answered:
            carried = tuple(
                replace(line, outcome="preempted", reason=NOT_ANSWERED, effect=None) for line in carried
            )
        return (*self._lines, *carried)

    def _rewritten(self, request: Request) -> Request:
        view, protocol, body = self.state.exchange.view, self.state.protocol, request.body
        if view is None or protocol is None or body is None or not view.results:
            return request
        session = self.state.context.state
        signed = wire.is_signed(request)
        again: list[tuple[FaultFired, int]] = []
        for key, result in keyed_results(view.results):
            if result.new and key not in session.rewrites:
                self._decide(key, result)
            rewrite = session.rewrites.get(key)
            if rewrite is not None:
                try:
                    if signed:
                        raise WireError(wire.SIGNED)
                    body = protocol.replace_result(body, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    self._leave(key, error.message)
                else:
                    if key not in session.unread_lines and key in session.replaced_by:
                        again.append(session.replaced_by[key])
            if key in session.unread_lines:
                self._carried[key] = session.unread_lines[key]
        self._lines.extend(replaced_again(again, self.state.exchange))
        return with_body(request, body)

    def _decide(self, key: str, result: ToolResult) -> None:
        at, context = self.state, self.state.context
        decided = decide_on_result(context.profile, context.dice, at.exchange, (key, result), context.state)
        self._lines.extend(decided.lines)
        self._waits.extend(decided.waits)

    def _leave(self, key: str, why: str) -> None:
        """A result cannot be replaced after all."""
        session = self.state.context.state
        line = session.unread_lines.pop(key, None)
        if line is not None:
            self._lines.append(replace(line, outcome="inapplicable", reason=why, effect=None))
            session.record_outcome(line.id, Subject(line.key, line.n, line.attempt), fired=False)
