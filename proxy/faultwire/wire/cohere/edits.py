"""Changes of Cohere's answers, whole and streamed, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.cohere import stream as cohere_stream
from faultwire.wire.editing import answers as http_answers, shared as shared_edits, tool_content
from faultwire.wire.editing.blocks import New, Shape, decided, stop_word
from faultwire.wire.editing.hold_back import Block, BlockEditor, Event
from faultwire.wire.editing.requests import ALL, RequestEditor, Texts, last_answer, role_of
from faultwire.wire.framing import sse
from faultwire.wire.openai import quotas as openai_quotas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Headers, Path, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Finish, Quota
    from faultwire.wire.editing.hold_back import Made
    from faultwire.wire.editing.json_stream import Gatherer
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.types import StreamEditor

_STOPS: dict[Finish, str] = {
    "stop": "COMPLETE",
    "length": "MAX_TOKENS",
    "tool_calls": "TOOL_CALL",
    "content_filter": "ERROR",
    "refusal": "COMPLETE",
}
"""A refusal has no reason of its own there."""
_TEXT: Path = ("delta", "message", "content", "text")
_CALL = ("delta", "message", "tool_calls")
_ARGUMENTS: Path = (*_CALL, "function", "arguments")


class _Elements(Shape):
    """Of `message.content` and `message.tool_calls`, which are arrays of their own."""

    def is_text(self, element: json_bytes.Object) -> bool:
        return element.get("type") == "text"

    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        function = element.get("function")
        if not isinstance(function, dict):
            return None
        words = (json_bytes.string(function.get(key)) for key in ("name", "arguments"))
        return ToolCall(json_bytes.string(element.get("id")), *words)

    def with_text(self, element: bytes, new: New) -> bytes:
        return json_bytes.put(element, ("text",), json_bytes.dump(new.text)) if new.text else b""

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
        element = json_bytes.put(element, ("function", "name"), json_bytes.dump(call.name))
        return json_bytes.put(element, ("function", "arguments"), json_bytes.dump(call.arguments))


ELEMENTS = _Elements()


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed."""
    document = json_bytes.load_object(body)
    message = document.get("message")
    if isinstance(message, dict):
        body = _message(body, message, change)
    word = stop_word(_STOPS, change, document.get("finish_reason"))
    if word is not None:
        body = json_bytes.put(body, ("finish_reason",), json_bytes.dump(word))
    return json_bytes.drop(body, ("usage",)) if change.drop_usage else body


def _message(body: bytes, message: json_bytes.Object, change: Change) -> bytes:
    text = tool_content.text_of(message.get("content"), glue="")
    new = decided(change, text, ELEMENTS.calls(message.get("tool_calls")))
    if new is None:
        return body
    if new.text is not None:
        body = ELEMENTS.rewritten(body, ("message", "content"), New(new.text))
    if new.calls is None:
        return body
    if not new.calls:
        return json_bytes.drop(body, ("message", "tool_calls"))
    return ELEMENTS.rewritten(body, ("message", "tool_calls"), New(calls=new.calls))


class CohereStreamEditor(BlockEditor):
    """Texts and calls are numbered apart; `message-end` closes the answer."""

    loose = True

    def reader(self) -> Gatherer:
        """What reads held events."""
        return cohere_stream.Reader()

    def place(self, event: Event) -> tuple[str, int] | None:
        """By number, in one row for texts and one for calls."""
        row = _type(event).rpartition("-")[0]
        return (
            (row, json_bytes.count(event.document.get("index"))) if row in ("content", "tool-call") else None
        )

    def row(self, kind: str) -> str:
        """Thoughts are content, too."""
        return "tool-call" if kind == "call" else "content"

    def kind(self, event: Event) -> str:
        """As the start says."""
        if _type(event) == "tool-call-start":
            return "call"
        kind = json_bytes.member(event.document, "delta", "message", "content", "type")
        return "text" if kind in ("text", None) else "other"

    def stops(self, event: Event) -> bool:
        """`message-end`."""
        return _type(event) == "message-end"

    def closing(self, event: Event, new: New | None) -> bytes:
        """The reason, and what was used."""
        word = stop_word(_STOPS, self._change, json_bytes.member(event.document, "delta", "finish_reason"))
        data = event.data
        if word is not None:
            data = json_bytes.put(data, ("delta", "finish_reason"), json_bytes.dump(word))
        return json_bytes.drop(data, ("delta", "usage")) if self._change.drop_usage else data

    def text_block(self, block: Block, new: New) -> Iterator[Made]:
        """As many pieces as there were; the start, which may bring the first one, has none."""
        deltas = [event for event in block if _type(event) == "content-delta"]
        pieces = shared_edits.pieces(new.text or "", len(deltas))
        for event in block:
            match _type(event):
                case "content-delta":
                    if pieces:
                        yield event, json_bytes.put(event.data, _TEXT, json_bytes.dump(pieces.pop(0)))
                case "content-start":
                    first = "" if deltas else pieces.pop(0)
                    kept = _text_at(event, _TEXT) == first
                    yield (
                        event,
                        event.data if kept else json_bytes.put(event.data, _TEXT, json_bytes.dump(first)),
                    )
                case _:
                    yield event, event.data

    def fresh_block(self, new: New) -> Iterator[Made]:
        """Start, words, end."""
        start = {"message": {"content": {"type": "text", "text": ""}}}
        yield _made("content-start", {"delta": start})
        yield _made("content-delta", {"delta": {"message": {"content": {"text": new.text}}}})
        yield _made("content-end", {})

    def call_block(self, block: Block, old: ToolCall, call: ToolCall) -> Iterator[Made]:
        """The start keeps what else it says; the arguments come in one piece."""
        sent = False
        for event in block:
            data = event.data
            if _type(event) == "tool-call-start":
                data = json_bytes.put(data, (*_CALL, "id"), json_bytes.dump(call.id))
                data = json_bytes.put(data, (*_CALL, "function", "name"), json_bytes.dump(call.name))
                sent = all(_type(one) != "tool-call-delta" for one in block)
                yield event, json_bytes.put(data, _ARGUMENTS, json_bytes.dump(call.arguments if sent else ""))
            elif _type(event) != "tool-call-delta":
                yield event, data
            elif not sent:
                sent = True
                yield event, json_bytes.put(data, _ARGUMENTS, json_bytes.dump(call.arguments))

    def numbered(self, data: bytes, number: int) -> bytes:
        """The number of a block in its row."""
        if json_bytes.load_object(data).get("index") == number:
            return data
        return json_bytes.put(data, ("index",), json_bytes.dump(number))


def _type(event: Event) -> str:
    return json_bytes.string(event.document.get("type")) or event.name


def _text_at(event: Event, path: Path) -> str:
    return json_bytes.string(json_bytes.member(event.document, *(str(key) for key in path)))


def _made(kind: str, more: json_bytes.Object) -> Made:
    document = {"type": kind, "index": 0, **more}
    data = json_bytes.dump(document)
    return Event(sse.write(data, kind), kind, data, document), data


class CohereEditor(RequestEditor):
    """Cohere."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return CohereStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """Messages and documents."""
        messages = json_bytes.objects(document.get("messages"))
        texts = Texts(last_answer(messages))
        for at, message in messages:
            role, place = role_of(message.get("role")), ("messages", at, "content")
            texts.blocks(role, message.get("content"), place, at)
            for part, block in json_bytes.objects(message.get("content")):
                data = json_bytes.member(block, "document", "data")
                texts.add(role, data, (*place, part, "document", "data"), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """`{"id", "message"}`."""
        status, usual = _FAILURES[what]
        made = http_answers.made_id("", "cohere", status, message or usual, length=32)
        body = json_bytes.dump({"id": made, "message": message or usual})
        return http_answers.answer(status, body, "application/json", ("x-debug-trace-id", made))

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A last event that says why."""
        usual = "service unavailable" if what == "overloaded" else "internal server error"
        closing = {"finish_reason": "ERROR", "error": message or usual}
        return sse.write(json_bytes.dump({"type": "message-end", "delta": closing}), "message-end")

    def quota(self, quota: Quota) -> Headers:
        """The calls of a trial key."""
        return openai_quotas.cohere(quota)


_FAILURES: dict[Failure, tuple[int, str]] = {
    "overloaded": (503, "service unavailable"),
    "quota_exceeded": (429, "You are using a Trial key, which is limited to 1000 API calls / month."),
    "context_length": (
        400,
        "too many tokens: total number of tokens in the prompt exceeds the limit of 256000. Try using a "
        "shorter prompt.",
    ),
    "content_filter": (400, "invalid request: the content was rejected by the safety filter"),
}
