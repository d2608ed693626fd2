"""Anthropic Messages, answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Refused, Tool
from faultwire.mock._shared import refuse
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol


class AnthropicDialect(Dialect):
    """`POST …/messages`."""

    protocol = "anthropic"
    path = "/messages"
    base = ""
    provider = "Anthropic"

    def check_key(self, request: Request) -> None:
        """`x-api-key`, or `Authorization: Bearer` as newer SDKs send it."""
        if not (header(request.headers, "x-api-key") or _shared.bearer(request)):
            raise refuse(self._wire, "x-api-key header is required", 401)

    def answers(self, request: Request) -> bool:
        """Also the path on Vertex, which names the model."""
        return super().answers(request) or _on_vertex(request)

    def receive(self, request: Request) -> Conversation:
        """With the model and the way of answering from the path, where that has them."""
        if not _on_vertex(request):
            return self.read(request.body or b"")
        asked = _shared.document(self._wire, request.body or b"")
        model, _, method = request.path.partition("?")[0].rpartition("/")[2].rpartition(":")
        return self.read(orjson.dumps({**asked, "model": model, "stream": method == "streamRawPredict"}))

    def read(self, body: bytes) -> Conversation:
        """The conversation, checked as the API checks it."""
        document = _shared.document(self._wire, body)
        if "thread" in document:
            raise self._no_threads()
        for name in ("model", "messages", "max_tokens"):
            if name not in document:
                raise refuse(self._wire, f"{name}: Field required")
        messages = document["messages"]
        if not isinstance(messages, list) or not messages:
            raise refuse(self._wire, "messages: at least one message is required")
        _check_pairs(self._wire, messages)
        choice = document.get("tool_choice")
        kind = json_bytes.member(choice, "type")
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(body),
            tools=_tools(document),
            may_call=kind != "none",
            must_call=kind in ("any", "tool"),
            only=json_bytes.member(choice, "name") if kind == "tool" else None,
            parallel=json_bytes.member(choice, "disable_parallel_tool_use") is not True,
            max_tokens=_shared.positive(document["max_tokens"]),
            answer_schema=_answer_schema(document),
        )

    def headers(self, conversation: Conversation) -> Headers:
        """As the API sends them, without the instants at which limits are reset."""
        return (
            ("request-id", _shared.made_id("req_011", conversation, length=21)),
            ("anthropic-organization-id", "00000000-0000-4000-8000-000000000000"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-input-tokens-limit", "30000"),
            ("anthropic-ratelimit-input-tokens-remaining", "29000"),
            ("anthropic-ratelimit-output-tokens-limit", "8000"),
            ("anthropic-ratelimit-output-tokens-remaining", "7600"),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One `message`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        calls = _calls(conversation, reply)
        content = [{"type": "text", "text": text}] if text else []
        shown = _message(conversation, [*content, *calls])
        shown |= {"stop_reason": _stop(calls, cut=cut)}
        shown["usage"] |= {"output_tokens": _written(used, calls)}
        return orjson.dumps(shown)

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """From `message_start` to `message_stop`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        calls = _calls(conversation, reply)
        out: list[dict[str, Any]] = [{"type": "message_start", "message": _message(conversation, [])}]
        blocks: list[tuple[dict[str, Any], list[dict[str, str]]]] = []
        if text:
            spoken = [{"type": "text_delta", "text": word} for word in _shared.words(text)]
            blocks.append(({"type": "text", "text": ""}, spoken))
        for call in calls:
            written = json.dumps(call["input"], ensure_ascii=False)
            parts = ["", *_shared.pieces(written)]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            blocks.append(({**call, "input": {}}, deltas))
        for index, (block, deltas) in enumerate(blocks):
            out.append({"type": "content_block_start", "index": index, "content_block": block})
            if index == 0:
                out.append({"type": "ping"})
            out += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            out.append({"type": "content_block_stop", "index": index})
        closing = {"stop_reason": _stop(calls, cut=cut), "stop_sequence": None}
        usage = {"output_tokens": _written(used, calls)}
        out += [{"type": "message_delta", "delta": closing, "usage": usage}, {"type": "message_stop"}]
        return tuple(sse.write(orjson.dumps(event), event["type"]) for event in out)

    def _no_threads(self) -> Refused:
        """Threads keep the history on the server; if they are off, the SDK sends all of it."""
        answer = self._wire.error(400, message="message threads are not supported here")
        shown = orjson.loads(answer.body or b"{}")
        shown["error"]["details"] = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
        return Refused(_shared.with_body(answer, orjson.dumps(shown)))

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _on_vertex(request: Request) -> bool:
    path = request.path.partition("?")[0]
    return "/publishers/anthropic/models/" in path and path.endswith((":rawPredict", ":streamRawPredict"))


def _message(conversation: Conversation, content: list[dict[str, Any]]) -> dict[str, Any]:
    read = _shared.read_tokens(conversation.view)
    return {
        "id": _shared.made_id("msg_01", conversation, length=22),
        "type": "message",
        "role": "assistant",
        "model": conversation.view.model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": read,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 1,
        },
    }


def _stop(calls: list[dict[str, Any]], *, cut: bool) -> str:
    if cut:
        return "max_tokens"
    return "tool_use" if calls else "end_turn"


def _calls(conversation: Conversation, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "type": "tool_use",
            "id": _shared.made_id("toolu_01", conversation, str(index), 22),
            "name": call.name,
            "input": call.arguments,
        }
        for index, call in enumerate(reply.calls)
    ]


def _written(used: int, calls: list[dict[str, Any]]) -> int:
    return used + sum(token_budget.count(f"{call['name']} {json.dumps(call['input'])}") for call in calls)


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    """The client's tools; those that run on the server have a type and no schema."""
    return tuple(
        Tool(tool["name"], json_bytes.string(tool.get("description")), tool["input_schema"])
        for _, tool in json_bytes.objects(document.get("tools"))
        if isinstance(tool.get("name"), str) and isinstance(tool.get("input_schema"), dict)
    )


def _answer_schema(document: dict[str, Any]) -> dict[str, Any] | None:
    for place in (("output_format",), ("output_config", "format")):
        wanted = json_bytes.member(document, *place)
        schema = json_bytes.member(wanted, "schema")
        if json_bytes.member(wanted, "type") == "json_schema" and isinstance(schema, dict):
            return schema
    return None


def _check_pairs(protocol: Protocol, messages: list[Any]) -> None:
    """Every call is answered in the next message, and nothing else is answered there."""
    open_calls: list[str] = []
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
            raise refuse(protocol, f"messages.{at}.role: Input should be 'user' or 'assistant'")
        blocks = json_bytes.objects(message.get("content"))
        for number, block in blocks:
            if block.get("type") != "tool_result":
                continue
            call_id = json_bytes.string(block.get("tool_use_id"))
            if call_id not in open_calls:
                raise refuse(
                    protocol,
                    f"messages.{at}.content.{number}: unexpected `tool_use_id` found in `tool_result` "
                    f"blocks: {call_id}. Each `tool_result` block must have a corresponding `tool_use` block "
                    "in the previous message.",
                )
            open_calls.remove(call_id)
        _check_answered(protocol, at - 1, open_calls)
        open_calls = [json_bytes.string(b.get("id")) for _, b in blocks if b.get("type") == "tool_use"]
    _check_answered(protocol, len(messages) - 1, open_calls)


def _check_answered(protocol: Protocol, at: int, open_calls: list[str]) -> None:
    if open_calls:
        raise refuse(
            protocol,
            f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(open_calls)}. Each `tool_use` block must have a corresponding `tool_result` block "
            "in the next message.",
        )
