"""OpenAI Responses' output: items, streams, and how both are cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import ResponseView, ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.json_stream import Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts, put_count
from faultwire.wire.openai import chat_stream as openai_chat_stream
from faultwire.wire.openai.usage import responses_usage

if TYPE_CHECKING:
    from faultwire.events import Path
    from faultwire.wire.framing.sse import Fields

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that are calls of the client's tools, and where their arguments are."""
CLOSING = ("response.completed", "response.incomplete", "response.failed")
OPENING = ("response.created", "response.queued")
_ARGUMENTS = {
    "response.function_call_arguments.delta": "delta",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.delta": "delta",
    "response.custom_tool_call_input.done": "input",
}
_TEXTS = {
    "response.output_text.delta": "delta",
    "response.output_text.done": "text",
    "response.refusal.delta": "delta",
    "response.refusal.done": "refusal",
}


def closes(fields: Fields) -> bool:
    """Does this event close a stream?"""
    return fields.name in CLOSING or (
        not fields.name and any(b'"' + word.encode() + b'"' in fields.data for word in CLOSING)
    )


def call_of(item: json_bytes.Object) -> ToolCall:
    """The call that an item is."""
    key = CALLS.get(json_bytes.string(item.get("type")), "arguments")
    values = (json_bytes.string(item.get(name)) for name in ("call_id", "name", key))
    return ToolCall(*values)


def answer_of(document: json_bytes.Object) -> ResponseView:
    """What a response object says."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for _, item in json_bytes.objects(document.get("output")):
        if item.get("type") in CALLS:
            calls.append(call_of(item))
        elif item.get("type") == "message":
            texts.append(tool_content.text_of(item.get("content"), glue=""))
    return ResponseView(
        model=json_bytes.string(document.get("model")),
        text="".join(texts),
        finish_reason=_finish(document),
        tool_calls=tuple(calls),
        usage=responses_usage(document.get("usage")),
        error=openai_chat_stream.error_text(document),
        answer_id=json_bytes.string(document.get("id")) or None,
    )


def _finish(document: json_bytes.Object) -> str | None:
    """Why it is incomplete, else the status."""
    why = json_bytes.string(json_bytes.member(document, "incomplete_details", "reason"))
    return why or json_bytes.string(document.get("status")) or None


class Reader(Gatherer):
    """Gathers deltas; the closing event's own word on model, usage and status stands.

    A stream that is resumed (`starting_after`) has no `response.created`, and only the rest of the deltas:
    there the closing event's output is the answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self._from_the_start = False

    def feed(self, event: bytes) -> None:
        """Take one event. OpenRouter ends the stream with `data: [DONE]`, which says nothing more."""
        if not (event.startswith(b"data: [DONE]") or event.startswith(b"data:[DONE]")):
            super().feed(event)

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one event."""
        kind = json_bytes.string(document.get("type")) or name
        index = json_bytes.count(document.get("output_index"))
        response = document.get("response")
        if isinstance(response, dict):
            self._from_the_start = self._from_the_start or kind in OPENING
            self._whole(response, closing=kind in CLOSING)
        elif kind == "error":
            self.error = self.error or _error_text(document)
        elif _TEXTS.get(kind) == "delta":
            self.text.append(json_bytes.string(document.get("delta")))
        elif _ARGUMENTS.get(kind) == "delta" and index in self.calls:
            self.calls[index][2].append(json_bytes.string(document.get("delta")))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item(index, document.get("item"))

    def _item(self, index: int, item: Any) -> None:
        if json_bytes.member(item, "type") in CALLS:
            call = call_of(item)
            self.calls[index] = (call.id, call.name, [call.arguments])

    def _whole(self, response: json_bytes.Object, *, closing: bool) -> None:
        self.model = json_bytes.string(response.get("model")) or self.model
        self.answer_id = json_bytes.string(response.get("id")) or self.answer_id
        if closing:
            found = answer_of(response)
            if not self._from_the_start and (found.text or found.tool_calls):
                self.text = [found.text]
                self.calls = {
                    at: (call.id, call.name, [call.arguments]) for at, call in enumerate(found.tool_calls)
                }
            self.finish, self.usage, self.complete = found.finish_reason, found.usage, True
            self.error = self.error or found.error


def _error_text(document: json_bytes.Object) -> str:
    """Flat as the schema has it, or nested as the live API sends it."""
    return openai_chat_stream.error_text(document) or json_bytes.string(document.get("message")) or "error"


# ---------------------------------------------------------------- cutting short


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, cut."""
    document = json_bytes.load_object(body)
    budget = Budget(max_tokens)
    edited = cut_parts(body, _parts(document.get("output")), budget)
    if not budget.spent:
        return body
    return _incomplete(_empty_messages_dropped(edited), document, max_tokens)


def _parts(output: Any) -> list[Part]:
    found = []
    for at, item in json_bytes.objects(output):
        place: Path = ("output", at)
        if item.get("type") in CALLS:
            call = call_of(item)
            words = (*place, CALLS[json_bytes.string(item.get("type"))])
            found.append(Part(place, call.name + call.arguments, words, len(call.name)))
            continue
        for part, block in json_bytes.objects(item.get("content")):
            key = _word_key(block)
            if key:
                inside = (*place, "content", part)
                found.append(Part(inside, json_bytes.string(block.get(key)), (*inside, key), 0))
    return found


def _word_key(block: Any) -> str | None:
    return {"output_text": "text", "refusal": "refusal"}.get(
        json_bytes.string(json_bytes.member(block, "type"))
    )


def _empty_messages_dropped(body: bytes) -> bytes:
    output = json_bytes.objects(json_bytes.load_object(body).get("output"))
    for at, item in reversed(output):
        if item.get("type") == "message" and item.get("content") == []:
            body = json_bytes.drop(body, ("output", at))
    return body


def _incomplete(body: bytes, document: json_bytes.Object, max_tokens: int) -> bytes:
    body = json_bytes.put(body, ("status",), b'"incomplete"')
    body = json_bytes.put(body, ("incomplete_details",), b'{"reason":"max_output_tokens"}')
    usage = document.get("usage")
    counted, total = json_bytes.member(usage, "output_tokens"), json_bytes.member(usage, "total_tokens")
    return put_count(
        body, ("usage", "output_tokens"), counted, max_tokens, (("usage", "total_tokens"), total)
    )


class Truncator(JsonEditor):
    """Cuts each text where it first comes, and the same in the events that repeat it.

    Where a text ends does not depend on its pieces, so the closing object is cut by itself.
    """

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._kept: dict[tuple[int, int], str] = {}
        """What stays of a text, by output index and content index (-1: a call's arguments)."""
        self._gone: set[int] = set()
        self._closed = False

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        kind = json_bytes.string(document.get("type")) or name
        index = json_bytes.count(document.get("output_index"))
        if isinstance(document.get("response"), dict):
            return self._close(data, kind)
        if kind == "response.output_item.added" and not self._enter(index, document.get("item")):
            self._gone.add(index)
        if index in self._gone and "output_index" in document:
            return b""
        if kind in _TEXTS:
            return self._words(
                data, (index, json_bytes.count(document.get("content_index"))), _TEXTS[kind], document
            )
        if kind in _ARGUMENTS:
            return self._words(data, (index, -1), _ARGUMENTS[kind], document)
        if kind == "response.content_part.done":
            return self._part(
                data,
                ("part",),
                (index, json_bytes.count(document.get("content_index"))),
                document.get("part"),
            )
        if kind == "response.output_item.done":
            return self._item(data, index, document.get("item"))
        return data

    def renamed(self, event: bytes) -> bytes:
        """The closing event has another name once something was cut."""
        if self._closed:
            return event.replace(b"event: response.completed", b"event: response.incomplete", 1)
        return event

    def _enter(self, index: int, item: Any) -> bool:
        """May the item be there at all? A call's name counts, as it does in whole answers."""
        if json_bytes.member(item, "type") not in CALLS:
            return not self._budget.spent and self._budget.used < self._budget.max_tokens
        name = call_of(item).name
        return self._budget.enter((index, -1)) and self._budget.take(name) == name

    def _words(self, data: bytes, part: tuple[int, int], key: str, document: json_bytes.Object) -> bytes:
        words = json_bytes.string(document.get(key))
        if key != "delta":
            return self._put(data, (key,), words, self._kept.get(part, words if part[1] < 0 else ""))
        kept = self._budget.take(words) if self._budget.enter(part) else ""
        self._kept[part] = self._kept.get(part, "") + kept
        return (
            data
            if kept == words
            else json_bytes.put(data, ("delta",), json_bytes.dump(kept))
            if kept
            else b""
        )

    def _part(self, data: bytes, place: Path, part: tuple[int, int], block: Any) -> bytes:
        key = _word_key(block)
        if key is None:
            return data
        return self._put(data, (*place, key), json_bytes.string(block.get(key)), self._kept.get(part, ""))

    def _item(self, data: bytes, index: int, item: Any) -> bytes:
        kind = json_bytes.string(json_bytes.member(item, "type"))
        before = data
        if kind in CALLS:
            words = json_bytes.string(item.get(CALLS[kind]))
            kept = self._kept.get((index, -1), words)
            data = self._put(data, ("item", CALLS[kind]), words, kept)
        for at, block in json_bytes.objects(json_bytes.member(item, "content")):
            data = self._part(data, ("item", "content", at), (index, at), block)
        if data != before:
            data = json_bytes.put(data, ("item", "status"), b'"incomplete"')
        return data

    @staticmethod
    def _put(data: bytes, path: Path, words: str, kept: str) -> bytes:
        return data if kept == words else json_bytes.put(data, path, json_bytes.dump(kept))

    def _close(self, data: bytes, kind: str) -> bytes:
        found = json_bytes.span(data, ("response",))
        if kind != "response.completed" or not self._budget.spent or found is None:
            return data
        self._closed = True
        data = json_bytes.put(data, ("response",), cut_body(data[slice(*found)], self._budget.max_tokens))
        return json_bytes.put(data, ("type",), b'"response.incomplete"')
