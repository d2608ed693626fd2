"""The pipeline of one exchange, from request head to ledger, without any socket or clock.

The proxy (or a tape, or a test) hands in what it received and carries out what comes back. Whole bodies,
live streams and recorded ones all take this one path:

    head → request(body) → OutboundRequest → pending(response) → head(response) → feed(bytes)… → finish()
    → trailers(headers) → over()

An answer that `OutboundRequest` holds goes on like one that came, without `pending`. A response that opens
a WebSocket goes on with `message(…)` for each of either end, then `finish()` before the server's Close.

Actions come one by one: whoever carries them out takes the next only once the last is done, because a
fault counts as fired from the moment in which its action was taken.

What is decided and done stands in stages (`exchange.stages` lists them in order, `exchange.stage` says what
one is). The pipeline asks each in turn and knows none by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Exchange, Send, with_held
from faultwire.exchange import gate, request_out
from faultwire.exchange.deferred_replies import DeferredReplies
from faultwire.exchange.observers import closes
from faultwire.exchange.request_out import OutboundRequest, SessionContext
from faultwire.exchange.stage import ExchangeState
from faultwire.exchange.stages import PASSIVE, StageList, stage_types
from faultwire.exchange.understanding import understood, with_view
from faultwire.profile.match import caller
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, FaultFired, Headers, Request, Response, Side


__all__ = ["ExchangePipeline", "OutboundRequest", "SessionContext"]

UNREAD = wire.Classified("other")
"""What an exchange of a session is in which nothing can happen."""


class ExchangePipeline:
    """One exchange on its way. Methods are called once each, in the order of the module's sketch."""

    __slots__ = (
        "_calm",
        "_observe",
        "_profile",
        "_stages",
        "_waiting",
        "needs_request_body",
        "needs_response_body",
        "state",
        "touches",
    )

    def __init__(self, context: SessionContext, head: Request) -> None:
        own = self._profile = context.profile
        self._calm = not (self._profile.entries or self._profile.tools or self._profile.agents)
        # Nobody asks what an exchange is that nothing can happen to; whoever reads the tape finds out.
        found = UNREAD if self._calm else wire.classify(head, own.tools, own.agents, context.state.peers)
        exchange = Exchange(
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
        self.state = ExchangeState(context, exchange, found.protocol)
        self.needs_request_body = bool(self._profile.entries) and (
            self._profile.candidates.on_head(exchange)
            or (found.protocol is None and wire.may_be_model(head))
            or bool(context.state.canaries)
            or framing.wants_socket(head)
        )
        self.needs_response_body = False
        self.touches = False
        self._stages: StageList | None = None
        self._observe: tuple[int, ...] = ()
        self._waiting: gate.WaitingLines | None = None
        """What was decided on an exchange on which nothing is done but to wait."""

    @property
    def exchange(self) -> Exchange:
        """The exchange as far as it is known, its request as the agent sent it; its view only where something
        in the profile may look at it."""
        return self.state.exchange

    def over_http2(self) -> None:
        """The client speaks HTTP/2 to us."""
        self.state.exchange = replace(self.exchange, http2=True)

    @property
    def number(self) -> int:
        """The exchange's ordinal in its session, from 1."""
        return self.state.exchange.number

    def withhold(self, why: str) -> bool:
        """The request will go nowhere: a fault may answer it or end it, and none may change what nobody
        gets. False where no fault can act on it, so that it need not be read."""
        self.state.withheld = why
        return self.needs_request_body

    @property
    def decides_on_first_message(self) -> bool:
        """May `request` be given the beginning of a body that goes on? In a gRPC call the client may wait for
        answers before it sends more: its first message is decided on."""
        return request_out.is_dialogue(self.state.exchange.request)

    def ready(self, body: bytes) -> bool:
        """Is that beginning enough?"""
        return request_out.first_message(body) is not None

    # ------------------------------------------------------------ request

    def request(self, body: bytes | None) -> OutboundRequest:
        """Decide, now that the request is known; `body` is None where it was not held."""
        at = self.state
        if body is None:
            return OutboundRequest(at.request)
        at.request = with_held(at.exchange.request, body)
        if not self.needs_request_body:
            at.exchange = replace(at.exchange, request=at.request)
            return OutboundRequest(at.request)
        understood(at)
        if at.unread is None:
            self._waiting = gate.wait(at)
            if self._waiting is not None:
                return OutboundRequest(at.request)
        with_view(at)
        stages = self._stages = StageList(stage_types(self._profile.candidates), at)
        self._observe = stages.hooks["observe"]
        for place in stages.hooks["on_request"]:
            stages.all[place].on_request()
        outbound = OutboundRequest(at.request)
        outbound.actions = self._forward(stages, outbound)
        return outbound

    def _forward(self, stages: StageList, outbound: OutboundRequest) -> Iterator[Action]:
        for place in stages.hooks["forward"]:
            actions = stages.all[place].forward()
            yield from self._observed(actions) if self._observe else actions
        for place in stages.hooks["settle_request"]:
            stages.all[place].settle_request()
        outbound.settle(self.state.request, self.state.chain.answer)

    def client_left(self) -> None:
        """The client left while a fault let time pass: the same request again is its retry."""
        self.state.context.state.mark_failed(self.exchange.key, self.exchange.n)

    # ------------------------------------------------------------ response

    def pending(self, response: Response) -> Iterator[Action]:
        """Upstream's head is there; what to do before anything of it is delivered."""
        self.state.exchange = self.state.exchange.answered(response)
        stages = self._stages
        if stages is not None:
            for place in stages.hooks["on_response"]:
                actions = stages.all[place].on_response()
                yield from self._observed(actions) if self._observe else actions

    def head(self, response: Response) -> Response:
        """The head to deliver; `touches` and `needs_response_body` are valid from here on."""
        at = self.state
        if self._calm:
            at.response = response
            return response
        if at.chain.answer is None and at.exchange.response is None:
            for _ in self.pending(response):  # whoever did not ask for them passes over them
                pass
        if self._stages is None:
            if not self._profile.entries or not DeferredReplies.wanted(at):
                at.response = response
                return response
            self._stages = StageList(PASSIVE, at)
        delivered, stages = response, self._stages
        for place in stages.hooks["on_response_head"]:
            delivered = stages.all[place].on_response_head(delivered)
        for stage in stages.all:
            self.touches = self.touches or stage.touches
            self.needs_response_body = self.needs_response_body or stage.holds
        return delivered

    def feed(self, data: bytes) -> Iterable[Action]:
        """What to do in place of sending these upstream bytes; a list where all of it is known."""
        actions: Iterable[Action] = (Send(data),)
        stages = self._stages
        if self.touches and stages is not None:
            for place in stages.hooks["on_data"]:
                actions = stages.all[place].on_data(actions)
        return self._observed(actions) if self._observe else actions

    def message(self, data: bytes, *, text: bool, by: Side) -> Iterable[Action]:
        """What to do in place of passing on one message of a WebSocket, which `by` has sent.

        The messages of one end are asked about one after the other, each once the actions of the last are
        done; those of the two ends may overlap. Where `touches` is False nothing needs to be asked.
        """
        actions: Iterable[Action] = (Send(data, "server" if by == "client" else "client", text),)
        stages = self._stages
        if self.touches and stages is not None:
            places = stages.hooks["on_message"]
            for place in places if by == "client" else reversed(places):
                actions = stages.all[place].on_message(actions, by)
        return self._observed(actions) if self._observe else actions

    def finish(self) -> Iterator[Action]:
        """What to do before the regular end of the response."""
        stages = self._stages
        if stages is None:
            return
        actions: Iterable[Action] = ()
        for place in stages.hooks["on_end"] if self.touches else ():
            actions = stages.all[place].on_end(actions)
        yield from self._observed(actions) if self._observe else actions
        for place in stages.hooks["finished"]:
            stages.all[place].finished()

    def trailers(self, headers: Headers) -> Headers:
        """The trailers to deliver after all that `finish` gave (RFC 9110 §6.5)."""
        return self.state.chain.trailers(headers) if self.touches else headers

    def _observed(self, actions: Iterable[Action]) -> Iterator[Action]:
        """The actions; each stage that observes them sees each before it is carried out."""
        stages = self._stages.all if self._stages is not None else ()
        for action in actions:
            for place in self._observe:
                stages[place].observe(action)
            yield action

    def closes(self, delivered: bytes) -> bool:
        """Do these last bytes hold the closing event? Clients that then hang up have the whole answer."""
        at = self.state
        # A calm session declares no tools and no agents, and reads no cards.
        protocol = wire.classify(at.exchange.request).protocol if self._calm else at.protocol
        return closes(protocol, at.exchange.request, at.exchange.response or at.response, delivered)

    # ------------------------------------------------------------ ledger

    def ledger(self) -> tuple[FaultFired, ...]:
        """Every decision on this exchange and what came of it."""
        lines: list[FaultFired] = self._waiting.ledger() if self._waiting is not None else []
        if self._stages is None:
            return tuple(lines)
        for place in self._stages.hooks["ledger"]:
            lines.extend(self._stages.all[place].ledger())
        return tuple(lines)

    def over(self) -> tuple[FaultFired, ...]:
        """The ledger of an exchange that has ended: a fault that has not fired by now never will."""
        if self._stages is not None:
            for place in self._stages.hooks["over"]:
                self._stages.all[place].over()
        return self.ledger()
