"""Gemini generateContent, answered: whole, as server-sent events, or as one JSON array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Tool
from faultwire.mock._shared import refuse
from faultwire.mock.embeddings import vector
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_ARRAY, _EMBED, _BATCH = "array", "embed", "batch"
_SIZE = 768


class GeminiDialect(Dialect):
    """`POST …/models/{model}:generateContent`, `:streamGenerateContent`, `:embedContent`."""

    protocol = "gemini"
    path = "/models/{model}:generateContent"
    base = ""
    provider = "Google Gemini and Vertex"
    stream_type = "text/event-stream"

    def answers(self, request: Request) -> bool:
        """By the protocol's own paths."""
        return "/models/" in request.path and self._wire.recognise(request)

    def check_key(self, request: Request) -> None:
        """`x-goog-api-key`, `?key=`, or a bearer token."""
        has = header(request.headers, "x-goog-api-key") or "key=" in request.path.partition("?")[2]
        if not (has or _shared.bearer(request)):
            text = "Method doesn't allow unregistered callers (callers without established identity)."
            raise refuse(self._wire, text, 403)

    def receive(self, request: Request) -> Conversation:
        """With the model and the way of answering, which only the path tells."""
        body = request.body or b""
        document = _shared.document(self._wire, body)
        method = request.path.partition("?")[0].rpartition(":")[2]
        options = {"batchEmbedContents": _BATCH, "embedContent": _EMBED}.get(method, "")
        if not options and not json_bytes.objects(document.get("contents")):
            raise refuse(self._wire, "* GenerateContentRequest.contents: contents is not specified")
        view = self._wire.view(request)
        if view.stream and "alt=sse" not in request.path.partition("?")[2].split("&"):
            options = _ARRAY
        normalised = {**document, "model": view.model}
        return self._conversation(normalised, view, frozenset({options} - {""}))

    def read(self, body: bytes) -> Conversation:
        """The conversation alone."""
        return self._conversation(
            _shared.document(self._wire, body), self._wire.request_view(body), frozenset()
        )

    def _conversation(self, document: dict[str, Any], view: Any, options: frozenset[str]) -> Conversation:
        settings = _member(document, "generationConfig")
        choice = _member(_member(document, "toolConfig"), "functionCallingConfig")
        allowed = _member(choice, "allowedFunctionNames")
        mode = json_bytes.string(json_bytes.member(choice, "mode")).upper()
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=view,
            tools=_tools(document),
            may_call=mode != "NONE",
            must_call=mode == "ANY",
            only=allowed[0] if isinstance(allowed, list) and len(allowed) == 1 else None,
            max_tokens=_shared.positive(_member(settings, "maxOutputTokens")),
            answer_schema=_answer_schema(settings),
            options=options,
        )

    def headers(self, conversation: Conversation) -> Headers:
        """As the front end sends them."""
        return (("vary", "Origin"), ("server", "ESF"), ("server-timing", "gfet4t7; dur=12"))

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One answer, or vectors."""
        if conversation.options & {_EMBED, _BATCH}:
            return _embedded(conversation)
        text, calls, closing = _reply_parts(conversation, reply)
        parts = [{"text": text}] if text or not calls else []
        return orjson.dumps(_answer(conversation, [*parts, *calls], closing))

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """An answer for every piece; the last one has the reason why it stopped."""
        parts = [orjson.dumps(part) for part in _parts(conversation, reply)]
        if _ARRAY in conversation.options:
            return (b"[" + parts[0], *(b",\r\n" + part for part in parts[1:]), b"]")
        return tuple(b"data: " + part + b"\r\n\r\n" for part in parts)

    def streams_as(self, conversation: Conversation) -> str:
        """Server-sent events, or one array of answers where nobody asked for those."""
        return "application/json; charset=UTF-8" if _ARRAY in conversation.options else self.stream_type

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _reply_parts(
    conversation: Conversation, reply: Reply
) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
    """The text, the calls as parts, and what closes the answer."""
    text, used, cut = _shared.limited_text(conversation, reply)
    calls = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]
    used += sum(
        token_budget.count(f"{call.name} {orjson.dumps(call.arguments).decode()}") for call in reply.calls
    )
    read = _shared.read_tokens(conversation.view)
    usage = {"promptTokenCount": read, "candidatesTokenCount": used, "totalTokenCount": read + used}
    return text, calls, {"finish": "MAX_TOKENS" if cut else "STOP", "usage": usage}


def _parts(conversation: Conversation, reply: Reply) -> list[dict[str, Any]]:
    text, calls, closing = _reply_parts(conversation, reply)
    pieces: list[dict[str, Any]] = [{"text": word} for word in _shared.words(text)]
    pieces += calls
    if not pieces:
        pieces = [{"text": ""}]
    last = len(pieces) - 1
    return [_answer(conversation, [p], closing if at == last else None) for at, p in enumerate(pieces)]


def _answer(
    conversation: Conversation, parts: list[dict[str, Any]], closing: dict[str, Any] | None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    read = _shared.read_tokens(conversation.view)
    usage = {"promptTokenCount": read, "totalTokenCount": read}
    if closing is not None:
        candidate["finishReason"] = closing["finish"]
        usage = closing["usage"]
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": conversation.view.model,
        "responseId": _shared.made_id("", conversation, length=22),
    }


def _embedded(conversation: Conversation) -> bytes:
    found = [{"values": vector(turn.text, _SIZE)} for turn in conversation.view.turns]
    if _BATCH in conversation.options:
        return orjson.dumps({"embeddings": found})
    return orjson.dumps({"embedding": found[0] if found else {"values": vector("", _SIZE)}})


def _member(holder: Any, name: str) -> Any:
    """A member by its JSON name, or by the name in the proto, which REST takes, too."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return (
        json_bytes.member(holder, name)
        if json_bytes.member(holder, name) is not None
        else json_bytes.member(holder, snake)
    )


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    found = []
    for _, tool in json_bytes.objects(document.get("tools")):
        for _, function in json_bytes.objects(_member(tool, "functionDeclarations")):
            schema = _member(function, "parametersJsonSchema") or function.get("parameters") or {}
            if isinstance(function.get("name"), str) and isinstance(schema, dict):
                found.append(
                    Tool(function["name"], json_bytes.string(function.get("description")), _lower(schema))
                )
    return tuple(found)


def _lower(schema: Any) -> Any:
    """Google writes JSON Schema's types in capitals."""
    if isinstance(schema, list):
        return [_lower(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lower(value)
        for key, value in schema.items()
    }


def _answer_schema(settings: Any) -> dict[str, Any] | None:
    if _member(settings, "responseMimeType") != "application/json":
        return None
    schema = _member(settings, "responseJsonSchema") or _member(settings, "responseSchema")
    if isinstance(schema, dict):
        lowered: dict[str, Any] = _lower(schema)
        return lowered
    return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
