"""OpenAI Responses over a WebSocket, answered: each `response.create` as the request of that name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from faultwire.errors import WireError
from faultwire.mock._api import OutgoingMessage, Refused, Session
from faultwire.wire import json_bytes
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from faultwire.events import Request
    from faultwire.mock._api import Conversation, Reply
    from faultwire.mock.openai_responses import OpenAIResponsesDialect

    Replying = Callable[[Conversation], Reply]


class ResponsesSession(Session):
    """One client's connection. What one response named, the next one may refer to."""

    def __init__(self, request: Request, dialect: OpenAIResponsesDialect, replying: Replying) -> None:
        self._request = request
        self._dialect = dialect
        self._replying = replying

    def receive(self, message: str) -> Iterable[OutgoingMessage]:
        """The events of the stream, or one `error`."""
        body = message.encode("utf-8", "replace")
        try:
            document = json_bytes.load_object(body)
        except WireError:
            return [_refusal("The message is no JSON object.", None)]
        if document.get("type") != "response.create":
            text = f"Invalid value: '{document.get('type')}'. Supported values are: 'response.create'."
            return [_refusal(text, "type")]
        lane = document.pop("stream_id", None)
        document.pop("type")
        return self._answer(orjson.dumps(document), lane if isinstance(lane, str) else None)

    def _answer(self, body: bytes, lane: str | None) -> Iterator[OutgoingMessage]:
        try:
            conversation = self._dialect.receive(replace(self._request, body=body))
        except Refused as refused:
            status, payload = refused.response.status, refused.response.body or b"{}"
            yield _error(status, json_bytes.load_object(payload).get("error"), lane)
            return
        reply = self._replying(conversation)
        if reply.failure is not None:
            failure = reply.failure
            error = {"type": "server_error", "code": "server_error", "message": failure.message or "error"}
            yield _error(failure.status, error, lane)
            return
        for at, event in enumerate(self._dialect.events(conversation, reply)):
            fields = sse.fields(event)
            data = fields.data if fields is not None else b"{}"
            if lane is not None:
                data = json_bytes.put(data, ("stream_id",), json_bytes.dump(lane))
            pause = reply.chunk_delay_ms if at else reply.first_event_delay_ms
            yield OutgoingMessage(data.decode(), pause or 0)


def _refusal(message: str, param: str | None) -> OutgoingMessage:
    error = {"type": "invalid_request_error", "code": "invalid_value", "message": message, "param": param}
    return _error(400, error)


def _error(status: int, error: object, lane: str | None = None) -> OutgoingMessage:
    named = {} if lane is None else {"stream_id": lane}
    return OutgoingMessage(
        orjson.dumps({"type": "error", "status": status, "error": error, **named}).decode()
    )
