"""Cohere Chat, version 2.

Shapes: Cohere's API reference, as its official SDK sends and parses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import _cohere_stream, _content, _http, _json, _recognise, sse
from faultwire.wire._api import Protocol
from faultwire.wire._confirm import Signs
from faultwire.wire._provider_edits import CohereEdits

if TYPE_CHECKING:
    from faultwire.events import Request, Response
    from faultwire.wire._api import Rewrite, StreamEditor, StreamReader

_EDGE = frozenset({408, 413, 502, 504, *range(520, 528)})
_TEXTS = {
    400: "invalid request: message must be at least 1 token long or tool results must be specified.",
    401: "invalid api token",
    402: "Please add or update your payment method at https://dashboard.cohere.com/billing",
    403: "forbidden",
    404: "model not found, make sure the correct model ID was used and that you have access to the model.",
    422: "invalid request: could not be processed",
    429: "You are past the per minute request limit, please wait and try again later.",
    498: "The request was blocked: invalid token",
    499: "request cancelled",
    500: "internal server error",
    501: "not implemented",
    503: "service unavailable",
}


class Cohere(Protocol):
    """`POST …/v2/chat`."""

    name = "cohere"
    signs = Signs(frozenset(("finish_reason",)), ("message-", "content-", "tool-", "citation-"))
    edits = CohereEdits()
    hosts = (("api.cohere.com", "cohere"), ("api.cohere.ai", "cohere"))
    settled = ("/v2/chat", "/v1/chat")
    by_body = ("/v2/chat",)
    request_ids = ("x-debug-trace-id",)
    text_members = frozenset(("text", "arguments", "thinking", "tool_plan"))

    def recognise(self, request: Request) -> bool:
        """By path and (host or body)."""
        if request.method != "POST" or not _recognise.bare_path(request).endswith("/v2/chat"):
            return False
        if _recognise.provider_of(request.host) == "cohere":
            return True
        document = _recognise.conversation(request.body)
        return document is not None and isinstance(document.get("model"), str)

    def provider(self, request: Request) -> str:
        """By host; `cohere` for hosts that nobody is known to run."""
        return _recognise.provider_of(request.host) or "cohere"

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without an array of `messages`."""
        document = _json.load_object(body)
        messages = document.get("messages")
        if not isinstance(messages, list):
            raise WireError("found no array `messages`, expected the conversation")
        last = max((at for at, m in _json.objects(messages) if m.get("role") == "assistant"), default=-1)
        calls: dict[str, ToolCall] = {}
        turns: list[Turn] = []
        for at, message in _json.objects(messages):
            turns.append(_turn(at, message, calls, new=at > last))
            calls.update((call.id, call) for call in turns[-1].tool_calls)
        names = (_json.member(tool, "function", "name") for _, tool in _json.objects(document.get("tools")))
        return RequestView(
            model=_json.string(document.get("model")),
            stream=document.get("stream") is True,
            system="\n".join(turn.text for turn in turns if turn.role in ("system", "developer")),
            turns=tuple(turn for turn in turns if turn.role not in ("system", "developer")),
            tools=tuple(name for name in names if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The message; an error has a `message` that is text."""
        document = _json.load_object(body)
        message = document.get("message")
        if isinstance(message, str) or status >= 400:
            return ResponseView(error=_json.string(message) or f"status {status}")
        told: _json.Object = message if isinstance(message, dict) else {}
        return ResponseView(
            model=_json.string(document.get("model")),
            text=_content.text_of(told.get("content"), glue=""),
            finish_reason=_json.string(document.get("finish_reason")) or None,
            tool_calls=_calls(told),
            usage=_cohere_stream.usage_of(document.get("usage")),
        )

    def reader(self) -> StreamReader:
        """Complete with `message-end`."""
        return _cohere_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`message-end`."""
        fields = sse.fields(event)
        return fields is not None and (
            fields.name == "message-end" or (not fields.name and b'"message-end"' in fields.data)
        )

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `role: tool` message, text or documents; there is no flag for errors."""
        place = result.path[:-1]
        found = _json.span(body, place)
        message = _json.load(body[slice(*found)]) if found else None
        if _json.member(message, "tool_call_id") != result.call_id:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        content = _json.member(message, "content")
        documents = [at for at, block in _json.objects(content) if block.get("type") == "document"]
        if not documents:
            old = _json.span(body, result.path)
            text = b"null" if old is None else body[slice(*old)]
            return _json.put(body, result.path, _content.rewritten(text, rewrite, empty_block=True))
        return _documents_rewritten(body, result, content, documents, rewrite)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`finish_reason` `MAX_TOKENS`."""
        return _cohere_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts a tool call's arguments where the budget ends, as the provider does."""
        return _cohere_stream.Truncator(max_tokens)

    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """`{"id", "message"}` with a trace id; an HTML page for what only the edge answers."""
        retry = () if retry_after_s is None else (("retry-after", _http.whole_seconds(retry_after_s)),)
        if status in _EDGE:
            return _http.with_headers(_http.edge_page(status, message), retry)
        text = message or _TEXTS.get(status) or _TEXTS[500 if status >= 500 else 400]
        made = _http.made_id("", "cohere", status, text, length=32)
        body = _json.dump({"id": made, "message": _json.whole(text)})
        return _http.answer(status, body, "application/json", ("x-debug-trace-id", made), *retry)


def _turn(at: int, message: _json.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    role, content = _json.string(message.get("role")), message.get("content")
    if role != "tool":
        return Turn(role, _content.text_of(content), _calls(message))
    call_id = _json.string(message.get("tool_call_id"))
    call = calls.get(call_id)
    text = content if isinstance(content, str) else "\n".join(_told(content))
    result = ToolResult(
        call_id,
        call.name if call else None,
        call.arguments if call else "",
        text,
        False,
        ("messages", at, "content"),
        new,
    )
    return Turn(role, text, (), (result,))


def _told(content: Any) -> list[str]:
    """The texts of blocks; a document's data is text, or an object of texts."""
    found = []
    for _, block in _json.objects(content):
        data = _json.member(block, "document", "data")
        if block.get("type") == "document" and data is not None:
            found.append(data if isinstance(data, str) else _json.dump(data).decode())
        else:
            found.append(_content.block_text(block) or "")
    return found


def _calls(message: _json.Object) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            _json.string(call.get("id")),
            _json.string(_json.member(call, "function", "name")),
            _json.string(_json.member(call, "function", "arguments")),
        )
        for _, call in _json.objects(message.get("tool_calls"))
    )


def _documents_rewritten(
    body: bytes, result: ToolResult, content: Any, documents: list[int], rewrite: Rewrite
) -> bytes:
    """The first document carries the new words; all other words go."""
    first = documents[0]
    data = content[first].get("document", {}).get("data")
    original = data if isinstance(data, str) else _json.dump(data).decode()
    new = _content.like(original, rewrite)
    parsed = _json.load(new) if _json.is_json(new) else None
    packed = _json.dump(parsed if isinstance(data, dict) and isinstance(parsed, dict) else new)
    body = _json.put(body, (*result.path, first, "document", "data"), packed)
    for at, block in reversed(_json.objects(content)):
        if at != first and (at in documents or _content.block_text(block) is not None):
            body = _json.drop(body, (*result.path, at))
    return body
