"""Amazon Bedrock, answered: Converse, and InvokeModel with Anthropic's messages."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core, wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Tool
from faultwire.mock._shared import refuse
from faultwire.mock.anthropic import AnthropicDialect
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import split as framing, sse

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol


def frame(kind: str, payload: dict[str, Any]) -> bytes:
    """One event of a stream."""
    headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")]
    return _core.eventstream_write(headers, orjson.dumps(payload))


class _Aws(Dialect):
    """What both APIs share: the key, the path, the request id."""

    base = ""
    stream_type = framing.EVENT_STREAM

    def answers(self, request: Request) -> bool:
        """By the protocol's own paths."""
        return self._wire.recognise(request)

    def check_key(self, request: Request) -> None:
        """A signature, or a bearer token."""
        if not header(request.headers, "authorization"):
            raise refuse(self._wire, "Missing Authentication Token", 403)

    def headers(self, conversation: Conversation) -> Headers:
        """As the API sends them."""
        return (("x-amzn-requestid", _shared.made_uuid(conversation)),)

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


class BedrockDialect(_Aws):
    """`POST …/model/{id}/converse`, `…/converse-stream`."""

    protocol = "bedrock"
    path = "/model/{id}/converse"
    provider = "Amazon Bedrock Converse"

    def receive(self, request: Request) -> Conversation:
        """With the model and the way of answering, which only the path tells."""
        conversation = self.read(request.body or b"")
        view = self._wire.view(request)
        named = _core.sha256_hex(f"{view.model}\0{conversation.digest}".encode())
        return replace(conversation, view=view, digest=named)

    def read(self, body: bytes) -> Conversation:
        """The conversation, checked as the API checks it."""
        document = _shared.document(self._wire, body)
        messages = json_bytes.objects(document.get("messages"))
        if not messages:
            raise refuse(self._wire, "The messages field must hold at least one message.")
        _check_pairs(self._wire, [message for _, message in messages])
        choice = json_bytes.member(document, "toolConfig", "toolChoice")
        only = json_bytes.member(choice, "tool", "name")
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(body),
            tools=_tools(document),
            must_call=only is not None or json_bytes.member(choice, "any") is not None,
            only=only,
            max_tokens=_shared.positive(json_bytes.member(document, "inferenceConfig", "maxTokens")),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One message."""
        text, used, cut = _shared.limited_text(conversation, reply)
        content: list[dict[str, Any]] = [{"text": text}] if text or not reply.calls else []
        content += [{"toolUse": use} for use in _uses(conversation, reply)]
        return orjson.dumps(
            {
                "metrics": {"latencyMs": 12},
                "output": {"message": {"content": content, "role": "assistant"}},
                "stopReason": _stop(reply, cut=cut),
                "usage": _usage(conversation, reply, used),
            }
        )

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """From `messageStart` to `metadata`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        out = [frame("messageStart", {"role": "assistant"})]
        index = 0
        if text or not reply.calls:
            out += [_delta(index, {"text": word}) for word in _shared.words(text)]
            out.append(frame("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
        for number, use in enumerate(_uses(conversation, reply), index):
            named = {"toolUseId": use["toolUseId"], "name": use["name"]}
            out.append(frame("contentBlockStart", {"contentBlockIndex": number, "start": {"toolUse": named}}))
            pieces = _shared.pieces(json.dumps(use["input"], ensure_ascii=False))
            out += [_delta(number, {"toolUse": {"input": piece}}) for piece in pieces]
            out.append(frame("contentBlockStop", {"contentBlockIndex": number}))
        out.append(frame("messageStop", {"stopReason": _stop(reply, cut=cut)}))
        counted = {"usage": _usage(conversation, reply, used), "metrics": {"latencyMs": 12}}
        return (*out, frame("metadata", counted))


class BedrockInvokeDialect(_Aws):
    """`POST …/model/{id}/invoke`, `…/invoke-with-response-stream`: Anthropic's messages."""

    protocol = "bedrock_invoke"
    path = "/model/{id}/invoke"
    provider = "Amazon Bedrock InvokeModel (Anthropic)"

    def __init__(self) -> None:
        self._inner = AnthropicDialect()

    def receive(self, request: Request) -> Conversation:
        """With the model and the way of answering, which only the path tells."""
        body = request.body or b""
        document = _shared.document(self._wire, body)
        if "anthropic_version" not in document:
            raise refuse(self._wire, "anthropic_version: Field required")
        view = self._wire.view(request)
        conversation = self._inner.read(orjson.dumps({**document, "model": view.model}))
        return replace(conversation, view=view)

    def read(self, body: bytes) -> Conversation:
        """As Anthropic's."""
        return self._inner.read(body)

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """As Anthropic's."""
        return self._inner.whole(conversation, reply)

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """Anthropic's events, each packed into a frame."""
        found = (sse.fields(event) for event in self._inner.events(conversation, reply))
        return tuple(
            frame("chunk", {"bytes": base64.b64encode(fields.data).decode()}) for fields in found if fields
        )


def _delta(index: int, delta: dict[str, Any]) -> bytes:
    return frame("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})


def _stop(reply: Reply, *, cut: bool) -> str:
    if cut:
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _uses(conversation: Conversation, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "toolUseId": _shared.made_id("tooluse_", conversation, str(index), 22),
            "name": call.name,
            "input": call.arguments,
        }
        for index, call in enumerate(reply.calls)
    ]


def _usage(conversation: Conversation, reply: Reply, used: int) -> dict[str, int]:
    used += sum(token_budget.count(f"{call.name} {json.dumps(call.arguments)}") for call in reply.calls)
    read = _shared.read_tokens(conversation.view)
    return {"inputTokens": read, "outputTokens": used, "totalTokens": read + used}


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    specs = (
        tool.get("toolSpec")
        for _, tool in json_bytes.objects(json_bytes.member(document, "toolConfig", "tools"))
    )
    return tuple(
        Tool(
            spec["name"],
            json_bytes.string(spec.get("description")),
            json_bytes.member(spec, "inputSchema", "json") or {},
        )
        for spec in specs
        if isinstance(spec, dict) and isinstance(spec.get("name"), str)
    )


def _check_pairs(protocol: Protocol, messages: list[dict[str, Any]]) -> None:
    """Every call is answered in the next message, and nothing else is."""
    open_calls: set[str] = set()
    for at, message in enumerate(messages):
        blocks = [block for _, block in json_bytes.objects(message.get("content"))]
        answered = {
            json_bytes.string(json_bytes.member(b, "toolResult", "toolUseId"))
            for b in blocks
            if "toolResult" in b
        }
        if answered != open_calls:
            raise refuse(
                protocol,
                f"The number of toolResult blocks at messages.{at}.content does not match the number of "
                "toolUse blocks of previous turn.",
            )
        open_calls = {
            json_bytes.string(json_bytes.member(b, "toolUse", "toolUseId")) for b in blocks if "toolUse" in b
        }
    if open_calls:
        raise refuse(protocol, "Expected toolResult blocks for the toolUse blocks of the last message.")
