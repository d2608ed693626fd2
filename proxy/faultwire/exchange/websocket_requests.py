"""What a client tells a model over a WebSocket, on its way there.

The server keeps the conversation, and each message brings something new to it. So nothing is sent twice:
a tool's result, or a text, that a fault changes is changed in the one message that brings it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.errors import WireError
from faultwire.events import Send
from faultwire.exchange.canaries import returned_canaries
from faultwire.exchange.conversation import Conversation
from faultwire.exchange.result_decisions import decide_on_result, keyed_results, replaced_again
from faultwire.exchange.rewrites import attacked
from faultwire.exchange.session_state import Subject
from faultwire.exchange.stage import ExchangeState, Stage
from faultwire.faults._api import RequestFault
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.joined import JoinedTexts
from faultwire.wire.recognition import size_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, Exchange, FaultFired, RequestView, Response, Side, Wait
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.wire.protocol import Protocol


class RewrittenMessage(NamedTuple):
    """What becomes of one message: the waits before it goes on, as what it does, and the ledger's lines,
    which hold from then on."""

    data: bytes
    waits: tuple[Wait, ...] = ()
    lines: tuple[FaultFired, ...] = ()


class WebSocketRequestRewriter(Stage):
    """The client's side of one WebSocket: each text message is decided on, in order."""

    @staticmethod
    def wanted(state: ExchangeState) -> bool:
        """Only where a WebSocket may begin."""
        protocol = state.protocol
        return framing.wants_socket(state.exchange.request) or (protocol is not None and protocol.socket)

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state)
        self._lines: list[FaultFired] = []
        self._attacks: tuple[ActiveFault, ...] = ()
        self._joined = JoinedTexts()

    def on_response_head(self, response: Response) -> Response:
        """Is this a WebSocket of a model, and is there anything to look for?"""
        at = self.state
        protocol = at.protocol
        if at.chain.answer is not None or protocol is None or not protocol.socket:
            return response
        if framing.is_socket(response):
            self._attacks = tuple(
                one
                for one in at.chain.all
                if one.decision.verb == "fire" and isinstance(one.decision.entry.fault, RequestFault)
            )
            replaces = at.context.profile.candidates.replace_results
            self.touches = replaces or bool(self._attacks) or bool(at.context.state.canaries)
        return response

    def on_message(self, actions: Iterable[Action], by: Side) -> Iterable[Action]:
        """A client's text message, changed."""
        return self._rewritten(actions) if by == "client" and self.touches else actions

    def _rewritten(self, actions: Iterable[Action]) -> Iterator[Action]:
        for action in actions:
            protocol = self.state.protocol
            if protocol is None or not (isinstance(action, Send) and action.text):
                yield action
                continue
            rewritten = self._rewrite(action.data, protocol)
            yield from rewritten.waits
            self._lines.extend(rewritten.lines)
            yield replace(action, data=rewritten.data)

    def ledger(self) -> Iterable[FaultFired]:
        """The lines on what messages brought."""
        return self._lines

    def _rewrite(self, data: bytes, protocol: Protocol) -> RewrittenMessage:
        """Decide on what one message brings; one that is too large to be read at once passes unread."""
        at, session = self.state, self.state.context.state
        heavy = size_limit.is_heavy(data)
        pieces = self._joined.feed(data) if session.canaries and not heavy else []
        view = None if heavy else protocol.message_view(data)
        if view is None:
            return RewrittenMessage(data)
        view = session.with_tool_names(view)
        request = replace(at.exchange.request, body=data)
        model = at.exchange.view.model if at.exchange.view else ""
        sent = replace(at.exchange, request=request, view=replace(view, model=view.model or model))
        back = returned_canaries(sent, session, within=True, joined=pieces)
        rewritten = self._results(RewrittenMessage(data, lines=tuple(back)), sent, view, protocol)
        return self._texts(rewritten, protocol)

    def _results(
        self, message: RewrittenMessage, sent: Exchange, view: RequestView, protocol: Protocol
    ) -> RewrittenMessage:
        context, session, data = self.state.context, self.state.context.state, message.data
        waits, lines = list(message.waits), list(message.lines)
        for key, result in keyed_results(view.results):
            if key not in session.rewrites:
                decided = decide_on_result(context.profile, context.dice, sent, (key, result), session)
                waits += decided.waits
                lines += decided.lines
            line, rewrite = session.unread_lines.pop(key, None), session.rewrites.get(key)
            if rewrite is not None:
                try:
                    data = protocol.replace_result(data, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    if line is not None:
                        line = replace(line, outcome="inapplicable", reason=error.message, effect=None)
                        session.record_outcome(line.id, Subject(line.key, line.n, line.attempt), fired=False)
                else:
                    if line is None and key in session.replaced_by:
                        lines += replaced_again((session.replaced_by[key],), sent)
            if line is not None:
                lines.append(line)
        return RewrittenMessage(data, tuple(waits), tuple(lines))

    def _texts(self, message: RewrittenMessage, protocol: Protocol) -> RewrittenMessage:
        """Each attack acts once, on the first message that has something for it to act on."""
        at = self.state
        attacks = [one for one in self._attacks if one.mutator is not None and one.mutator.effect is None]
        conversation = Conversation.of_websocket(at.exchange.number, at.exchange.key)
        data, lines = attacked(protocol, message.data, at, conversation, attacks)
        return message._replace(data=data, lines=(*message.lines, *lines))
