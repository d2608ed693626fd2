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
from faultwire.exchange.active_fault import END, ledger_line
from faultwire.exchange.request_out import with_body
from faultwire.exchange.rewrites import plant_canary
from faultwire.wire import json_bytes
from faultwire.wire.framing import sse
from faultwire.wire.mcp import http as mcp, jsonrpc as mcp_jsonrpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Action, Exchange, Request
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
    state.owe((exchange.request.url, json_bytes.dump(ident)), ExpectedReply(exchange, ident, waiting))
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


class DeferredReplies:
    """The stream of a `GET` on its way: whatever is in it passes, except answers that faults wait for."""

    def __init__(self, request: Request, state: SessionState) -> None:
        self.lines: list[FaultFired] = []
        self._request = request
        self._state = state
        self._splitter = _core.SseSplitter()
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

    def feed(self, data: bytes) -> Iterator[Action]:
        """What to do in place of sending these bytes on."""
        for event in self._splitter.feed(data):
            if self._first:
                self._open(event)
            owed = self._owed(event) if self._address is not None else None
            if owed is None:
                yield Send(event)
            else:
                yield from self._deliver(owed, event)

    def finish(self) -> Iterator[Action]:
        """The rest of an event that never ended."""
        rest = self._splitter.finish()
        if rest:
            yield Send(rest)

    def over(self) -> None:
        """The stream has ended: what was still to come in it never will."""
        if self._address is None:
            return
        for owed in self._state.close_replies(self._address):
            for active in owed.chain.all:
                self._told(
                    owed, replace(ledger_line(active), outcome="preempted", reason="its stream ended first")
                )

    def _open(self, event: bytes) -> None:
        fields = sse.fields(event)
        if fields is None:
            return  # a comment
        self._first = False
        if fields.name == "endpoint" and len(fields.data) <= _LONGEST:
            try:
                self._address = urljoin(self._request.url, fields.data.decode())
            except ValueError:
                return  # no address, so nothing will be posted to it
            self._state.open_replies(self._address)

    def _owed(self, event: bytes) -> ExpectedReply | None:
        for message in mcp.said(event):
            if message.is_answer and message.id is not None and self._address is not None:
                owed: ExpectedReply | None = self._state.owed.pop(
                    (self._address, json_bytes.dump(message.id)), None
                )
                if owed is not None:
                    return owed
        return None

    def _deliver(self, owed: ExpectedReply, event: bytes) -> Iterator[Action]:
        """The event as the faults on its request leave it."""
        chain, body = owed.chain, b""
        head = chain.arrive(replace(owed.exchange, response=_HEAD))
        for part in (chain.feed(event), chain.finish()):
            for action in part:
                if not isinstance(action, Send) or sse.is_sse(head.headers):
                    self._plant(owed)
                    yield action
                else:
                    body += action.data
                if isinstance(action, END):
                    break
            if chain.ended:
                break
        if body and not chain.ended:
            self._plant(owed)
            yield Send(_as_event(body, owed.ident))
        for active in chain.all:
            self._told(owed, ledger_line(active))

    def _plant(self, owed: ExpectedReply) -> None:
        for active in owed.chain.all:
            if active.mutator is not None and active.mutator.canary is not None:
                plant_canary(active.mutator.canary, active.decision, owed.exchange, self._state)

    def _told(self, owed: ExpectedReply, line: FaultFired) -> None:
        self.lines.append(line)
        for active in owed.chain.all:
            decision = active.decision
            if decision.entry.id == line.id and decision.counted and decision.call[0] == "fire":
                self._state.record_outcome(line.id, decision.subject, met=line.outcome == "fired")


def _as_event(body: bytes, ident: Id) -> bytes:
    """A body of our own making as the event that answers a request."""
    try:
        return mcp.as_event(mcp_jsonrpc.with_id(body, ident))
    except WireError:
        return mcp.as_event(body)
