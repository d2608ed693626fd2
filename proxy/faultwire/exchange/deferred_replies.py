"""Answers that come in another exchange's stream.

In MCP's HTTP+SSE (2024-11-05) a client opens one stream by `GET`, whose first event names the address to
`POST` to; a `POST` only gets 202, and its answer is an event of that stream. A fault is decided on the
`POST`, as everywhere. What it would do to the answer waits in the session under that address and the
request's JSON-RPC id, and is done to the event in the stream that answers it; the stream's ledger tells it.
What a fault does before the call (a wait, an HTTP error, an end) is done to the `POST` itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import FaultFired, Response, Send, header
from faultwire.exchange.active_fault import ledger_line
from faultwire.exchange.canaries import plant_canaries
from faultwire.exchange.request_out import with_body
from faultwire.exchange.stage import ExchangeState, Stage
from faultwire.wire import json_bytes
from faultwire.wire.framing import sse
from faultwire.wire.mcp import http as mcp, jsonrpc as mcp_jsonrpc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, Exchange, Request
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.fault_chain import FaultChain
    from faultwire.exchange.session_state import SessionState
    from faultwire.wire.mcp.jsonrpc import Id

_HEAD = Response(200, "OK", (("content-type", "text/event-stream"),))
"""What the answer's head would be: it comes as an event."""
_LONGEST = 4096
"""Bytes of an address to post to; no server's is longer."""


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """A request whose answer is still to come, and the faults that wait for it."""

    exchange: Exchange
    ident: Id
    chain: FaultChain


def expect(exchange: Exchange, chain: FaultChain, state: SessionState, request: Request) -> Request:
    """Let the faults on a request's answer wait for it, where that comes in another stream; the request
    to forward.

    Where a fault answers in the tool's place, the server is sent a `ping` instead: its answer makes the
    stream speak, and nothing else is done.
    """
    ident = _ident(exchange)
    if ident is None or chain.ended or exchange.request.url not in state.inboxes:
        return request
    answered = chain.answer is not None
    if chain.answer is not None and chain.answer.status >= 300:
        return request  # refused as HTTP refuses, on the `POST`
    waiting = chain.detach()
    if not waiting.all:
        return request
    state.expect((exchange.request.url, json_bytes.dump(ident)), ExpectedReply(exchange, ident, waiting))
    if not answered:
        return request
    ping = json_bytes.dump({"jsonrpc": "2.0", "id": ident, "method": "ping"})
    return with_body(request, ping)


def _ident(exchange: Exchange) -> Id | None:
    """The id of the one answer that a request of MCP wants."""
    if exchange.protocol != mcp.Mcp.name:
        return None
    wanted = [one.id for one in mcp.asked(exchange.request) if one.is_request]
    return wanted[0] if len(wanted) == 1 else None


class DeferredReplies(Stage):
    """Sets faults aside for an answer that comes in another stream, and is that stream where it comes:
    whatever is in it passes, except answers that faults wait for."""

    @staticmethod
    def wanted(state: ExchangeState) -> bool:
        """Where such a stream may begin, one is open, or this may be a call whose answer comes in one."""
        protocol = state.protocol
        speaks = protocol is None or protocol.name == mcp.Mcp.name
        return speaks or state.exchange.request.method == "GET" or bool(state.context.state.inboxes)

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state)
        self._lines: list[FaultFired] = []
        self._splitter: _core.SseSplitter | None = None
        self._address: str | None = None
        self._first = True

    @staticmethod
    def opens(exchange: Exchange, response: Response) -> bool:
        """May this be such a stream? Only its first event tells."""
        return (
            exchange.request.method == "GET"
            and exchange.protocol in (None, mcp.Mcp.name)
            and response.status == 200
            and sse.is_sse(response.headers)
            and header(response.headers, "content-encoding") in (None, "identity")
        )

    def forward(self) -> Iterable[Action]:
        """Let the faults on the answer wait for it, where it comes in another stream."""
        at = self.state
        at.request = expect(at.exchange, at.chain, at.context.state, at.request)
        return ()

    def on_response_head(self, response: Response) -> Response:
        """Is this such a stream?"""
        if self.state.chain.answer is None and self.opens(self.state.exchange, response):
            self._splitter = _core.SseSplitter()
            self.touches = True
        return response

    def on_data(self, actions: Iterable[Action]) -> Iterable[Action]:
        """The events of such a stream, and in place of some of them what the faults make of them."""
        return actions if self._splitter is None else self._events(actions, self._splitter)

    def _events(self, actions: Iterable[Action], splitter: _core.SseSplitter) -> Iterator[Action]:
        for action in actions:
            if not isinstance(action, Send):
                yield action
                continue
            for event in splitter.feed(action.data):
                if self._first:
                    self._open(event)
                expected = self._expected(event) if self._address is not None else None
                if expected is None:
                    yield Send(event)
                else:
                    yield from self._deliver(expected, event)

    def on_end(self, actions: Iterable[Action]) -> Iterator[Action]:
        """The rest of an event that never ended."""
        yield from actions
        rest = self._splitter.finish() if self._splitter is not None else b""
        if rest:
            yield Send(rest)

    def over(self) -> None:
        """The stream has ended: what was still to come in it never will."""
        if self._address is None:
            return
        for expected in self.state.context.state.close_replies(self._address):
            for active in expected.chain.all:
                line = replace(ledger_line(active), outcome="preempted", reason="its stream ended first")
                self._settle(active, line)

    def ledger(self) -> Iterable[FaultFired]:
        """The lines of the faults that waited."""
        return self._lines

    def _open(self, event: bytes) -> None:
        fields = sse.fields(event)
        if fields is None:
            return  # a comment
        self._first = False
        if fields.name == "endpoint" and len(fields.data) <= _LONGEST:
            try:
                self._address = urljoin(self.state.exchange.request.url, fields.data.decode())
            except ValueError:
                return  # no address, so nothing will be posted to it
            self.state.context.state.open_replies(self._address)

    def _expected(self, event: bytes) -> ExpectedReply | None:
        for message in mcp.event_messages(event):
            if message.is_answer and message.id is not None and self._address is not None:
                expected: ExpectedReply | None = self.state.context.state.owed.pop(
                    (self._address, json_bytes.dump(message.id)), None
                )
                if expected is not None:
                    return expected
        return None

    def _deliver(self, expected: ExpectedReply, event: bytes) -> Iterator[Action]:
        """The event as the faults on its request leave it."""
        chain, body = expected.chain, b""
        head = chain.arrive(replace(expected.exchange, response=_HEAD))
        for part in (chain.feed(event), chain.finish()):
            for action in part:
                if not isinstance(action, Send) or sse.is_sse(head.headers):
                    self._plant(expected)
                    yield action
                else:
                    body += action.data
        if body and not chain.ended:
            self._plant(expected)
            yield Send(_as_event(body, expected.ident))
        for active in chain.all:
            self._settle(active, ledger_line(active))

    def _plant(self, expected: ExpectedReply) -> None:
        plant_canaries(expected.chain.all, expected.exchange, self.state.context.state)

    def _settle(self, active: ActiveFault, line: FaultFired) -> None:
        self._lines.append(line)
        decision = active.decision
        if decision.counted and decision.call[0] == "fire":
            self.state.context.state.record_outcome(line.id, decision.subject, fired=line.outcome == "fired")


def _as_event(body: bytes, ident: Id) -> bytes:
    """A body of our own making as the event that answers a request."""
    try:
        return mcp.as_event(mcp_jsonrpc.with_id(body, ident))
    except WireError:
        return mcp.as_event(body)
