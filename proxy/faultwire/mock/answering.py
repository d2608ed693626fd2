"""From a request to an answer: routing, keys, the reply. Pure: no socket, no clock; the only state are
the conversations that a provider would keep."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared, sockets, talk, telemetry, tokenizer
from faultwire.mock._api import Answer, Break, Refused
from faultwire.mock._registry import dialects
from faultwire.mock.a2a import Agents
from faultwire.mock.failing import Failing
from faultwire.mock.mcp import McpServer
from faultwire.mock.pace import Pace
from faultwire.wire.editing import websocket as websocket_edits
from faultwire.wire.recognition import recognise as recognition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Headers, Request, Response
    from faultwire.mock._api import Conversation, Dialect, Reply
    from faultwire.mock.failing import BreakSpec
    from faultwire.mock.script import Script
    from faultwire.wire.protocol import Protocol

MODELS = ("gpt-4o-mini", "gpt-4o", "gpt-5-mini", "claude-sonnet-4-5", "claude-haiku-4-5")
"""What the model list shows. Any other name is answered, too."""

_JSON: Headers = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Answerer:
    """What answers a request. Delays are milliseconds; a script's own go first."""

    script: Script | None = None
    first_event_delay_ms: int = 0
    chunk_delay_ms: int = 0
    mcp: McpServer = field(default_factory=McpServer)
    agents: Agents = field(default_factory=Agents, compare=False)
    pace: Pace = field(default_factory=Pace)
    """How fast the model speaks, where neither the script nor a delay above says it."""
    failing: Failing = field(default_factory=Failing, compare=False)

    def __call__(self, request: Request) -> Answer:
        """The answer; the same for the same request."""
        path = request.path.partition("?")[0].rstrip("/")
        try:
            if websocket_edits.upgrades(request):
                return sockets.answer(request, self._replying)
            if self.mcp.speaks(request) and not self.agents.called(request):
                return self.mcp.answer(request)
            if (taken := telemetry.answer(request) or tokenizer.answer(request)) is not None:
                return taken
            if request.method == "GET" and path.endswith("/models"):
                return Answer(200, _JSON, _models(request))
            if request.method == "GET" and path.endswith("/api/tags"):
                return Answer(200, _JSON, orjson.dumps({"models": [{"name": n, "model": n} for n in MODELS]}))
            candidates = dialects().values() if request.method == "POST" else ()
            dialect = next((one for one in candidates if one.answers(request)), None)
            if dialect is None and self.agents.protocol_of(request) is not None:
                return self.agents.answer(request, self._replying)
            if dialect is None:
                raise _shared.refuse(
                    wire.protocol(_family(request)), f"Invalid URL ({request.method} {path})", 404
                )
            return self._answer(dialect, request)
        except Refused as refused:
            return _plain(refused.response)

    def _answer(self, dialect: Dialect, request: Request) -> Answer:
        dialect.check_key(request)
        conversation = dialect.receive(request)
        reply = self.script.reply(conversation) if self.script else talk.reply(conversation)
        fails = self.failing.next(conversation)
        if fails is not None and fails.error is not None:
            reply = replace(reply, failure=fails.error.made())
        pace = self._pace(reply)
        first = round(pace.pauses(conversation.digest, 1)[0])
        breaks = None if fails is None else fails.breaks
        if reply.failure is not None:
            failure = reply.failure
            protocol = wire.protocol(dialect.protocol)
            error = protocol.error_by(
                protocol.provider(request),
                failure.status,
                message=failure.message,
                retry_after_s=failure.retry_after_s,
            )
            return _plain(error, first)
        headers = dialect.headers_by(wire.protocol(dialect.protocol).provider(request), conversation)
        trailers = dialect.trailers(conversation)
        if not conversation.view.stream:
            kind: Headers = (("content-type", dialect.whole_type),)
            body = dialect.whole(conversation, reply)
            answer = Answer(200, (*kind, *headers), body, None, first, trailers=trailers)
            return answer if breaks is None else _broken(answer, breaks, wire.protocol(dialect.protocol))
        events = dialect.events(conversation, reply)
        kind = (("content-type", dialect.streams_as(conversation)), ("cache-control", "no-cache"))
        pauses = pace.pauses(conversation.digest, len(events)) if pace.varies else ()
        between = round(pace.between_ms)
        answer = Answer(200, (*kind, *headers), b"", events, first, between, trailers=trailers, pauses=pauses)
        return answer if breaks is None else _broken(answer, breaks, wire.protocol(dialect.protocol))

    def _replying(self, conversation: Conversation) -> Reply:
        """What the model says, with the delays that hold for it."""
        reply = self.script.reply(conversation) if self.script else talk.reply(conversation)
        first, between = self._delays(reply)
        return replace(reply, first_event_delay_ms=first, chunk_delay_ms=between)

    def _pace(self, reply: Reply) -> Pace:
        """The script's own words go first, then what the mock was started with."""
        first, between = self._delays(reply)
        pace, script = self.pace, self.script
        if script is not None and (script.tokens_per_s or script.jitter):
            pace = Pace(0, 0, script.tokens_per_s, script.jitter, script.seed)
        scripted = reply.chunk_delay_ms is not None
        return replace(
            pace,
            first_ms=first or pace.first_ms,
            between_ms=between or pace.between_ms,
            tokens_per_s=None if scripted else pace.tokens_per_s,
        )

    def _delays(self, reply: Reply) -> tuple[int, int]:
        first, between = reply.first_event_delay_ms, reply.chunk_delay_ms
        if self.script is not None:
            first = self.script.first_event_delay_ms if first is None else first
            between = self.script.chunk_delay_ms if between is None else between
        return first or self.first_event_delay_ms, between or self.chunk_delay_ms


def _broken(answer: Answer, breaks: BreakSpec, protocol: Protocol) -> Answer:
    """The answer as far as it comes."""
    if breaks.how != "error":
        return replace(answer, breaks=Break(breaks.after_events, breaks.how))
    if answer.events is None:
        return _plain(protocol.error(500), answer.first_event_delay_ms)
    event = protocol.edits.error_event("server_error", None)
    before = answer.events[: breaks.after_events]
    last = (protocol.edits.numbered(event, len(before)),) if event else ()
    trailers = protocol.edits.error_trailers("server_error", None)
    return replace(answer, events=(*before, *last), trailers=trailers)


def _plain(response: Response, delay_ms: int = 0) -> Answer:
    headers = tuple(pair for pair in response.headers if pair[0] != "content-length")
    return Answer(response.status, headers, response.body or b"", None, delay_ms)


def _family(request: Request) -> str:
    if header(request.headers, "anthropic-version") is not None:
        return "anthropic"
    return _families().get(recognition.provider_of(request.host) or "", "openai_chat")


@cache
def _families() -> Mapping[str, str]:
    """By provider, the protocol whose errors its hosts give for a path that they do not have."""
    known = reversed([*wire.protocols().values()])
    return {provider: protocol.name for protocol in known for _, provider in protocol.hosts}


def _models(request: Request) -> bytes:
    """The list in the shape of the provider whose SDK asks."""
    if _family(request) == "anthropic":
        made = "2026-01-01T00:00:00Z"
        data = [{"type": "model", "id": name, "display_name": name, "created_at": made} for name in MODELS]
        return orjson.dumps({"data": data, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]})
    listed = [
        {"id": name, "object": "model", "created": _shared.CREATED, "owned_by": "mock"} for name in MODELS
    ]
    return orjson.dumps({"object": "list", "data": listed})
