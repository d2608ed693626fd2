"""From a request to an answer: routing, keys, the reply. Pure: no socket, no clock; the only state are
the conversations that a provider would keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared, talk
from faultwire.mock._api import Answer, Refused
from faultwire.mock._registry import BUILTIN
from faultwire.wire import _recognise

if TYPE_CHECKING:
    from faultwire.events import Headers, Request, Response
    from faultwire.mock._api import Dialect, Reply
    from faultwire.mock.script import Script

MODELS = ("gpt-4o-mini", "gpt-4o", "gpt-5-mini", "claude-sonnet-4-5", "claude-haiku-4-5")
"""What the model list shows. Any other name is answered, too."""

_JSON: Headers = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Answerer:
    """What answers a request. Delays are milliseconds; a script's own go first."""

    script: Script | None = None
    first_event_delay_ms: int = 0
    chunk_delay_ms: int = 0

    def __call__(self, request: Request) -> Answer:
        """The answer; the same for the same request."""
        path = request.path.partition("?")[0].rstrip("/")
        try:
            if request.method == "GET" and path.endswith("/models"):
                return Answer(200, _JSON, _models(request))
            if request.method == "GET" and path.endswith("/api/tags"):
                return Answer(200, _JSON, orjson.dumps({"models": [{"name": n, "model": n} for n in MODELS]}))
            dialect = next((d for d in BUILTIN if request.method == "POST" and d.answers(request)), None)
            if dialect is None:
                raise _shared.refuse(
                    wire.protocol(_family(request)), f"Invalid URL ({request.method} {path})", 404
                )
            return self._answer(dialect, request)
        except Refused as refused:
            return _plain(refused.response)

    def _answer(self, dialect: Dialect, request: Request) -> Answer:
        dialect.check_key(request)
        conversation = dialect.hear(request)
        reply = self.script.reply(conversation) if self.script else talk.reply(conversation)
        first, between = self._delays(reply)
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
        headers = dialect.headers(conversation)
        if not conversation.view.stream:
            return Answer(200, (*_JSON, *headers), dialect.whole(conversation, reply), None, first)
        events = dialect.events(conversation, reply)
        kind = (("content-type", dialect.stream_type), ("cache-control", "no-cache"))
        return Answer(200, (*kind, *headers), b"", events, first, between)

    def _delays(self, reply: Reply) -> tuple[int, int]:
        first, between = reply.first_event_delay_ms, reply.chunk_delay_ms
        if self.script is not None:
            first = self.script.first_event_delay_ms if first is None else first
            between = self.script.chunk_delay_ms if between is None else between
        return first or self.first_event_delay_ms, between or self.chunk_delay_ms


def _plain(response: Response, delay_ms: int = 0) -> Answer:
    headers = tuple(pair for pair in response.headers if pair[0] != "content-length")
    return Answer(response.status, headers, response.body or b"", None, delay_ms)


def _family(request: Request) -> str:
    if header(request.headers, "anthropic-version") is not None:
        return "anthropic"
    return _FAMILIES.get(_recognise.provider_of(request.host) or "", "openai_chat")


_FAMILIES = {"google": "gemini", "cohere": "cohere", "aws": "bedrock", "ollama": "ollama"}
"""Whose errors a host gives for a path that it does not have."""


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
