"""Changes of OpenAI Chat's whole answers, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits, tool_content
from faultwire.wire.editing.api import Change, Editor, Failure, Quota, TextPlace
from faultwire.wire.framing import sse
from faultwire.wire.openai import (
    chat_stream as openai_chat_stream,
    errors as openai_errors,
    quotas as openai_quotas,
)
from faultwire.wire.openai.chat_stream_edits import ChatStreamEditor, finish

if TYPE_CHECKING:
    from faultwire.events import Headers, Path, Response
    from faultwire.wire.types import StreamEditor


class OpenAIEditor(Editor):
    """All that `Editor` names."""

    abilities = frozenset(("answer", "texts", "failure", "error_event"))
    of_tokens = staticmethod(openai_errors.of_tokens)

    def change(self, body: bytes, change: Change) -> bytes:
        """Every choice, changed."""
        document = json_bytes.load_object(body)
        for at, choice in json_bytes.objects(document.get("choices")):
            place: Path = ("choices", at)
            message = choice.get("message")
            if isinstance(message, dict):
                body = _message(body, (*place, "message"), message, change)
            if change.finish is not None and choice.get("finish_reason"):
                body = finish(body, place, choice, change)
        return json_bytes.drop(body, ("usage",)) if change.drop_usage else body

    def stream_editor(self, change: Change) -> StreamEditor:
        """The first choice of a stream; what is to change is held until it stops."""
        return ChatStreamEditor(change)

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """Every string that a message holds, and every part of type `text`."""
        document = json_bytes.load_object(body)
        messages = json_bytes.objects(document.get("messages"))
        last = max((at for at, m in messages if m.get("role") == "assistant"), default=-1)
        found: list[TextPlace] = []
        for at, message in messages:
            role = _role(json_bytes.string(message.get("role")))
            content, place = message.get("content"), ("messages", at, "content")
            if isinstance(content, str):
                found.append(TextPlace(role, content, place, at, at > last))
            for part, block in json_bytes.objects(content):
                if block.get("type") == "text" and isinstance(block.get("text"), str):
                    path = (*place, part, "text")
                    found.append(TextPlace(role, block["text"], path, at, at > last))
        return tuple(found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """With the code by which OpenAI's documentation tells it."""
        status, error = openai_errors.FAILURES[what]
        return openai_errors.error_response(status, error._replace(message=message or error.message))

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """`data: {"error": …}`, after which nothing follows."""
        usual = (
            openai_errors.FAILURES["overloaded"][1].message
            if what == "overloaded"
            else openai_errors.SERVER_ERROR
        )
        shown = {"message": message or usual, "type": "server_error", "param": None, "code": None}
        return sse.write(json_bytes.dump({"error": shown}))

    def quota(self, quota: Quota) -> Headers:
        """`x-ratelimit-…`, resets as durations."""
        return openai_quotas.openai(quota)

    def quota_by(self, provider: str | None, quota: Quota) -> Headers:
        """Some that speak this protocol have fields of their own."""
        elsewhere = openai_quotas.BY_PROVIDER.get(provider or "")
        return self.quota(quota) if elsewhere is None else elsewhere(quota)


def _role(role: str) -> Literal["system", "user", "assistant", "tool"]:
    known: dict[str, Literal["system", "assistant", "tool"]] = {
        "system": "system",
        "developer": "system",
        "assistant": "assistant",
        "tool": "tool",
    }
    return known.get(role, "user")


def _message(body: bytes, place: Path, message: json_bytes.Object, change: Change) -> bytes:
    if change.text is not None:
        old = tool_content.text_of(message.get("content"), glue="")
        new = change.text(old)
        if change.refuse:
            body = json_bytes.put(body, (*place, "refusal"), json_bytes.dump(new))
            body = json_bytes.put(body, (*place, "content"), b"null")
        elif new != old:
            body = json_bytes.put(body, (*place, "content"), json_bytes.dump(new))
    if change.calls is not None:
        body = _calls(body, (*place, "tool_calls"), message, change)
    return body


def _calls(body: bytes, place: Path, message: json_bytes.Object, change: Change) -> bytes:
    calls = {at: _call(call) for at, call in json_bytes.objects(message.get("tool_calls"))}
    old = tuple(calls.values())
    new = change.calls(old) if change.calls else old
    if not calls or new == old:
        return body
    if not new:
        return json_bytes.drop(body, place)
    return json_bytes.put(
        body, place, shared_edits.rebuilt(shared_edits.elements(body, place), calls, new, _with_call)
    )


def _call(call: json_bytes.Object) -> ToolCall:
    name, arguments = openai_chat_stream.call_parts(call)
    return ToolCall(json_bytes.string(call.get("id")), name, arguments)


def _with_call(element: bytes, call: ToolCall) -> bytes:
    kind, key = ("function", "arguments") if b'"function"' in element else ("custom", "input")
    element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
    element = json_bytes.put(element, (kind, "name"), json_bytes.dump(call.name))
    return json_bytes.put(element, (kind, key), json_bytes.dump(call.arguments))
