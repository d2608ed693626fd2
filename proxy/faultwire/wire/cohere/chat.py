"""Cohere Chat, version 2.

Shapes: Cohere's API reference, as its official SDK sends and parses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import json_bytes
from faultwire.wire.cohere import stream as cohere_stream
from faultwire.wire.cohere.edits import CohereEditor
from faultwire.wire.editing import answers as http_answers, tool_content
from faultwire.wire.framing import sse
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import BaseUrl, Page

if TYPE_CHECKING:
    from faultwire.events import Request, Response
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

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
    edits = CohereEditor()
    hosts = (("api.cohere.com", "cohere"), ("api.cohere.ai", "cohere"))
    settled = ("/v2/chat", "/v1/chat")
    by_body = ("/v2/chat",)
    request_ids = ("x-debug-trace-id",)
    text_members = frozenset(("text", "arguments", "thinking", "tool_plan"))
    dialect = "faultwire.mock.cohere:CohereDialect"
    mocked = (
        "api.cohere.com",
        "api.cohere.ai",
    )
    base_urls = (BaseUrl("cohere", "https://api.cohere.com", ("CO_API_URL",)),)
    keys = (("CO_API_KEY", "COHERE_API_KEY"),)
    page = Page(
        "`POST …/v2/chat` on Cohere's hosts, or with `model` and a conversation",
        "`cohere`",
        "conversation, calls, results, answer, usage; server-sent events",
        "all",
        "errors, a last event that says why",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (host or body)."""
        if request.method != "POST" or not recognition.bare_path(request).endswith("/v2/chat"):
            return False
        if recognition.provider_of(request.host) == "cohere":
            return True
        document = recognition.conversation(request.body)
        return document is not None and isinstance(document.get("model"), str)

    def provider(self, request: Request) -> str:
        """By host; `cohere` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "cohere"

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without an array of `messages`."""
        document = json_bytes.load_object(body)
        messages = document.get("messages")
        if not isinstance(messages, list):
            raise WireError("found no array `messages`, expected the conversation")
        last = max((at for at, m in json_bytes.objects(messages) if m.get("role") == "assistant"), default=-1)
        calls: dict[str, ToolCall] = {}
        turns: list[Turn] = []
        for at, message in json_bytes.objects(messages):
            turns.append(_turn(at, message, calls, new=at > last))
            calls.update((call.id, call) for call in turns[-1].tool_calls)
        names = (
            json_bytes.member(tool, "function", "name")
            for _, tool in json_bytes.objects(document.get("tools"))
        )
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=document.get("stream") is True,
            system="\n".join(turn.text for turn in turns if turn.role in ("system", "developer")),
            turns=tuple(turn for turn in turns if turn.role not in ("system", "developer")),
            tools=tuple(name for name in names if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The message; an error has a `message` that is text."""
        document = json_bytes.load_object(body)
        message = document.get("message")
        if isinstance(message, str) or status >= 400:
            return ResponseView(error=json_bytes.string(message) or f"status {status}")
        answer: json_bytes.Object = message if isinstance(message, dict) else {}
        return ResponseView(
            model=json_bytes.string(document.get("model")),
            text=tool_content.text_of(answer.get("content"), glue=""),
            finish_reason=json_bytes.string(document.get("finish_reason")) or None,
            tool_calls=_calls(answer),
            usage=cohere_stream.usage_of(document.get("usage")),
        )

    def reader(self) -> StreamReader:
        """Complete with `message-end`."""
        return cohere_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`message-end`."""
        fields = sse.fields(event)
        return fields is not None and (
            fields.name == "message-end" or (not fields.name and b'"message-end"' in fields.data)
        )

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `role: tool` message, text or documents; there is no flag for errors."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        message = json_bytes.load(body[slice(*found)]) if found else None
        if json_bytes.member(message, "tool_call_id") != result.call_id:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        content = json_bytes.member(message, "content")
        documents = [at for at, block in json_bytes.objects(content) if block.get("type") == "document"]
        if not documents:
            old = json_bytes.span(body, result.path)
            text = b"null" if old is None else body[slice(*old)]
            return json_bytes.put(body, result.path, tool_content.rewritten(text, rewrite, empty_block=True))
        return _documents_rewritten(body, result, content, documents, rewrite)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`finish_reason` `MAX_TOKENS`."""
        return cohere_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts a tool call's arguments where the budget ends, as the provider does."""
        return cohere_stream.Truncator(max_tokens)

    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """`{"id", "message"}` with a trace id; an HTML page for what only the edge answers."""
        retry = () if retry_after_s is None else (("retry-after", http_answers.whole_seconds(retry_after_s)),)
        if status in _EDGE:
            return http_answers.with_headers(http_answers.edge_page(status, message), retry)
        text = message or _TEXTS.get(status) or _TEXTS[500 if status >= 500 else 400]
        made = http_answers.made_id("", "cohere", status, text, length=32)
        body = json_bytes.dump({"id": made, "message": json_bytes.whole(text)})
        return http_answers.answer(status, body, "application/json", ("x-debug-trace-id", made), *retry)


def _turn(at: int, message: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    role, content = json_bytes.string(message.get("role")), message.get("content")
    if role != "tool":
        return Turn(role, tool_content.text_of(content), _calls(message))
    call_id = json_bytes.string(message.get("tool_call_id"))
    call = calls.get(call_id)
    text = content if isinstance(content, str) else "\n".join(_texts(content))
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


def _texts(content: Any) -> list[str]:
    """The texts of blocks; a document's data is text, or an object of texts."""
    found = []
    for _, block in json_bytes.objects(content):
        data = json_bytes.member(block, "document", "data")
        if block.get("type") == "document" and data is not None:
            found.append(data if isinstance(data, str) else json_bytes.dump(data).decode())
        else:
            found.append(tool_content.block_text(block) or "")
    return found


def _calls(message: json_bytes.Object) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            json_bytes.string(call.get("id")),
            json_bytes.string(json_bytes.member(call, "function", "name")),
            json_bytes.string(json_bytes.member(call, "function", "arguments")),
        )
        for _, call in json_bytes.objects(message.get("tool_calls"))
    )


def _documents_rewritten(
    body: bytes, result: ToolResult, content: Any, documents: list[int], rewrite: Rewrite
) -> bytes:
    """The first document carries the new words; all other words go."""
    first = documents[0]
    data = content[first].get("document", {}).get("data")
    original = data if isinstance(data, str) else json_bytes.dump(data).decode()
    new = tool_content.like(original, rewrite)
    parsed = json_bytes.load(new) if json_bytes.is_json(new) else None
    packed = json_bytes.dump(parsed if isinstance(data, dict) and isinstance(parsed, dict) else new)
    body = json_bytes.put(body, (*result.path, first, "document", "data"), packed)
    for at, block in reversed(json_bytes.objects(content)):
        if at != first and (at in documents or tool_content.block_text(block) is not None):
            body = json_bytes.drop(body, (*result.path, at))
    return body
