"""Anthropic Messages.

Shapes: Anthropic's API reference, as the official SDKs send and parse it.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn, header
from faultwire.wire import json_bytes
from faultwire.wire.anthropic import errors as anthropic_errors, stream as anthropic_stream
from faultwire.wire.anthropic.edits import AnthropicEditor
from faultwire.wire.editing import tool_content
from faultwire.wire.framing import sse
from faultwire.wire.google import errors as google_errors
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import BaseUrl, Page

if TYPE_CHECKING:
    from faultwire.events import Path, Request
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader


class Anthropic(Protocol):
    """`POST …/messages`."""

    name = "anthropic"
    signs = Signs(frozenset(("stop_reason",)), ("message", "content_block_", "ping"))
    edits = AnthropicEditor()
    hosts = (("anthropic.com", "anthropic"), ("claude.googleapis.com", "anthropic"))
    settled = ("/messages", "/count_tokens")
    by_body = ("/messages",)
    conversation_members = ("thread",)
    text_members = frozenset(("text", "partial_json", "thinking"))
    errors = staticmethod(anthropic_errors.error)
    request_ids = ("request-id", "x-amzn-requestid", "apim-request-id")
    errors_by = MappingProxyType({"google": google_errors.error})
    """Vertex answers with Google's own errors."""
    dialect = "faultwire.mock.anthropic:AnthropicDialect"
    mocked = (
        "api.anthropic.com",
        "claude.googleapis.com",
    )
    base_urls = (
        BaseUrl(
            "anthropic",
            "https://api.anthropic.com",
            ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL", "ANTHROPIC_API_BASE"),
        ),
    )
    keys = (("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),)
    page = Page(
        "`POST …/messages` with an `anthropic-version` header or on Anthropic's hosts; "
        "Vertex's `…/publishers/anthropic/models/…:rawPredict`; elsewhere by a body that only "
        "this protocol has",
        "`anthropic`",
        "conversation, calls, results, answer, usage; server-sent events",
        "all",
        "errors (Vertex: Google's), an error event",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (header or host); else by a body that only this protocol has.

        `…/messages` alone proves little: message services of other kinds use it, too.
        """
        if request.method != "POST":
            return False
        path = recognition.bare_path(request)
        if _on_vertex(path):
            return True
        if path.endswith("/messages"):
            known = recognition.provider_of(request.host) == "anthropic"
            if known or header(request.headers, "anthropic-version") is not None:
                return True
            document = recognition.conversation(request.body)
            return document is not None and "max_tokens" in document
        if request.body is None or recognition.is_settled(path):
            return False
        document = recognition.conversation(request.body)
        if document is None or not isinstance(document.get("model"), str):
            return False
        return recognition.speaks_anthropic(document)

    def provider(self, request: Request) -> str:
        """By host; `anthropic` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "anthropic"

    def view(self, request: Request) -> RequestView:
        """On Vertex the path names the model and says whether the answer streams."""
        found, path = self.request_view(request.body or b""), recognition.bare_path(request)
        if not _on_vertex(path):
            return found
        model, _, method = path.rpartition("/")[2].rpartition(":")
        return replace(found, model=model, stream=method == "streamRawPredict" or found.stream)

    def keeps(self, request: Request) -> bool:
        """Message threads are kept by the provider."""
        return b'"thread"' in (request.body or b"") and "thread" in (recognition.document(request.body) or {})

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without an array of `messages`."""
        document = json_bytes.load_object(body)
        messages = document.get("messages")
        if not isinstance(messages, list):
            raise WireError("found no array `messages`, expected the conversation")
        assistant_turns = [i for i, m in json_bytes.objects(messages) if m.get("role") == "assistant"]
        last = assistant_turns[-1] if assistant_turns else -1
        calls: dict[str, ToolCall] = {}
        turns: list[Turn] = []
        for index, message in json_bytes.objects(messages):
            turn = _turn(("messages", index, "content"), message, calls, new=index > last)
            turns.append(turn)
            calls.update((call.id, call) for call in turn.tool_calls)
        names = (tool.get("name") for _, tool in json_bytes.objects(document.get("tools")))
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=document.get("stream") is True,
            system=tool_content.text_of(document.get("system")),
            turns=tuple(turns),
            tools=tuple(name for name in names if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The message; `error` where the answer is one, whatever its status."""
        document = json_bytes.load_object(body)
        error = anthropic_stream.error_text(document)
        if error is None and status >= 400:
            error = f"status {status}"
        return ResponseView(
            model=json_bytes.string(document.get("model")),
            text=_text_of(document),
            finish_reason=json_bytes.string(document.get("stop_reason")) or None,
            tool_calls=_tool_calls(document),
            usage=anthropic_stream.usage_of(document.get("usage")),
            error=error,
            request_id=json_bytes.string(document.get("request_id")) or None,
        )

    def reader(self) -> StreamReader:
        """Complete with `message_stop`."""
        return anthropic_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`message_stop`."""
        fields = sse.fields(event)
        return fields is not None and fields.name == "message_stop"

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `tool_result` block, and its `is_error` where that differs."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        block = body[slice(*found)] if found else b"null"
        parsed = json_bytes.load(block)
        if found is None or json_bytes.member(parsed, "tool_use_id") != result.call_id:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        old = json_bytes.span(block, ("content",))
        content = b"null" if old is None else block[slice(*old)]
        edited = json_bytes.put(
            block, ("content",), tool_content.rewritten(content, rewrite, empty_block=False)
        )
        if (parsed.get("is_error") is True) != rewrite.is_error:
            edited = json_bytes.put(edited, ("is_error",), b"true" if rewrite.is_error else b"false")
        return json_bytes.put(body, place, edited)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`stop_reason` `max_tokens`; a tool call that does not fit goes whole: its input is no text."""
        return anthropic_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts a tool call's partial JSON where the budget ends, as the provider does."""
        return anthropic_stream.Truncator(max_tokens)


def _on_vertex(path: str) -> bool:
    return "/publishers/anthropic/models/" in path and path.endswith((":rawPredict", ":streamRawPredict"))


def _turn(place: Path, message: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    content = message.get("content")
    results = []
    for at, block in json_bytes.objects(content):
        if block.get("type") != "tool_result":
            continue
        call_id = json_bytes.string(block.get("tool_use_id"))
        call = calls.get(call_id)
        results.append(
            ToolResult(
                call_id=call_id,
                name=(call.name or None) if call else None,
                arguments=call.arguments if call else "",
                text=tool_content.text_of(block.get("content")),
                is_error=block.get("is_error") is True,
                path=(*place, at, "content"),
                new=new,
            )
        )
    role = json_bytes.string(message.get("role"))
    text = tool_content.text_of(content, glue="" if role == "assistant" else "\n")
    return Turn(role, text, _tool_calls(message), tuple(results))


def _tool_calls(message: json_bytes.Object) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            json_bytes.string(block.get("id")),
            json_bytes.string(block.get("name")),
            json_bytes.dump(block.get("input", {})).decode(),
        )
        for _, block in json_bytes.objects(message.get("content"))
        if block.get("type") == "tool_use"
    )


def _text_of(message: json_bytes.Object) -> str:
    return tool_content.text_of(message.get("content"), glue="")
