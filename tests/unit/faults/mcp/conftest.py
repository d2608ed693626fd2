"""A session of MCP as its faults meet it: whole passages, one exchange after the other, no socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from faultwire.dice import Dice
from faultwire.events import FaultFired, Request, Response, Send
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mock.mcp import McpServer
from faultwire.profile.load import parse


class Met(NamedTuple):
    """What came of one exchange: what the client got, whether the server was asked, and the ledger."""

    response: Response
    said: list[dict[str, Any]]
    asked: bool
    lines: tuple[FaultFired, ...]

    @property
    def effects(self) -> list[str]:
        return [line.effect or "" for line in self.lines if line.outcome == "fired"]


class Session:
    """A client, the mock's server, and the faults of a profile between them."""

    def __init__(self, faults: str, answers: str = "sse") -> None:
        self.state = SessionState()
        self.server = McpServer()
        self.context = SessionContext(
            "s", parse(f"name: p\nfaults:\n{faults}", "p.yaml"), Dice(1, "s"), self.state
        )
        self.path = "/mcp?answers=json" if answers == "json" else "/mcp"
        self.session: str | None = None
        self.ident = 0
        self.begin()

    def begin(self) -> None:
        self.session = None
        met = self.ask("initialize", protocolVersion="2025-06-18")
        self.session = dict(met.response.headers)["mcp-session-id"]

    def ask(self, method: str, **params: Any) -> Met:
        self.ident += 1
        message = {"jsonrpc": "2.0", "id": self.ident, "method": method, "params": params}
        headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
        if self.session:
            headers += [("mcp-session-id", self.session), ("mcp-protocol-version", "2025-06-18")]
        return self.send(
            Request("POST", "https", "h", 443, self.path, tuple(headers)), json.dumps(message).encode()
        )

    def call(self, name: str, **arguments: Any) -> Met:
        return self.ask("tools/call", name=name, arguments=arguments)

    def send(self, head: Request, body: bytes) -> Met:
        pipeline = ExchangePipeline(self.context, head)
        assert pipeline.needs_request_body
        departure = pipeline.request(body)
        answer = departure.answer
        upstream = answer
        if answer is None:
            told = self.server.answer(departure.request)
            upstream = Response(told.status, "", told.headers, told.body or b"".join(told.events or ()))
        assert upstream is not None
        whole = upstream.body or b""
        head_ = pipeline.head(Response(upstream.status, "", upstream.headers))
        actions = [*pipeline.feed(whole), *pipeline.finish()] if whole else list(pipeline.finish())
        sent = b"".join(action.data for action in actions if isinstance(action, Send))
        return Met(head_, _messages(sent), answer is None, pipeline.over())


def _messages(sent: bytes) -> list[dict[str, Any]]:
    if not sent:
        return []
    if sent[:1] in (b"{", b"["):
        return [json.loads(sent)]
    lines = [line for line in sent.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


@pytest.fixture(params=["sse", "json"])
def mcp_session(request: pytest.FixtureRequest) -> Callable[[str], Session]:
    """A session with these faults, whose server answers by events, or by JSON."""
    return lambda faults: Session(faults, request.param)
