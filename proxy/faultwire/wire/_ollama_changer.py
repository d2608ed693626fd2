"""Changes of Ollama's answers, whole and line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import ToolCall
from faultwire.wire import _json
from faultwire.wire._gather import LINES
from faultwire.wire._pieces import PieceChanger
from faultwire.wire._retold import New, Shape, decided, stop_word, value_of

if TYPE_CHECKING:
    from faultwire.events import Path
    from faultwire.wire._edits import Change, Finish

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
    def call(self, element: _json.Object, at: int) -> ToolCall | None:
        function = element.get("function")
        if not isinstance(function, dict):
            return None
        told = function.get("arguments")
        arguments = told if isinstance(told, str) else _json.dump(told or {}).decode()
        return ToolCall(
            _json.string(element.get("id")) or f"call_{at}", _json.string(function.get("name")), arguments
        )

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        document = _json.load_object(element)
        if "id" in document:
            element = _json.put(element, ("id",), _json.dump(call.id))
        element = _json.put(element, ("function", "name"), _json.dump(call.name))
        is_text = isinstance(_json.member(document, "function", "arguments"), str)
        given = _json.dump(call.arguments) if is_text else value_of(call.arguments)
        return _json.put(element, ("function", "arguments"), given)


CALLS = _Calls()


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed."""
    document = _json.load_object(body)
    new = decided(change, *told(document))
    return closed(body if new is None else retold(body, document, new), document, change)


def told(document: _json.Object) -> tuple[str, tuple[ToolCall, ...]]:
    """What an answer, or a piece of one, says."""
    message = document.get("message")
    text = _json.string(_json.member(message, "content")) or _json.string(document.get("response"))
    return text, CALLS.calls(_json.member(message, "tool_calls"))


def retold(body: bytes, document: _json.Object, new: New) -> bytes:
    """The answer saying something else."""
    if new.text is not None and isinstance(document.get("message"), dict):
        body = _json.put(body, ("message", "content"), _json.dump(new.text))
    elif new.text is not None and "response" in document:
        body = _json.put(body, ("response",), _json.dump(new.text))
    if new.calls is None:
        return body
    return CALLS.retold(body, _CALLS, new._replace(text=None)) if new.calls else _json.drop(body, _CALLS)


def closed(body: bytes, document: _json.Object, change: Change) -> bytes:
    """Why it stopped, where it says so, and what was counted."""
    word = stop_word(_STOPS, change, document.get("done_reason"))
    if word is not None:
        body = _json.put(body, ("done_reason",), _json.dump(word))
    for key in _COUNTS if change.drop_usage else ():
        body = _json.drop(body, (key,))
    return body


class Changer(PieceChanger):
    """Every line is a piece of the answer; the one with `done` is the last one."""

    framed = LINES

    def told(self, document: _json.Object) -> tuple[str, tuple[ToolCall, ...]]:
        """What a line says."""
        return told(document)

    def retold(self, data: bytes, document: _json.Object, new: New) -> bytes:
        """The line saying something else."""
        return retold(data, document, new)

    def closed(self, data: bytes, document: _json.Object) -> bytes:
        """The reason and the counts."""
        return closed(data, document, self._change)

    def ends(self, document: _json.Object) -> bool:
        """`"done": true`."""
        return document.get("done") is True

    def is_empty(self, data: bytes) -> bool:
        """Is there neither text nor a call, nor a thought?"""
        document = _json.load_object(data)
        return told(document) == ("", ()) and not _json.member(document, "message", "thinking")
