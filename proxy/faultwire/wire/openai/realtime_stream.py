"""OpenAI Realtime's output: items, the events that tell them, and how both are read and cut short.

Event names are those of the GA interface and of the beta (`OpenAI-Beta: realtime=v1`), which differ in
`output_`. Shapes: OpenAI's API reference, Realtime server events.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from faultwire.events import ResponseView, ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts, put_count
from faultwire.wire.editing.websocket import MESSAGES
from faultwire.wire.openai.usage import responses_usage

if TYPE_CHECKING:
    from faultwire.events import Path

DONE = "response.done"
_TEXT_KINDS = ("output_text", "text", "output_audio_transcript", "audio_transcript")
TEXTS = {
    **{f"response.{name}.delta": "delta" for name in _TEXT_KINDS},
    **{f"response.{name}.done": "transcript" if "audio" in name else "text" for name in _TEXT_KINDS},
}
"""Events that carry words of a message, and the member that holds them."""
AUDIO = ("response.output_audio.delta", "response.audio.delta")
ARGUMENTS = {
    "response.function_call_arguments.delta": "delta",
    "response.function_call_arguments.done": "arguments",
}
CALL = "function_call"
ITEMS_KEPT = 256


class Lanes:
    """Which response an event belongs to: by its id, or by the item that it tells of."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, str] = OrderedDict()

    def __call__(self, document: json_bytes.Object) -> str | None:
        """The response's id, None where the event belongs to none."""
        response = document.get("response")
        if isinstance(response, dict):
            return json_bytes.string(response.get("id"))
        item = json_bytes.string(json_bytes.member(document, "item", "id")) or json_bytes.string(
            document.get("item_id")
        )
        lane = document.get("response_id")
        if not isinstance(lane, str):
            return self._items.get(item)
        if item and item not in self._items:
            self._items[item] = lane
            if len(self._items) > ITEMS_KEPT:
                self._items.popitem(last=False)
        return lane


def word_key(block: Any) -> str | None:
    """The member of a content part that holds its words."""
    kind = json_bytes.member(block, "type")
    if kind in ("output_audio", "audio"):
        return "transcript"
    return "text" if kind in ("output_text", "text") else None


def words_of(item: json_bytes.Object) -> str:
    """What a message item says."""
    blocks = (block for _, block in json_bytes.objects(item.get("content")))
    return "".join(json_bytes.string(block.get(key)) for block in blocks if (key := word_key(block)))


def call_of(item: json_bytes.Object) -> ToolCall:
    """The call that an item is."""
    return ToolCall(*(json_bytes.string(item.get(name)) for name in ("call_id", "name", "arguments")))


def answer_of(response: json_bytes.Object) -> ResponseView:
    """What a response object says; which model it is, only the session knows."""
    items = [item for _, item in json_bytes.objects(response.get("output"))]
    status = json_bytes.string(response.get("status"))
    details = response.get("status_details")
    usage = response.get("usage")
    failed = json_bytes.string(json_bytes.member(details, "error", "message")) or status
    return ResponseView(
        text="".join(words_of(item) for item in items if item.get("type") == "message"),
        finish_reason=json_bytes.string(json_bytes.member(details, "reason")) or status or None,
        tool_calls=tuple(call_of(item) for item in items if item.get("type") == CALL),
        usage=responses_usage(usage),
        error=failed if status == "failed" else None,
        complete=status != "in_progress",
    )


class Reader(Gatherer):
    """Gathers the deltas of one response; its `response.done` says why it ended and what it cost."""

    framed = MESSAGES

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one event."""
        kind = json_bytes.string(document.get("type"))
        index = json_bytes.count(document.get("output_index"))
        if TEXTS.get(kind) == "delta":
            self.text.append(json_bytes.string(document.get("delta")))
        elif ARGUMENTS.get(kind) == "delta" and index in self.calls:
            self.calls[index][2].append(json_bytes.string(document.get("delta")))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            if json_bytes.member(document, "item", "type") == CALL:
                call = call_of(document["item"])
                self.calls[index] = (call.id, call.name, [call.arguments])
        elif kind == DONE and isinstance(document.get("response"), dict):
            found = answer_of(document["response"])
            self.finish, self.usage, self.complete = found.finish_reason, found.usage, True
            self.error = self.error or found.error


# ---------------------------------------------------------------- cutting short


class Truncator(JsonEditor):
    """Cuts one response as `max_output_tokens` would: the events that repeat a text say the same."""

    framed = MESSAGES

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._kept: dict[tuple[str, int], str] = {}
        """What stays of a text, by item and content index (-1: a call's arguments)."""
        self._gone: set[str] = set()

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        kind = json_bytes.string(document.get("type"))
        item = document.get("item")
        ident = json_bytes.string(json_bytes.member(item, "id")) or json_bytes.string(document.get("item_id"))
        part = (ident, json_bytes.count(document.get("content_index")))
        if kind == DONE:
            return self._close(data)
        if kind == "response.output_item.added" and not self._enter(ident, item):
            self._gone.add(ident)
        if (ident and ident in self._gone) or (kind in AUDIO and self._budget.spent):
            return b""
        if kind in TEXTS:
            return self._words(data, part, TEXTS[kind], document)
        if kind in ARGUMENTS:
            return self._words(data, (ident, -1), ARGUMENTS[kind], document)
        if kind == "response.content_part.done":
            return self._part(data, ("part",), part, document.get("part"))
        if kind in ("response.output_item.done", "conversation.item.done"):
            return self._item(data, ident, item)
        return data

    def _enter(self, ident: str, item: Any) -> bool:
        if json_bytes.member(item, "type") != CALL:
            return not self._budget.spent and self._budget.used < self._budget.max_tokens
        name = call_of(item).name
        return self._budget.enter((ident, -1)) and self._budget.take(name) == name

    def _words(self, data: bytes, part: tuple[str, int], key: str, document: json_bytes.Object) -> bytes:
        words = json_bytes.string(document.get(key))
        if key != "delta":
            return _put(data, (key,), words, self._kept.get(part, words if part[1] < 0 else ""))
        kept = self._budget.take(words) if self._budget.enter(part) else ""
        self._kept[part] = self._kept.get(part, "") + kept
        return (
            data
            if kept == words
            else json_bytes.put(data, ("delta",), json_bytes.dump(kept))
            if kept
            else b""
        )

    def _part(self, data: bytes, place: Path, part: tuple[str, int], block: Any) -> bytes:
        key = word_key(block)
        if key is None:
            return data
        return _put(data, (*place, key), json_bytes.string(block.get(key)), self._kept.get(part, ""))

    def _item(self, data: bytes, ident: str, item: Any) -> bytes:
        before = data
        if json_bytes.member(item, "type") == CALL:
            words = call_of(item).arguments
            data = _put(data, ("item", "arguments"), words, self._kept.get((ident, -1), words))
        for at, block in json_bytes.objects(json_bytes.member(item, "content")):
            data = self._part(data, ("item", "content", at), (ident, at), block)
        return data if data == before else json_bytes.put(data, ("item", "status"), b'"incomplete"')

    def _close(self, data: bytes) -> bytes:
        found = json_bytes.span(data, ("response",))
        if not self._budget.spent or found is None:
            return data
        return json_bytes.put(data, ("response",), cut_response(data[slice(*found)], self._budget.max_tokens))


def _put(data: bytes, path: Path, words: str, kept: str) -> bytes:
    return data if kept == words else json_bytes.put(data, path, json_bytes.dump(kept))


def cut_response(body: bytes, max_tokens: int) -> bytes:
    """A response object, cut."""
    response = json_bytes.load_object(body)
    budget = Budget(max_tokens)
    edited = cut_parts(body, _parts(response.get("output")), budget)
    if not budget.spent:
        return body
    for at, item in reversed(json_bytes.objects(json_bytes.load_object(edited).get("output"))):
        if item.get("type") == "message" and item.get("content") == []:
            edited = json_bytes.drop(edited, ("output", at))
    return incomplete(edited, response, "max_output_tokens", max_tokens)


def incomplete(body: bytes, response: json_bytes.Object, why: str, max_tokens: int | None = None) -> bytes:
    """A response object that says that it ended before its end, and why."""
    body = json_bytes.put(body, ("status",), b'"incomplete"')
    body = json_bytes.put(body, ("status_details",), json_bytes.dump({"type": "incomplete", "reason": why}))
    if max_tokens is None:
        return body
    usage = response.get("usage")
    counted, total = json_bytes.member(usage, "output_tokens"), json_bytes.member(usage, "total_tokens")
    return put_count(
        body, ("usage", "output_tokens"), counted, max_tokens, (("usage", "total_tokens"), total)
    )


def _parts(output: Any) -> list[Part]:
    found = []
    for at, item in json_bytes.objects(output):
        place: Path = ("output", at)
        if item.get("type") == CALL:
            call = call_of(item)
            found.append(Part(place, call.name + call.arguments, (*place, "arguments"), len(call.name)))
            continue
        for part, block in json_bytes.objects(item.get("content")):
            key = word_key(block)
            if key:
                inside = (*place, "content", part)
                found.append(Part(inside, json_bytes.string(block.get(key)), (*inside, key), 0))
    return found
