"""Ollama's own API, answered: chat, generate, embed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Tool
from faultwire.mock._shared import refuse
from faultwire.mock.embeddings import vector
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_MADE = "2026-01-01T00:00:00Z"
_PATHS = ("/api/chat", "/api/generate", "/api/embed", "/api/embeddings")
_SIZE = 768


class OllamaDialect(Dialect):
    """`POST …/api/chat`, `…/api/generate`, `…/api/embed`; no key is wanted."""

    protocol = "ollama"
    path = "/api/chat"
    base = ""
    provider = "Ollama"
    stream_type = framing.NDJSON

    def answers(self, request: Request) -> bool:
        """By the four paths."""
        return request.path.partition("?")[0].rstrip("/").endswith(_PATHS)

    def check_key(self, request: Request) -> None:
        """Nobody is asked for one."""

    def receive(self, request: Request) -> Conversation:
        """With the path's last word as an option: it says what is wanted."""
        body = request.body or b""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "model is required")
        wanted = request.path.partition("?")[0].rstrip("/").rpartition("/")[2]
        fmt = document.get("format")
        return Conversation(
            digest=_shared.digest(self.protocol, {**document, "_": wanted}),
            view=self._wire.view(request),
            tools=_tools(document),
            max_tokens=_shared.positive(json_bytes.member(document, "options", "num_predict")),
            answer_schema=fmt if isinstance(fmt, dict) else _ANY if fmt == "json" else None,
            options=frozenset({wanted}),
        )

    def read(self, body: bytes) -> Conversation:
        """A chat."""
        view = self._wire.request_view(body)
        document = _shared.document(self._wire, body)
        digest = _shared.digest(self.protocol, {**document, "_": "chat"})
        return Conversation(digest, view, _tools(document), options=frozenset({"chat"}))

    def headers(self, conversation: Conversation) -> Headers:
        """None at all."""
        return ()

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One object, or vectors."""
        if conversation.options & {"embed", "embeddings"}:
            return _embedded(conversation)
        text, used, cut = _shared.limited_text(conversation, reply)
        return orjson.dumps(
            {**_piece(conversation, text, reply), **_closing(conversation, reply, used, cut=cut)}
        )

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """A line for every word, then the calls, then the counts."""
        text, used, cut = _shared.limited_text(conversation, reply)
        lines = [{**_piece(conversation, word), "done": False} for word in _shared.words(text)]
        if reply.calls:
            lines.append({**_piece(conversation, "", reply), "done": False})
        lines.append({**_piece(conversation, ""), **_closing(conversation, reply, used, cut=cut)})
        return tuple(orjson.dumps(line) + b"\n" for line in lines)

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


_ANY = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def _piece(conversation: Conversation, text: str, reply: Reply | None = None) -> dict[str, Any]:
    shown: dict[str, Any] = {"model": conversation.view.model, "created_at": _MADE}
    if "generate" in conversation.options:
        return {**shown, "response": text}
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if reply is not None and reply.calls:
        functions = [{"name": call.name, "arguments": call.arguments} for call in reply.calls]
        message["tool_calls"] = [{"function": function} for function in functions]
    return {**shown, "message": message}


def _closing(conversation: Conversation, reply: Reply, used: int, *, cut: bool) -> dict[str, Any]:
    used += sum(
        token_budget.count(f"{call.name} {orjson.dumps(call.arguments).decode()}") for call in reply.calls
    )
    return {
        "done": True,
        "done_reason": "length" if cut else "stop",
        "total_duration": 5_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_count": _shared.read_tokens(conversation.view),
        "prompt_eval_duration": 1_000_000,
        "eval_count": used,
        "eval_duration": 2_000_000,
    }


def _embedded(conversation: Conversation) -> bytes:
    found = [vector(turn.text, _SIZE) for turn in conversation.view.turns]
    if "embeddings" in conversation.options:
        return orjson.dumps({"embedding": found[0] if found else []})
    read = _shared.read_tokens(conversation.view)
    return orjson.dumps({"model": conversation.view.model, "embeddings": found, "prompt_eval_count": read})


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    functions = (tool.get("function") for _, tool in json_bytes.objects(document.get("tools")))
    return tuple(
        Tool(f["name"], json_bytes.string(f.get("description")), f.get("parameters") or {})
        for f in functions
        if isinstance(f, dict) and isinstance(f.get("name"), str)
    )
