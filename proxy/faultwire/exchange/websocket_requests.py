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
    from faultwire.exchange.active_fault import Running
    from faultwire.exchange.request_out import SessionContext
    from faultwire.wire.protocol import Protocol


class Heard(NamedTuple):
    """What becomes of one message: the waits before it goes on, as what it does, and the ledger's lines,
    which hold from then on."""

    data: bytes
    waits: tuple[Wait, ...] = ()
    lines: tuple[FaultFired, ...] = ()


class Telling:
    """The client's side of one WebSocket. `hear` is asked about each text message, in order."""

    def __init__(
        self, protocol: Protocol, context: SessionContext, exchange: Exchange, running: Sequence[Running]
    ) -> None:
        self._protocol = protocol
        self._context = context
        self._exchange = exchange
        self._attacks = [
            one
            for one in running
            if one.decision.verb == "fire" and isinstance(one.decision.entry.fault, RequestFault)
        ]
        self._replaces = context.profile.candidates.replace_results

    @property
    def needed(self) -> bool:
        """Is there anything to look for?"""
        return self._replaces or bool(self._attacks) or bool(self._context.state.canaries)

    def hear(self, data: bytes) -> Heard:
        """Decide on what one message brings; one that is too heavy to be read at once passes unread."""
        view = None if size_limit.is_heavy(data) else self._protocol.message_view(data)
        if view is None:
            return Heard(data)
        state = self._context.state
        view = state.named(view)
        request = replace(self._exchange.request, body=data)
        asked = self._exchange.view.model if self._exchange.view else ""
        said = replace(self._exchange, request=request, view=replace(view, model=view.model or asked))
        back = rewrites.returned(said, state, within=True)
        heard = self._results(Heard(data, lines=tuple(back)), said, view)
        return heard._replace(data=self._texts(heard.data, said))

    def _results(self, heard: Heard, said: Exchange, view: RequestView) -> Heard:
        state, data = self._context.state, heard.data
        waits, lines = list(heard.waits), list(heard.lines)
        for key, result in rewrites.known(view.results):
            if key not in state.rewrites:
                judged = rewrites.judge(self._context.profile, self._context.dice, said, (key, result), state)
                waits += judged.waits
                lines += judged.lines
            line, rewrite = state.untold.pop(key, None), state.rewrites.get(key)
            if rewrite is not None:
                try:
                    data = self._protocol.replace_result(data, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    if line is not None:
                        line = replace(line, outcome="inapplicable", reason=error.message, effect=None)
                        state.came_of(line.id, Subject(line.key, line.n, line.attempt), met=False)
            if line is not None:
                lines.append(line)
        return Heard(data, tuple(waits), tuple(lines))

    def _texts(self, data: bytes, said: Exchange) -> bytes:
        """Each attack acts once, on the first message that has something for it to act on."""
        context = self._context
        for running in self._attacks:
            if running.mutator is not None and running.acts and running.mutator.effect is None:
                running.mutator.effect = rewrites.attack(
                    self._protocol, data, running.decision, context.dice, said, context.state
                )
        return rewrites.again(self._protocol, data, context.state)
