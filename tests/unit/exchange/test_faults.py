"""What the stage of the faults does with what other stages give: faultwire.exchange.faults."""

from __future__ import annotations

from dataclasses import dataclass, replace

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Cut, Exchange, Request, Response, Send
from faultwire.exchange.active_fault import ActiveFault
from faultwire.exchange.faults import FaultStage
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.stage import ExchangeState
from faultwire.faults._api import Mutator
from faultwire.profile.load import inline

BODY = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
CHAT = Request(
    "POST",
    "https",
    "api.openai.com",
    443,
    "/v1/chat/completions",
    (("content-type", "application/json"),),
    BODY,
)
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
EVENTS = [b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"]


def streaming(fault: str) -> tuple[ExchangeState, FaultStage]:
    """The stage of one fault, with the head of a stream that upstream has sent."""
    context = SessionContext("s", inline(fault), Dice(1, "s"), SessionState())
    found = wire.understand(CHAT, {}, {}, context.state.peers, context.state.conversations)
    protocol = found.protocol.name if found.protocol is not None else None
    exchange = Exchange("s", 1, CHAT, found.kind, protocol, view=found.view, key="k")
    at = ExchangeState(context, exchange, found.protocol)
    stage = FaultStage(at)
    stage.on_request()
    at.exchange = at.exchange.answered(SSE)
    stage.on_response_head(SSE)
    return at, stage


def test_upstream_s_events_that_a_fault_lets_pass_are_known_at_once() -> None:
    _, stage = streaming("drop_event: {at: 9}")
    passing = stage.on_data((Send(b"".join(EVENTS)),))
    assert passing == [Send(event) for event in EVENTS], "a list, before anybody asks for the first"


def test_what_another_stage_gives_at_the_end_passes_the_faults() -> None:
    _, stage = streaming("drop_event: {at: 1}")
    assert list(stage.on_end(iter((Send(EVENTS[0]), Send(EVENTS[1]))))) == [Send(EVENTS[1])]
    _, stage = streaming("drop_event: {at: 9}")
    assert list(stage.on_end(iter((Cut(),)))) == [Cut()]


def test_a_decision_of_which_nothing_comes_plants_nothing() -> None:
    at, stage = streaming("drop_event: {at: 9}")
    (active,) = at.chain.all
    at.chain.add(ActiveFault(active.decision, None))
    assert list(stage.on_end(iter((Cut(),)))) == [Cut()]
    assert dict(at.context.state.canaries) == {}


@dataclass
class Naming(Mutator):
    """Names itself in the path of the request."""

    name: str

    def outbound(self, request: Request) -> Request:
        return replace(request, path=f"{request.path}/{self.name}")


def test_each_fault_that_still_acts_gives_the_request_that_is_forwarded() -> None:
    context = SessionContext("s", inline("latency: {ms: 1}"), Dice(1, "s"), SessionState())
    at = ExchangeState(context, Exchange("s", 1, CHAT, "llm", key="k"), None)
    stage = FaultStage(at)
    stage.on_request()
    (active,) = at.chain.all
    none, dropped = (ActiveFault(active.decision, mutator) for mutator in (None, Naming("dropped")))
    dropped.dropped = ("preempted", "for a test")
    for made in (none, dropped, *(ActiveFault(active.decision, Naming(name)) for name in ("one", "two"))):
        at.chain.add(made)
    stage.settle_request()
    assert at.request == replace(CHAT, path=f"{CHAT.path}/one/two")
