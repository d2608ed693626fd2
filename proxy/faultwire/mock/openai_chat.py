"""OpenAI Chat Completions, answered."""

from __future__ import annotations

import json
from dataclasses import replace
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

_USAGE = "usage"
"""The option: the stream ends with a chunk of usage."""
_WHOLE_CALLS = "whole_calls"
"""The option: a call is streamed in one piece."""
_LAST = "usage_last"
"""The option: the last chunk with a choice counts, too."""
_X_GROQ = "x_groq"
"""The option: it does so under a name of its own."""
_HABITS = {"mistral": frozenset((_WHOLE_CALLS, _LAST)), "groq": frozenset((_X_GROQ,))}


class OpenAIChatDialect(OpenAIFamily):
    """`POST …/chat/completions`."""

    protocol = "openai_chat"
    path = "/chat/completions"
    base = "/v1"
    provider = "OpenAI and compatible servers"

    def check_key(self, request: Request) -> None:
        """`Authorization: Bearer`, or Azure's `api-key`."""
        if not (_shared.bearer(request) or header(request.headers, "api-key")):
            text = (
                "You didn't provide an API key. You need to provide your API key in an Authorization header "
                "using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
            )
            raise refuse(self._wire, text, 401)

    def receive(self, request: Request) -> Conversation:
        """Mistral streams each call in one piece (its SDK takes nothing else), and counts without being
        asked, as Groq does."""
        conversation = self.read(request.body or b"")
        more = _HABITS.get(self._wire.provider(request), frozenset())
        return replace(conversation, options=conversation.options | more)

    def read(self, body: bytes) -> Conversation:
        """The conversation, checked as the API checks it."""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "you must provide a model parameter")
        messages = document.get("messages")
        if not isinstance(messages, list) or not messages:
            raise refuse(self._wire, "Missing required parameter: 'messages'.")
        _check_pairs(self._wire, messages)
        choice = document.get("tool_choice")
        tools = _tools(document)
        options = document.get("stream_options")
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(body),
            tools=tools,
            may_call=choice != "none",
            must_call=choice == "required" or isinstance(choice, dict),
            only=json_bytes.member(choice, "function", "name"),
            parallel=document.get("parallel_tool_calls") is not False,
            max_tokens=_shared.positive(document.get("max_completion_tokens"))
            or _shared.positive(document.get("max_tokens")),
            answer_schema=_answer_schema(document.get("response_format")),
            options=frozenset({_USAGE})
            if json_bytes.member(options, "include_usage") is True
            else frozenset(),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One `chat.completion`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        calls = _calls(conversation, reply)
        message: dict[str, Any] = {"role": "assistant", "content": text or None if calls else text}
        if calls:
            message["tool_calls"] = calls
        message |= {"refusal": None, "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(calls, cut=cut)}
        shown = {
            **_identity(conversation, "chat.completion"),
            "choices": [choice],
            "usage": _usage(conversation, used, calls),
            "service_tier": "default",
            "system_fingerprint": "fp_mock",
        }
        return orjson.dumps(shown)

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """`chat.completion.chunk`s and `[DONE]`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        calls = _calls(conversation, reply)
        first = {"role": "assistant", "content": None if calls and not text else "", "refusal": None}
        deltas: list[dict[str, Any]] = [first]
        deltas += [{"content": word} for word in _shared.words(text)]
        for index, call in enumerate(calls):
            if _WHOLE_CALLS in conversation.options:
                deltas.append({"tool_calls": [{"index": index, **call}]})
                continue
            function = {"name": call["function"]["name"], "arguments": ""}
            deltas.append({"tool_calls": [{"index": index, **call, "function": function}]})
            for piece in _shared.pieces(call["function"]["arguments"]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        head = {
            **_identity(conversation, "chat.completion.chunk"),
            "service_tier": "default",
            "system_fingerprint": "fp_mock",
        }
        tail = {"usage": None} if _USAGE in conversation.options else {}
        ends: list[tuple[dict[str, Any], str | None]] = [(delta, None) for delta in deltas] + [
            ({}, _finish(calls, cut=cut))
        ]
        chunks = [{**head, "choices": [_choice(delta, end)], **tail} for delta, end in ends]
        if _LAST in conversation.options:
            chunks[-1]["usage"] = _usage(conversation, used, calls)
        if _X_GROQ in conversation.options:
            counted = _usage(conversation, used, calls)
            chunks[-1]["x_groq"] = {"id": _shared.made_id("req_", conversation), "usage": counted}
        if tail:
            chunks.append({**head, "choices": [], "usage": _usage(conversation, used, calls)})
        return (*(sse.write(orjson.dumps(chunk)) for chunk in chunks), sse.write(b"[DONE]"))

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _identity(conversation: Conversation, kind: str) -> dict[str, Any]:
    made = _shared.made_id("chatcmpl-", conversation, length=29)
    return {"id": made, "object": kind, "created": _shared.CREATED, "model": conversation.view.model}


def _finish(calls: list[dict[str, Any]], *, cut: bool) -> str:
    if cut:
        return "length"
    return "tool_calls" if calls else "stop"


def _calls(conversation: Conversation, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": _shared.made_id("call_", conversation, str(index)),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for index, call in enumerate(reply.calls)
    ]


def _usage(conversation: Conversation, used: int, calls: list[dict[str, Any]]) -> dict[str, Any]:
    read = _shared.read_tokens(conversation.view)
    used += sum(
        token_budget.count(f"{call['function']['name']} {call['function']['arguments']}") for call in calls
    )
    return {
        "prompt_tokens": read,
        "completion_tokens": used,
        "total_tokens": read + used,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    found = []
    for _, tool in json_bytes.objects(document.get("tools")):
        function = tool.get("function")
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            described = json_bytes.string(function.get("description"))
            found.append(Tool(function["name"], described, schema if isinstance(schema, dict) else {}))
    return tuple(found)


def _answer_schema(wanted: Any) -> dict[str, Any] | None:
    kind = json_bytes.member(wanted, "type")
    if kind == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    schema = json_bytes.member(wanted, "json_schema", "schema")
    return schema if kind == "json_schema" and isinstance(schema, dict) else None


def _check_pairs(protocol: Protocol, messages: list[Any]) -> None:
    """Every call is answered right behind it, and nothing is answered that was not called."""
    open_calls: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise refuse(protocol, "Invalid type for 'messages': expected an array of objects with a role.")
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_calls:
                raise refuse(
                    protocol,
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
                    "with 'tool_calls'.",
                )
            open_calls.remove(call_id)
            continue
        _check_answered(protocol, open_calls)
        calls = json_bytes.objects(message.get("tool_calls")) if message["role"] == "assistant" else []
        open_calls = [json_bytes.string(call.get("id")) for _, call in calls]
    _check_answered(protocol, open_calls)


def _check_answered(protocol: Protocol, open_calls: list[str]) -> None:
    if open_calls:
        raise refuse(
            protocol,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(open_calls),
        )
