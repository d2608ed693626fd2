"""The way of one exchange, from request head to ledger, without any socket or clock.

The shell (the proxy today; a tape or a test as well) hands in what it received and performs what
comes back. Whole bodies, live streams and recorded ones all take this one path:

    head → request(body) → OutboundRequest → pending(response) → head(response) → feed(bytes)… → finish()
    → trailers(headers) → over()

An answer that `OutboundRequest` holds goes on like one that came, without `pending`. A response that opens
a WebSocket goes on with `message(…)` for each of either end, then `finish()` before the server's Close.

Actions come one by one: whoever performs them takes the next only once the last is done, because a
fault counts as met from the moment in which its action was taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Close, Cut, Exchange, FaultFired, Reset, Send, with_held
from faultwire.exchange import observers, request_out, rewrites
from faultwire.exchange.active_fault import ActiveFault, activate, ledger_line, release_unmet
from faultwire.exchange.agent_cards import AgentCardObserver
from faultwire.exchange.deferred_replies import DeferredReplies, expect
from faultwire.exchange.fault_chain import FaultChain
from faultwire.exchange.plan import decide, decide_head, unknown_websocket, unread_request
from faultwire.exchange.request_out import OutboundRequest, SessionContext, unpacked
from faultwire.exchange.tool_results import ToolResultRewriter
from faultwire.exchange.websocket_requests import WebSocketRequestRewriter
from faultwire.faults._api import Need
from faultwire.profile.match import caller
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import ResponseObserver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, Headers, Request, Response, Side
    from faultwire.exchange.plan import Decision, Plan
    from faultwire.profile.model import Entry


__all__ = ["ExchangePipeline", "OutboundRequest", "SessionContext"]

UNREAD = wire.Classified("other")
"""What an exchange of a session is in which nothing can happen."""


class ExchangePipeline:
    """One exchange on its way. Methods are called once each, in the order of the module's sketch."""

    def __init__(self, context: SessionContext, head: Request) -> None:
        self._context = context
        self._profile = context.profile
        self._calm = not (self._profile.entries or self._profile.tools or self._profile.agents)
        # Nobody asks what an exchange is that nothing can happen to; whoever reads the tape finds out.
        found = UNREAD if self._calm else self._classified(head)
        self._protocol = found.protocol
        self.exchange = Exchange(
            session=context.name,
            number=context.state.number(),
            request=head,
            kind=found.kind,
            protocol=found.protocol.name if found.protocol else None,
            provider=found.provider,
            tool=found.tool,
            at_s=max(0.0, context.now() - context.began),
            agent=found.agent,
            caller=caller(self._profile, head),
        )
        self.needs_request_body = bool(self._profile.entries) and (
            self._profile.candidates.on_head(self.exchange)
            or (found.protocol is None and wire.may_be_model(head))
            or bool(context.state.canaries)
            or framing.wants_socket(head)
        )
        self.needs_response_body = False
        self.touches = False
        self._lines: list[FaultFired] = []
        self._story: ToolResultRewriter | None = None
        self._plan: Plan | None = None
        self._heard: Response | None = None
        self._ear: ResponseObserver | AgentCardObserver | None = None
        self._inbox: DeferredReplies | None = None
        self._telling: WebSocketRequestRewriter | None = None
        self._chain = FaultChain()

    def _classified(self, request: Request) -> wire.Classified:
        own = self._profile
        return wire.classify(request, own.tools, own.agents, self._context.state.peers)

    @property
    def number(self) -> int:
        """The exchange's ordinal in its session, from 1."""
        return self.exchange.number

    @property
    def decides_on_first_message(self) -> bool:
        """May `request` be told the beginning of a body that goes on? A gRPC call may be a dialogue, in
        which the client waits for answers before it says more: its first message is decided on."""
        return request_out.is_dialogue(self.exchange.request)

    def ready(self, body: bytes) -> bool:
        """Is that beginning enough?"""
        return request_out.first_message(body) is not None

    # ------------------------------------------------------------ request

    def request(self, body: bytes | None) -> OutboundRequest:
        """Decide, now that the request is known; `body` is None where it was not held."""
        if body is None:
            return OutboundRequest(self.exchange.request)
        request = with_held(self.exchange.request, body)
        if not self.needs_request_body:
            self.exchange = replace(self.exchange, request=request)
            return OutboundRequest(request)
        self._understand(request)
        if self._context.state.canaries:
            self._lines.extend(rewrites.returned_canaries(self.exchange, self._context.state))
        site = wire.tool_site(self.exchange)
        if site is not None:
            self._context.state.note_call(site.call.name, site.name)
        self._story = ToolResultRewriter(self._context, self.exchange, self._protocol)
        request = self._story.rewritten(self.exchange.request)
        self._plan = decide(self._profile, self._context.dice, self.exchange, self._context.state)
        self._note(self._plan)
        if self.exchange.kind == "other":
            self._lines.extend(unknown_websocket(self._profile, self.exchange))
        for decision in self._plan.decisions:
            self._chain.add(self._started(decision))
        leaving = OutboundRequest(request)
        leaving.actions = self._depart(leaving, request)
        return leaving

    def _depart(self, leaving: OutboundRequest, request: Request) -> Iterator[Action]:
        chain = self._chain
        if self._story is not None:
            yield from self._story.waits
        if not chain.idle:
            yield from self._after(chain.depart())
        request = expect(self.exchange, chain, self._context.state, request)
        if chain.answer is not None:
            self._context.state.mark_failed(self.exchange.key, self.exchange.n)
        elif not chain.ended:
            request = self._story.retold(request, chain.all) if self._story is not None else request
            deferred = self._plan.deferred if self._plan else ()
            if (deferred or not chain.idle) and self._reads(deferred):
                # A body that a fault must read, or may have to, has to come unpacked.
                request = unpacked(request)
        leaving.settle(request, chain.answer)

    def _reads(self, deferred: tuple[Entry, ...]) -> bool:
        """Must a fault read the response's body, or may it have to?"""
        needs = self._chain.needs
        for entry in deferred:
            needs |= entry.fault.needs
        return bool(needs & (Need.BODY | Need.EVENTS))

    def client_left(self) -> None:
        """The client left while a fault let time pass: the same request again is its retry."""
        self._context.state.mark_failed(self.exchange.key, self.exchange.n)

    def _understand(self, request: Request) -> None:
        """Classify with the body, view it, and number the logical call."""
        profile, state = self._profile, self._context.state
        found = wire.understand(request, profile.tools, profile.agents, state.peers)
        self._protocol = found.protocol
        begun = self.exchange
        view = state.with_tool_names(found.view) if found.view else None
        n, attempt = state.numbered(found.key, wire.attempt(request, found.protocol))
        # Made anew, and once: `dataclasses.replace` was a sixth of what a pipeline costs.
        self.exchange = Exchange(
            session=begun.session,
            number=begun.number,
            request=request,
            kind=found.kind,
            protocol=found.protocol.name if found.protocol else None,
            provider=found.provider,
            tool=found.tool,
            view=view,
            key=found.key,
            n=n,
            attempt=attempt,
            at_s=begun.at_s,
            agent=found.agent,
            caller=begun.caller,
        )
        self._lines.extend(
            () if found.unread is None else unread_request(profile, self.exchange, found.unread)
        )

    # ------------------------------------------------------------ response

    def pending(self, response: Response) -> Iterator[Action]:
        """Upstream's head is there; what to do before anything of it is delivered."""
        self.exchange = self.exchange.answered(response)
        if self._story is not None:
            self._story.answered()
        if self._plan is None:
            return
        if self._plan.deferred:
            plan = decide_head(self._plan, self._context.dice, self.exchange, self._context.state)
            self._note(plan)
            for decision in plan.decisions:
                self._chain.join(self._started(decision))
            yield from self._after(self._chain.pending())

    def head(self, response: Response) -> Response:
        """The head to deliver; `touches` and `needs_response_body` are valid from here on."""
        if self._calm:
            self._heard = response
            return response
        ours = self._chain.answer is not None
        if not ours and self.exchange.response is None:
            for _ in self.pending(response):  # whoever did not ask for them passes over them
                pass
        if self._plan is None:
            self._open_inbox(response)
            return response
        delivered = response
        if not self._chain.idle:
            exchange = self.exchange
            met = exchange if exchange.response is response else exchange.answered(response)
            delivered = self._chain.arrive(met)
        if delivered.status != response.status:
            self._context.state.mark_failed(self.exchange.key, self.exchange.n)
        self.touches = self._chain.touches
        self.needs_response_body = self._chain.holds
        if not ours:
            self._listen(delivered)
            self._open_inbox(response)
        return delivered

    def feed(self, data: bytes) -> Iterator[Action]:
        """What to do in place of sending these upstream bytes."""
        if self._inbox is not None:
            return self._after(self._chain.relayed(self._inbox.feed(data)))
        return self._after(self._chain.feed(data) if self.touches else (Send(data),))

    def message(self, data: bytes, *, text: bool, by: Side) -> Iterator[Action]:
        """What to do in place of passing on one message of a WebSocket, which `by` has said.

        The messages of one end are asked about one after the other, each once the actions of the last are
        done; those of the two ends may overlap. Where `touches` is False nothing needs to be asked.
        """
        if self.touches:
            return self._after(self._spoken(data, text=text, by=by))
        return iter((Send(data, "server" if by == "client" else "client", text),))

    def _spoken(self, data: bytes, *, text: bool, by: Side) -> Iterator[Action]:
        if self._telling is not None and by == "client" and text:
            heard = self._telling.hear(data)
            yield from heard.waits
            self._lines.extend(heard.lines)
            data = heard.data
        yield from self._chain.message(data, text=text, by=by)

    def finish(self) -> Iterator[Action]:
        """What to do before the regular end of the response."""
        if self._inbox is not None:
            yield from self._after(self._chain.relayed(self._inbox.finish()))
        yield from self._after(self._chain.finish() if self.touches else ())
        if self._ear is not None:
            self._context.state.learn(self._ear.end())

    def trailers(self, headers: Headers) -> Headers:
        """The trailers to deliver after all that `finish` gave (RFC 9110 §6.5)."""
        return self._chain.trailers(headers) if self.touches else headers

    def _after(self, actions: Iterable[Action]) -> Iterator[Action]:
        """The actions, with a note of what each means to later exchanges."""
        for action in actions:
            if isinstance(action, Cut | Reset | Close):
                self._context.state.mark_failed(self.exchange.key, self.exchange.n)
            elif self._ear is not None and isinstance(action, Send) and action.to == "client":
                self._context.state.learn(self._ear.hear(action.data))
            rewrites.plant_canaries(self._chain.all, self.exchange, self._context.state)
            yield action

    def _open_inbox(self, response: Response) -> None:
        """Answers that are owed may come in this stream."""
        if self._profile.entries and DeferredReplies.opens(self.exchange, response):
            self._inbox = DeferredReplies(self.exchange.request, self._context.state)
            self.touches = True

    def _listen(self, delivered: Response) -> None:
        """Hear what is said in the response, where later exchanges depend on it."""
        heard = observers.attach(self._context, self._protocol, self.exchange, delivered, self._chain.all)
        self._ear, self._telling = heard.ear, heard.telling
        self.touches = self.touches or heard.touches
        self.needs_response_body = self.needs_response_body or heard.whole

    def closes(self, delivered: bytes) -> bool:
        """Do these last bytes hold the closing event? Clients that then hang up have the whole answer."""
        protocol = self._classified(self.exchange.request).protocol if self._calm else self._protocol
        return observers.closes(
            protocol, self.exchange.request, self.exchange.response or self._heard, delivered
        )

    # ------------------------------------------------------------ ledger

    def ledger(self) -> tuple[FaultFired, ...]:
        """Every decision on this exchange and what came of it."""
        story = self._story.lines if self._story is not None else ()
        lines = (*self._lines, *story, *(ledger_line(active) for active in self._chain.all))
        return lines if self._inbox is None else (*lines, *self._inbox.lines)

    def over(self) -> tuple[FaultFired, ...]:
        """The ledger of an exchange that has ended: a fault that was not met by now never will be."""
        if self._inbox is not None:
            self._inbox.over()
        release_unmet(self._chain.all, self._context.state)
        return self.ledger()

    def _started(self, decision: Decision) -> ActiveFault:
        return activate(decision, self.exchange, self._context.dice, self._context.state)

    def _note(self, plan: Plan) -> None:
        for one in plan.decisions:
            if one.counted:
                self._context.state.note(one.entry.id, one.subject, one.call, one.at_s)
