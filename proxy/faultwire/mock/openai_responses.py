"""OpenAI Responses, answered. Conversations are kept, so that a request may name an earlier response."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Tool
from faultwire.mock._openai_headers import OpenAIFamily
from faultwire.mock._shared import refuse
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_KEPT = 1024
"""Conversations, and items of them, that are kept."""
Items = list[dict[str, Any]]


class OpenAIResponsesDialect(OpenAIFamily):
    """`POST …/responses`."""

    protocol = "openai_responses"
    path = "/responses"
    base = "/v1"
    provider = "OpenAI Responses"

    def __init__(self) -> None:
        self._asked: OrderedDict[str, tuple[Items, str]] = OrderedDict()
        self._kept: OrderedDict[str, Items] = OrderedDict()

    def check_key(self, request: Request) -> None:
        """`Authorization: Bearer`, or Azure's `api-key`."""
        if not (_shared.bearer(request) or header(request.headers, "api-key")):
            raise refuse(self._wire, "Missing bearer or basic authentication in header", 401)

    def read(self, body: bytes) -> Conversation:
        """The conversation with what came before it, checked as the API checks it."""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "Missing required parameter: 'model'.")
        items = [*self._before(document), *self._new(document)]
        if not items:
            raise refuse(self._wire, "Missing required parameter: 'input'.")
        _check_pairs(self._wire, items)
        normalised = {**document, "input": items}
        choice = document.get("tool_choice")
        digest = _shared.digest(self.protocol, normalised)
        _keep(self._asked, digest, (items, _conversation_id(document)))
        return Conversation(
            digest=digest,
            view=self._wire.request_view(orjson.dumps(normalised)),
            tools=tools_of(document),
            may_call=choice != "none",
            must_call=choice == "required" or isinstance(choice, dict),
            only=json_bytes.member(choice, "name"),
            parallel=document.get("parallel_tool_calls") is not False,
            max_tokens=_shared.positive(document.get("max_output_tokens")),
            answer_schema=_answer_schema(json_bytes.member(document, "text", "format")),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One `response`."""
        return orjson.dumps(self._response(conversation, reply))

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """From `response.created` to `response.completed`."""
        final = self._response(conversation, reply)
        begun = {**final, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
        out: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, item in enumerate(final["output"]):
            out += _message_events(index, item) if item["type"] == "message" else _call_events(index, item)
        out.append({"type": f"response.{final['status']}", "response": final})
        return tuple(
            sse.write(
                orjson.dumps({"type": event["type"], "sequence_number": number, **event}), event["type"]
            )
            for number, event in enumerate(out)
        )

    def _before(self, document: dict[str, Any]) -> Items:
        previous = document.get("previous_response_id")
        if isinstance(previous, str):
            if previous not in self._kept:
                raise refuse(self._wire, f"Previous response with id '{previous}' not found.")
            return self._kept[previous]
        return self._kept.get(_conversation_id(document), [])

    def _new(self, document: dict[str, Any]) -> Items:
        asked = document.get("input")
        if isinstance(asked, str):
            return [{"role": "user", "content": asked}]
        found: Items = []
        for _, item in json_bytes.objects(asked):
            if item.get("type") == "item_reference":
                name = json_bytes.string(item.get("id"))
                if name not in self._kept:
                    raise refuse(self._wire, f"Item with id '{name}' not found.", 404)
                found += self._kept[name]
            else:
                found.append(item)
        return found

    def _response(self, conversation: Conversation, reply: Reply) -> dict[str, Any]:
        text, used, cut = _shared.limited_text(conversation, reply)
        output = _output(conversation, reply, text, cut=cut)
        made = _shared.made_id("resp_", conversation, length=48)
        asked, kept_as = self._asked.get(conversation.digest, ([], ""))
        for name in (made, kept_as):
            if name:
                _keep(self._kept, name, [*asked, *output])
        for item in output:
            _keep(self._kept, item["id"], [item])
        read = _shared.read_tokens(conversation.view)
        used += sum(token_budget.count(f"{i['name']} {i['arguments']}") for i in output if "arguments" in i)
        return {
            "id": made,
            "object": "response",
            "created_at": _shared.CREATED,
            "status": "incomplete" if cut else "completed",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "instructions": conversation.view.system or None,
            "model": conversation.view.model,
            "output": output,
            "parallel_tool_calls": conversation.parallel,
            "tool_choice": "auto",
            "tools": [],
            "metadata": {},
            "usage": {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": used,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": read + used,
            },
        }

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _keep(memory: OrderedDict[str, Any], key: str, value: Any) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > _KEPT:
        memory.popitem(last=False)


def _conversation_id(document: dict[str, Any]) -> str:
    conversation = document.get("conversation")
    return (
        conversation
        if isinstance(conversation, str)
        else json_bytes.string(json_bytes.member(conversation, "id"))
    )


def _output(conversation: Conversation, reply: Reply, text: str, *, cut: bool) -> Items:
    status = "incomplete" if cut else "completed"
    items: Items = []
    if text or not reply.calls:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        made = _shared.made_id("msg_", conversation, length=48)
        items.append(
            {"type": "message", "id": made, "role": "assistant", "status": status, "content": [part]}
        )
    for index, call in enumerate(reply.calls):
        items.append(
            {
                "type": "function_call",
                "id": _shared.made_id("fc_", conversation, str(index), 48),
                "call_id": _shared.made_id("call_", conversation, str(index)),
                "name": call.name,
                "arguments": json.dumps(call.arguments, ensure_ascii=False),
                "status": "completed",
            }
        )
    return items


def _message_events(index: int, item: dict[str, Any]) -> Items:
    part = item["content"][0]
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *(
            {"type": "response.output_text.delta", **at, "delta": word, "logprobs": []}
            for word in _shared.words(part["text"])
        ),
        {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _call_events(index: int, item: dict[str, Any]) -> Items:
    at = {"item_id": item["id"], "output_index": index}
    begun = {**item, "status": "in_progress", "arguments": ""}
    named = {"name": item["name"], "arguments": item["arguments"]}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *(
            {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            for piece in _shared.pieces(item["arguments"])
        ),
        {"type": "response.function_call_arguments.done", **at, **named},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def tools_of(document: dict[str, Any]) -> tuple[Tool, ...]:
    """The client's functions; hosted tools have a type of their own."""
    return tuple(
        Tool(tool["name"], json_bytes.string(tool.get("description")), tool.get("parameters") or {})
        for _, tool in json_bytes.objects(document.get("tools"))
        if tool.get("type") == "function" and isinstance(tool.get("name"), str)
    )


def _answer_schema(wanted: Any) -> dict[str, Any] | None:
    kind = json_bytes.member(wanted, "type")
    if kind == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    schema = json_bytes.member(wanted, "schema")
    return schema if kind == "json_schema" and isinstance(schema, dict) else None


def _check_pairs(protocol: Protocol, items: Items) -> None:
    """Every call has its output, and every output its call."""
    called = {i.get("call_id") for i in items if i.get("type") == "function_call"}
    answered = {i.get("call_id") for i in items if i.get("type") == "function_call_output"}
    for call_id in sorted(str(name) for name in answered - called):
        raise refuse(protocol, f"No tool call found for function call output with call_id {call_id}.")
    for call_id in sorted(str(name) for name in called - answered):
        raise refuse(protocol, f"No tool output found for function call {call_id}.")
