"""Changes of Gemini's answers, whole and streamed, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing.blocks import New, Shape, decided, stop_word, value_of
from faultwire.wire.editing.json_stream import SSE_OR_ELEMENTS
from faultwire.wire.editing.pieces import PieceEditor
from faultwire.wire.editing.requests import ALL, RequestEditor, Texts, last_answer, role_of
from faultwire.wire.google import errors as google_errors, gemini_stream

if TYPE_CHECKING:
    from faultwire.events import Path, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Finish
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.types import StreamEditor

_STOPS: dict[Finish, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
}
"""Answers that call tools just stop."""
_PARTS: Path = ("candidates", 0, "content", "parts")


class _Parts(Shape):
    def is_text(self, element: json_bytes.Object) -> bool:
        return isinstance(element.get("text"), str) and element.get("thought") is not True

    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        call = element.get("functionCall")
        if not isinstance(call, dict):
            return None
        arguments = json_bytes.dump(call.get("args") or {}).decode()
        return ToolCall(
            json_bytes.string(call.get("id")) or f"call_{at}", json_bytes.string(call.get("name")), arguments
        )

    def with_text(self, element: bytes, new: New) -> bytes:
        if not new.text and set(json_bytes.load_object(element)) == {"text"}:
            return b""
        return json_bytes.put(element, ("text",), json_bytes.dump(new.text))  # a signature of thoughts stays

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        if not _is_struct(call.arguments):
            return b""  # `closed` states it in its place
        if "id" in json_bytes.load_object(element).get("functionCall", {}):
            element = json_bytes.put(element, ("functionCall", "id"), json_bytes.dump(call.id))
        element = json_bytes.put(element, ("functionCall", "name"), json_bytes.dump(call.name))
        return json_bytes.put(element, ("functionCall", "args"), value_of(call.arguments))

    def fresh(self, new: New) -> bytes:
        return b'{"text":' + json_bytes.dump(new.text) + b"}"


PARTS = _Parts()


def _is_struct(arguments: str) -> bool:
    """Can a `Struct` hold them? Gemini's API has no place for arguments that do not parse."""
    try:
        return isinstance(json_bytes.load(arguments), dict)
    except WireError:
        return False


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed; an array of answers is one answer in pieces."""
    document = json_bytes.load(body)
    if isinstance(document, list):
        return _all(body, document, change)
    if not isinstance(document, dict):
        raise WireError("found neither a JSON object nor an array, expected an answer")
    new = decided(change, *content_of(document))
    return closed(body if new is None else rewrite(body, document, new), document, change, new)


def _all(body: bytes, documents: list[object], change: Change) -> bytes:
    editor = GeminiStreamEditor(change)
    out = [piece for document in documents for piece in editor.feed(json_bytes.dump(document))]
    out += editor.finish()
    return b"[" + b",".join(out) + b"]" if editor.changed else body


def content_of(document: json_bytes.Object) -> tuple[str, tuple[ToolCall, ...]]:
    """The text and the calls of an answer, or of a piece of one."""
    content = gemini_stream.first_candidate(document).get("content")
    return gemini_stream.text_of(content), PARTS.calls(json_bytes.member(content, "parts"))


def rewrite(body: bytes, document: json_bytes.Object, new: New) -> bytes:
    """The answer with its first candidate replaced."""
    candidate = gemini_stream.first_candidate(document)
    if not isinstance(json_bytes.member(candidate, "content", "parts"), list):
        if not new.text or not candidate:
            return body
        if not isinstance(candidate.get("content"), dict):
            body = json_bytes.put(body, _PARTS[:3], b'{"role":"model"}')
        body = json_bytes.put(body, _PARTS, b"[]")
    return PARTS.rewritten(body, _PARTS, new)


def closed(body: bytes, document: json_bytes.Object, change: Change, new: New | None = None) -> bytes:
    """Why it stopped, where it says so, and what was used.

    A call whose arguments do not parse is withheld by Gemini, which names it in the reason: `finishReason`
    `MALFORMED_FUNCTION_CALL` (https://ai.google.dev/api/generate-content#FinishReason) and `finishMessage`.
    """
    reason = gemini_stream.first_candidate(document).get("finishReason")
    broken = [call for call in (new.calls if new else None) or () if not _is_struct(call.arguments)]
    if broken and reason:
        text = f"Malformed function call: {broken[0].name}({broken[0].arguments})"
        body = json_bytes.put(body, ("candidates", 0, "finishMessage"), json_bytes.dump(text))
        body = json_bytes.put(body, ("candidates", 0, "finishReason"), b'"MALFORMED_FUNCTION_CALL"')
        return json_bytes.drop(body, ("usageMetadata",)) if change.drop_usage else body
    word = stop_word(_STOPS, change, reason)
    if word is not None:
        body = json_bytes.put(body, ("candidates", 0, "finishReason"), json_bytes.dump(word))
    return json_bytes.drop(body, ("usageMetadata",)) if change.drop_usage else body


class GeminiStreamEditor(PieceEditor):
    """Every event is a piece of the answer; the one with a `finishReason` is the last one."""

    framed = SSE_OR_ELEMENTS

    def content(self, document: json_bytes.Object) -> tuple[str, tuple[ToolCall, ...]]:
        """The text and the calls of the first candidate."""
        return content_of(document)

    def rewritten(self, data: bytes, document: json_bytes.Object, new: New) -> bytes:
        """The answer with its first candidate replaced."""
        return rewrite(data, document, new)

    def closed(self, data: bytes, document: json_bytes.Object) -> bytes:
        """The reason and the usage."""
        return closed(data, document, self._change, self.new)

    def ends(self, document: json_bytes.Object) -> bool:
        """A `finishReason`, or a blocked prompt."""
        return gemini_stream.finish_of(document) is not None

    def is_empty(self, data: bytes) -> bool:
        """Is there nothing left to say?"""
        return not gemini_stream.has_content(data)


class GeminiEditor(RequestEditor):
    """Gemini. A blocked prompt is no error there, so there is no failure of that name."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return GeminiStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System instruction, parts, and what functions returned."""
        contents = json_bytes.objects(document.get("contents"))
        texts = Texts(last_answer(contents))
        for key in ("systemInstruction", "system_instruction"):
            parts = json_bytes.member(document, key, "parts")
            texts.blocks("system", parts, (key, "parts"), -1)
        for at, content in contents:
            place: Path = ("contents", at, "parts")
            texts.blocks(role_of(content.get("role")), content.get("parts"), place, at)
            for part, block in json_bytes.objects(content.get("parts")):
                for key in ("functionResponse", "function_response"):
                    for name in ("result", "output", "error"):
                        text = json_bytes.member(block, key, "response", name)
                        texts.add("tool", text, (*place, part, key, "response", name), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Told apart by `status` and text."""
        known = _FAILURES.get(what)
        return google_errors.error_response(known[0], known[1], message or known[2]) if known else None

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A chunk that is an error."""
        status, word, usual = _FAILURES["overloaded"]
        if what == "server_error":
            status, word, usual = 500, "INTERNAL", "An internal error has occurred."
        error = {"code": status, "message": message or usual, "status": word}
        return b"data: " + json_bytes.dump({"error": error}) + b"\r\n\r\n"


_FAILURES: dict[Failure, tuple[int, str, str]] = {
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "quota_exceeded": (
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "context_length": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1148576) exceeds the maximum number of tokens allowed (1048576).",
    ),
}
