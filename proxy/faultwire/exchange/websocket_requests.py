"""What a client tells a model over a WebSocket, on its way there.

The server keeps the conversation, and each message brings something new to it. So nothing is told twice:
a tool's result, or a text, that a fault changes is changed in the one message that brings it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.errors import WireError
from faultwire.exchange import rewrites
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import RequestFault
from faultwire.wire.recognition import size_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Exchange, FaultFired, RequestView, Wait
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.request_out import SessionContext
    from faultwire.wire.protocol import Protocol


class RewrittenMessage(NamedTuple):
    """What becomes of one message: the waits before it goes on, as what it does, and the ledger's lines,
    which hold from then on."""

    data: bytes
    waits: tuple[Wait, ...] = ()
    lines: tuple[FaultFired, ...] = ()


class WebSocketRequestRewriter:
    """The client's side of one WebSocket. `hear` is asked about each text message, in order."""

    def __init__(
        self, protocol: Protocol, context: SessionContext, exchange: Exchange, active: Sequence[ActiveFault]
    ) -> None:
        self._protocol = protocol
        self._context = context
        self._exchange = exchange
        self._attacks = [
            one
            for one in active
            if one.decision.verb == "fire" and isinstance(one.decision.entry.fault, RequestFault)
        ]
        self._replaces = context.profile.candidates.replace_results

    @property
    def needed(self) -> bool:
        """Is there anything to look for?"""
        return self._replaces or bool(self._attacks) or bool(self._context.state.canaries)

    def hear(self, data: bytes) -> RewrittenMessage:
        """Decide on what one message brings; one that is too heavy to be read at once passes unread."""
        view = None if size_limit.is_heavy(data) else self._protocol.message_view(data)
        if view is None:
            return RewrittenMessage(data)
        state = self._context.state
        view = state.with_tool_names(view)
        request = replace(self._exchange.request, body=data)
        asked = self._exchange.view.model if self._exchange.view else ""
        said = replace(self._exchange, request=request, view=replace(view, model=view.model or asked))
        back = rewrites.returned_canaries(said, state, within=True)
        heard = self._results(RewrittenMessage(data, lines=tuple(back)), said, view)
        return heard._replace(data=self._texts(heard.data, said))

    def _results(self, heard: RewrittenMessage, said: Exchange, view: RequestView) -> RewrittenMessage:
        state, data = self._context.state, heard.data
        waits, lines = list(heard.waits), list(heard.lines)
        for key, result in rewrites.keyed_results(view.results):
            if key not in state.rewrites:
                judged = rewrites.decide_on_result(
                    self._context.profile, self._context.dice, said, (key, result), state
                )
                waits += judged.waits
                lines += judged.lines
            line, rewrite = state.unread_lines.pop(key, None), state.rewrites.get(key)
            if rewrite is not None:
                try:
                    data = self._protocol.replace_result(data, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    if line is not None:
                        line = replace(line, outcome="inapplicable", reason=error.message, effect=None)
                        state.record_outcome(line.id, Subject(line.key, line.n, line.attempt), met=False)
            if line is not None:
                lines.append(line)
        return RewrittenMessage(data, tuple(waits), tuple(lines))

    def _texts(self, data: bytes, said: Exchange) -> bytes:
        """Each attack acts once, on the first message that has something for it to act on."""
        context = self._context
        for active in self._attacks:
            if active.mutator is not None and active.acts and active.mutator.effect is None:
                active.mutator.effect = rewrites.apply_attack(
                    self._protocol, data, active.decision, context.dice, said, context.state
                )
        return rewrites.reapply(self._protocol, data, context.state)
