"""Cohere Chat (version 2), answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Tool
from faultwire.mock._shared import refuse
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

Event = dict[str, Any]


class CohereDialect(Dialect):
    """`POST …/v2/chat`."""

    protocol = "cohere"
    path = "/v2/chat"
    base = ""
    provider = "Cohere"
    stream_type = "text/event-stream"

    def check_key(self, request: Request) -> None:
        """`Authorization: Bearer`."""
        if not _shared.bearer(request):
            raise refuse(self._wire, "no api key supplied", 401)

    def read(self, body: bytes) -> Conversation:
        """The conversation, checked as the API checks it."""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "invalid request: model is required")
        if not json_bytes.objects(document.get("messages")):
            raise refuse(self._wire, "invalid request: messages must not be empty")
        choice = json_bytes.string(document.get("tool_choice")).upper()
        wanted = document.get("response_format")
        schema = json_bytes.member(wanted, "json_schema") or json_bytes.member(wanted, "schema")
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(body),
            tools=_tools(document),
            may_call=choice != "NONE",
            must_call=choice == "REQUIRED",
            max_tokens=_shared.positive(document.get("max_tokens")),
            answer_schema=schema if isinstance(schema, dict) else None,
        )

    def headers(self, conversation: Conversation) -> Headers:
        """As the API sends them."""
        return (
            ("x-debug-trace-id", _shared.made_id("", conversation, length=32)),
            ("x-endpoint-monthly-call-limit", "1000"),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One message."""
        text, used, cut = _shared.limited_text(conversation, reply)
        message: dict[str, Any] = {"role": "assistant"}
        if text or not reply.calls:
            message["content"] = [{"type": "text", "text": text}]
        if reply.calls:
            message |= {"tool_plan": _plan(reply), "tool_calls": _calls(conversation, reply)}
        return orjson.dumps(
            {
                "id": _shared.made_id("", conversation, length=32),
                "finish_reason": _finish(reply, cut=cut),
                "message": message,
                "usage": _usage(conversation, reply, used),
            }
        )

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """From `message-start` to `message-end`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        made = _shared.made_id("", conversation, length=32)
        empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        out: list[Event] = [{"type": "message-start", "id": made, "delta": {"message": empty}}]
        if reply.calls:
            out += [_event("tool-plan-delta", {"tool_plan": word}) for word in _shared.words(_plan(reply))]
            for index, call in enumerate(_calls(conversation, reply)):
                out += _call_events(index, call)
        if text or not reply.calls:
            begun = {"content": {"type": "text", "text": ""}}
            out.append(_event("content-start", begun, 0))
            out += [_event("content-delta", {"content": {"text": word}}, 0) for word in _shared.words(text)]
            out.append({"type": "content-end", "index": 0})
        closing = {"finish_reason": _finish(reply, cut=cut), "usage": _usage(conversation, reply, used)}
        out.append({"type": "message-end", "id": made, "delta": closing})
        return tuple(sse.write(orjson.dumps(event), event["type"]) for event in out)

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _event(kind: str, message: dict[str, Any], index: int | None = None) -> Event:
    at = {} if index is None else {"index": index}
    return {"type": kind, **at, "delta": {"message": message}}


def _call_events(index: int, call: dict[str, Any]) -> list[Event]:
    begun = {**call, "function": {**call["function"], "arguments": ""}}
    pieces = _shared.pieces(call["function"]["arguments"])
    return [
        _event("tool-call-start", {"tool_calls": begun}, index),
        *(_event("tool-call-delta", {"tool_calls": {"function": {"arguments": p}}}, index) for p in pieces),
        {"type": "tool-call-end", "index": index},
    ]


def _plan(reply: Reply) -> str:
    return "I will use " + " and ".join(call.name for call in reply.calls) + "."


def _finish(reply: Reply, *, cut: bool) -> str:
    if cut:
        return "MAX_TOKENS"
    return "TOOL_CALL" if reply.calls else "COMPLETE"


def _calls(conversation: Conversation, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": _shared.made_id(f"{call.name}_", conversation, str(index), 12),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for index, call in enumerate(reply.calls)
    ]


def _usage(conversation: Conversation, reply: Reply, used: int) -> dict[str, Any]:
    used += sum(token_budget.count(f"{call.name} {json.dumps(call.arguments)}") for call in reply.calls)
    counts = {"input_tokens": _shared.read_tokens(conversation.view), "output_tokens": used}
    return {"billed_units": counts, "tokens": counts}


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    functions = (tool.get("function") for _, tool in json_bytes.objects(document.get("tools")))
    return tuple(
        Tool(f["name"], json_bytes.string(f.get("description")), f.get("parameters") or {})
        for f in functions
        if isinstance(f, dict) and isinstance(f.get("name"), str)
    )
