"""Changes of Anthropic's answers and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.anthropic import errors as anthropic_errors
from faultwire.wire.anthropic.stream_edits import AnthropicStreamEditor, stop_word
from faultwire.wire.editing import shared as shared_edits, tool_content
from faultwire.wire.editing.api import Change, Editor, Failure, Quota, TextPlace
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Headers, Path, Response
    from faultwire.wire.types import StreamEditor

_FAILURES: dict[Failure, tuple[int, str, str]] = {
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "quota_exceeded": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade "
        "or purchase credits.",
    ),
    "context_length": (400, "invalid_request_error", "prompt is too long: 200679 tokens > 199999 maximum"),
    "content_filter": (400, "invalid_request_error", "Output blocked by content filtering policy"),
}


class AnthropicEditor(Editor):
    """All that `Editor` names."""

    abilities = frozenset(("answer", "texts", "failure", "error_event"))
    of_tokens = staticmethod(anthropic_errors.of_tokens)

    def change(self, body: bytes, change: Change) -> bytes:
        """The message, changed."""
        document = json_bytes.load_object(body)
        content = document.get("content")
        if isinstance(content, list):
            body = _blocks(body, content, change)
        word = stop_word(change, document.get("stop_reason"))
        if word is not None:
            body = json_bytes.put(body, ("stop_reason",), json_bytes.dump(word))
        return json_bytes.drop(body, ("usage",)) if change.drop_usage else body

    def stream_editor(self, change: Change) -> StreamEditor:
        """From the first block that is to change, blocks are held until the message stops."""
        return AnthropicStreamEditor(change)

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """The system prompt, every string and text block of a message, and those inside tool results."""
        document = json_bytes.load_object(body)
        found: list[TextPlace] = []
        _gather(found, "system", document.get("system"), ("system",), -1, new=False)
        messages = json_bytes.objects(document.get("messages"))
        last = max((at for at, m in messages if m.get("role") == "assistant"), default=-1)
        for at, message in messages:
            role: Literal["assistant", "user"] = "assistant" if message.get("role") == "assistant" else "user"
            _gather(found, role, message.get("content"), ("messages", at, "content"), at, new=at > last)
        return tuple(found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """As the API words it; billing and length errors are invalid requests."""
        status, kind, usual = _FAILURES[what]
        return anthropic_errors.error_response(status, kind, message or usual)

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """`event: error`, after which nothing follows."""
        kinds = {
            "overloaded": ("overloaded_error", "Overloaded"),
            "server_error": ("api_error", "Internal server error"),
        }
        kind, usual = kinds[what]
        shown = {"type": "error", "error": {"type": kind, "message": message or usual, "details": None}}
        return sse.write(json_bytes.dump(shown), "error")

    def quota(self, quota: Quota) -> Headers:
        """`anthropic-ratelimit-…`, without the resets: they hold a wall-clock instant, which nobody reads."""
        limits = (
            ("requests", quota.requests, quota.requests_left),
            ("tokens", quota.tokens, quota.tokens_left),
        )
        return tuple(
            (f"anthropic-ratelimit-{name}-{word}", str(value))
            for name, limit, left in limits
            if limit is not None
            for word, value in (("limit", limit), ("remaining", left))
        )


def _gather(
    found: list[TextPlace],
    role: Literal["system", "user", "assistant", "tool"],
    content: object,
    path: Path,
    turn: int,
    *,
    new: bool,
) -> None:
    if isinstance(content, str):
        found.append(TextPlace(role, content, path, turn, new))
        return
    for at, block in json_bytes.objects(content):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            found.append(TextPlace(role, block["text"], (*path, at, "text"), turn, new))
        elif block.get("type") == "tool_result":
            _gather(found, "tool", block.get("content"), (*path, at, "content"), turn, new=new)


def _blocks(body: bytes, content: list[object], change: Change) -> bytes:
    if change.calls is not None:
        body = _calls(body, content, change)
    if change.text is None:
        return body
    worded = [at for at, block in json_bytes.objects(content) if block.get("type") == "text"]
    old = tool_content.text_of(content, glue="")
    new = change.text(old)
    if new == old:
        return body
    for at in reversed(worded[1:] if new else worded):
        body = json_bytes.drop(body, ("content", at))
    if new and worded:
        return json_bytes.put(body, ("content", worded[0], "text"), json_bytes.dump(new))
    if new:
        found = json_bytes.span(body, ("content",))
        array = body[slice(*found)] if found else b"[]"
        block = b'{"type":"text","text":' + json_bytes.dump(new) + b"}"
        return json_bytes.put(body, ("content",), json_bytes.insert_first(array, block))
    return body


def _calls(body: bytes, content: list[object], change: Change) -> bytes:
    calls = {at: _call(block) for at, block in json_bytes.objects(content) if block.get("type") == "tool_use"}
    old = tuple(calls.values())
    new = change.calls(old) if change.calls else old
    if not calls or new == old:
        return body
    elements = shared_edits.elements(body, ("content",))
    return json_bytes.put(body, ("content",), shared_edits.rebuilt(elements, calls, new, _with_call))


def _call(block: json_bytes.Object) -> ToolCall:
    arguments = json_bytes.dump(block.get("input", {})).decode()
    return ToolCall(json_bytes.string(block.get("id")), json_bytes.string(block.get("name")), arguments)


def _with_call(element: bytes, call: ToolCall) -> bytes:
    """`input` is a value here and no text: what is no JSON becomes a string."""
    try:
        json_bytes.load(call.arguments)
        given = call.arguments.encode("utf-8", "replace")
    except WireError:
        given = json_bytes.dump(call.arguments)
    element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
    element = json_bytes.put(element, ("name",), json_bytes.dump(call.name))
    return json_bytes.put(element, ("input",), given)
