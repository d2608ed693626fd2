"""Changes of Ollama's answers, whole and line by line, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers
from faultwire.wire.editing.blocks import New, Shape, decided, stop_word, value_of
from faultwire.wire.editing.json_stream import LINES
from faultwire.wire.editing.pieces import PieceEditor
from faultwire.wire.editing.requests import ALL, RequestEditor, Texts, last_answer, role_of

if TYPE_CHECKING:
    from faultwire.events import Path, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Finish
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.types import StreamEditor

_STOPS: dict[Finish, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "stop",
    "content_filter": "stop",
    "refusal": "stop",
}
"""Answers that call tools just stop, and there is no filter."""
_COUNTS = ("prompt_eval_count", "eval_count")
_CALLS: Path = ("message", "tool_calls")


class _Calls(Shape):
    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        function = element.get("function")
        if not isinstance(function, dict):
            return None
        raw = function.get("arguments")
        arguments = raw if isinstance(raw, str) else json_bytes.dump(raw or {}).decode()
        return ToolCall(
            json_bytes.string(element.get("id")) or f"call_{at}",
            json_bytes.string(function.get("name")),
            arguments,
        )

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        document = json_bytes.load_object(element)
        if "id" in document:
            element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
        element = json_bytes.put(element, ("function", "name"), json_bytes.dump(call.name))
        is_text = isinstance(json_bytes.member(document, "function", "arguments"), str)
        given = json_bytes.dump(call.arguments) if is_text else value_of(call.arguments)
        return json_bytes.put(element, ("function", "arguments"), given)


CALLS = _Calls()


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed."""
    document = json_bytes.load_object(body)
    new = decided(change, *content_of(document))
    return closed(body if new is None else rewrite(body, document, new), document, change)


def content_of(document: json_bytes.Object) -> tuple[str, tuple[ToolCall, ...]]:
    """What an answer, or a piece of one, says."""
    message = document.get("message")
    text = json_bytes.string(json_bytes.member(message, "content")) or json_bytes.string(
        document.get("response")
    )
    return text, CALLS.calls(json_bytes.member(message, "tool_calls"))


def rewrite(body: bytes, document: json_bytes.Object, new: New) -> bytes:
    """The answer saying something else."""
    if new.text is not None and isinstance(document.get("message"), dict):
        body = json_bytes.put(body, ("message", "content"), json_bytes.dump(new.text))
    elif new.text is not None and "response" in document:
        body = json_bytes.put(body, ("response",), json_bytes.dump(new.text))
    if new.calls is None:
        return body
    return (
        CALLS.rewritten(body, _CALLS, new._replace(text=None)) if new.calls else json_bytes.drop(body, _CALLS)
    )


def closed(body: bytes, document: json_bytes.Object, change: Change) -> bytes:
    """Why it stopped, where it says so, and what was counted."""
    word = stop_word(_STOPS, change, document.get("done_reason"))
    if word is not None:
        body = json_bytes.put(body, ("done_reason",), json_bytes.dump(word))
    for key in _COUNTS if change.drop_usage else ():
        body = json_bytes.drop(body, (key,))
    return body


class OllamaStreamEditor(PieceEditor):
    """Every line is a piece of the answer; the one with `done` is the last one."""

    framed = LINES

    def content(self, document: json_bytes.Object) -> tuple[str, tuple[ToolCall, ...]]:
        """What a line says."""
        return content_of(document)

    def rewritten(self, data: bytes, document: json_bytes.Object, new: New) -> bytes:
        """The line saying something else."""
        return rewrite(data, document, new)

    def closed(self, data: bytes, document: json_bytes.Object) -> bytes:
        """The reason and the counts."""
        return closed(data, document, self._change)

    def ends(self, document: json_bytes.Object) -> bool:
        """`"done": true`."""
        return document.get("done") is True

    def is_empty(self, data: bytes) -> bool:
        """Is there neither text nor a call, nor a thought?"""
        document = json_bytes.load_object(data)
        return content_of(document) == ("", ()) and not json_bytes.member(document, "message", "thinking")


class OllamaEditor(RequestEditor):
    """Ollama: runs on one's own machine, so it knows no quota and no filter."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return OllamaStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System prompt, prompt, messages."""
        messages = json_bytes.objects(document.get("messages"))
        texts = Texts(last_answer(messages))
        texts.add("system", document.get("system"), ("system",), -1)
        texts.add("user", document.get("prompt"), ("prompt",), 0)
        for at, message in messages:
            texts.blocks(
                role_of(message.get("role")), message.get("content"), ("messages", at, "content"), at
            )
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """`{"error": …}`."""
        usual = {
            "overloaded": (503, "server busy, please try again.  maximum pending requests exceeded"),
            "context_length": (400, "input length exceeds maximum context length"),
        }.get(what)
        if usual is None:
            return None
        body = json_bytes.dump({"error": message or usual[1]})
        return http_answers.answer(usual[0], body, "application/json; charset=utf-8")

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A line that is an error."""
        return json_bytes.dump({"error": message or "llama runner process has terminated"}) + b"\n"
