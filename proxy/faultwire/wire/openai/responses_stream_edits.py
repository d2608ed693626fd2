"""Changes of Responses' answers, whole and streamed.

A stream tells every text up to four times (its pieces, the text, its part, its item) and the closing event
all of it once more: they all agree, and their numbers have no gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers, shared as shared_edits, tool_content
from faultwire.wire.editing.blocks import New, Shape
from faultwire.wire.editing.hold_back import Block, BlockEditor, Event
from faultwire.wire.editing.json_stream import SSE
from faultwire.wire.framing import sse
from faultwire.wire.openai import responses_stream as openai_responses_stream
from faultwire.wire.openai.responses_stream import CALLS, CLOSING, call_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.wire.editing.api import Change, Finish
    from faultwire.wire.editing.hold_back import Made
    from faultwire.wire.editing.json_stream import Gatherer

_WHY: dict[Finish, str | None] = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why an answer is incomplete; every other one is `completed`."""
_WORDS = {"output_text": "text", "refusal": "refusal"}
"""Parts of a message that the model says, and the member with the words."""


class _Items(Shape):
    def is_text(self, element: json_bytes.Object) -> bool:
        return element.get("type") == "message" and bool(_worded(element.get("content")))

    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        return call_of(element) if element.get("type") in CALLS else None

    def with_text(self, element: bytes, new: New) -> bytes:
        content = json_bytes.load_object(element).get("content")
        places = _worded(content)
        for at in reversed(places[1:] if new.text else places):
            element = json_bytes.drop(element, ("content", at))
        if new.text:
            found = json_bytes.span(element, ("content", places[0]))
            part = element[slice(*found)] if found else b"{}"
            return json_bytes.put(element, ("content", places[0]), _part(part, new))
        return element if json_bytes.load_object(element).get("content") else b""

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        item = json_bytes.load_object(element)
        if item.get("call_id") != call.id:
            element = json_bytes.put(element, ("id",), json_bytes.dump(_item_id(item, call)))
            element = json_bytes.put(element, ("call_id",), json_bytes.dump(call.id))
        element = json_bytes.put(element, ("name",), json_bytes.dump(call.name))
        key = CALLS.get(json_bytes.string(item.get("type")), "arguments")
        return json_bytes.put(element, (key,), json_bytes.dump(call.arguments))

    def fresh(self, new: New) -> bytes:
        return json_bytes.dump(_message(new, [_fresh_part(new, new.text or "")], "completed"))


ITEMS = _Items()


def closed(body: bytes, document: json_bytes.Object, change: Change, new: New | None) -> bytes:
    """A response object with what is new in it, its end and its usage."""
    if new is not None:
        body = ITEMS.rewritten(body, ("output",), new)
    why = _stop(change, document)
    if why is not None:
        body = json_bytes.put(body, ("status",), b'"incomplete"' if why else b'"completed"')
        details = json_bytes.dump({"reason": why} if why else None)
        body = json_bytes.put(body, ("incomplete_details",), details)
    return json_bytes.drop(body, ("usage",)) if change.drop_usage else body


def _stop(change: Change, document: json_bytes.Object) -> str | None:
    """Why it shall be incomplete (empty: it is complete), None where that does not change."""
    status = document.get("status")
    if change.finish is None or status not in ("completed", "incomplete"):
        return None
    reason = json_bytes.string(json_bytes.member(document, "incomplete_details", "reason"))
    reason_ = reason if status == "incomplete" else ""
    if change.finish_was is not None and reason_ != (_WHY.get(change.finish_was) or ""):
        return None
    wanted = _WHY.get(change.finish) or ""
    return None if wanted == reason_ else wanted


class ResponsesStreamEditor(BlockEditor):
    """Holds items from the first one that is to change until the closing event."""

    def __init__(self, change: Change) -> None:
        super().__init__(change)
        self._sequence = 0

    def reader(self) -> Gatherer:
        """What reads held events."""
        return openai_responses_stream.Reader()

    def place(self, event: Event) -> tuple[str, int] | None:
        """By number; there is one row."""
        index = event.document.get("output_index")
        return ("", json_bytes.count(index)) if index is not None else None

    def kind(self, event: Event) -> str:
        """As the item says; a message is text."""
        kind = json_bytes.string(json_bytes.member(event.document, "item", "type"))
        return "call" if kind in CALLS else "text" if kind == "message" else "other"

    def stops(self, event: Event) -> bool:
        """One of the closing events."""
        return _type(event) in CLOSING

    def passing(self, event: Event) -> bytes:
        """Later events count on from here."""
        self._sequence = json_bytes.count(event.document.get("sequence_number")) + 1
        return event.raw

    def moved(self, event: Event, data: bytes) -> bytes:
        """With the next number of all events."""
        number, self._sequence = self._sequence, self._sequence + 1
        if json_bytes.load_object(data).get("sequence_number") != number:
            data = json_bytes.put(data, ("sequence_number",), json_bytes.dump(number))
        return self.put(event, data)

    def put(self, event: Event, data: bytes) -> bytes:
        """Under the name that it now deserves."""
        made, kind = super().put(event, data), json_bytes.string(json_bytes.load_object(data).get("type"))
        if not event.name or event.name == kind:
            return made
        return made.replace(b"event: " + event.name.encode(), b"event: " + kind.encode(), 1)

    def closing(self, event: Event, new: New | None) -> bytes:
        """The whole response, and its type, which says how it ended."""
        found = json_bytes.span(event.data, ("response",))
        response = event.document.get("response")
        if found is None or not isinstance(response, dict):
            return event.data
        body = closed(event.data[slice(*found)], response, self._change, new)
        data = json_bytes.put(event.data, ("response",), body)
        status = json_bytes.load_object(body).get("status")
        kind = f"response.{status}"
        if kind != _type(event) and status in ("completed", "incomplete"):
            data = json_bytes.put(data, ("type",), json_bytes.dump(kind))
        return data

    def text_block(self, block: Block, new: New) -> Iterator[Made]:
        """The message with its first text changed and its other ones gone; as many pieces as there were."""
        first = next((_index(event) for event in block if _is_words(event)), 0)
        deltas = [event for event in block if _is_delta(event) and _index(event) == first]
        pieces = shared_edits.pieces(new.text or "", len(deltas))
        gone = {_index(event) for event in block if _is_words(event)} - {first}
        for event in block:
            index = event.document.get("content_index")
            if index in gone:
                continue
            if _type(event) == "response.output_item.done":
                yield event, _inside(event.data, "item", lambda item: ITEMS.with_text(item, new) or item)
            elif index != first:
                yield event, event.data
            elif not _is_delta(event):
                yield event, _reworded(event, new)
            elif pieces:
                yield (
                    event,
                    _typed(
                        json_bytes.put(event.data, ("delta",), json_bytes.dump(pieces.pop(0))), event, new
                    ),
                )

    def fresh_block(self, new: New) -> Iterator[Made]:
        """All events of a message."""
        text, item = new.text or "", _message(new, [], "in_progress")
        key, place = ("refusal" if new.refuse else "text"), {"item_id": item["id"], "content_index": 0}
        word = "refusal" if new.refuse else "output_text"
        yield self._made("response.output_item.added", item=item)
        yield self._made("response.content_part.added", **place, part=_fresh_part(new, ""))
        yield self._made(f"response.{word}.delta", **place, delta=text)
        yield self._made(f"response.{word}.done", **place, **{key: text})
        part = _fresh_part(new, text)
        yield self._made("response.content_part.done", **place, part=part)
        yield self._made("response.output_item.done", item=_message(new, [part], "completed"))

    def call_block(self, block: Block, old: ToolCall, call: ToolCall) -> Iterator[Made]:
        """The item of the call, its arguments in one piece."""
        sent = False
        for event in block:
            data, kind = event.data, _type(event)
            if kind in ("response.output_item.added", "response.output_item.done"):
                begun = call if kind.endswith("done") else ToolCall(call.id, call.name, "")
                data = _inside(data, "item", lambda item, begun=begun: ITEMS.with_call(item, begun))  # type: ignore[misc]
            elif kind.endswith(".delta"):
                if sent:
                    continue
                sent, data = True, json_bytes.put(data, ("delta",), json_bytes.dump(call.arguments))
            elif kind.endswith(".done"):
                key = "input" if "input" in event.document else "arguments"
                data = json_bytes.put(data, (key,), json_bytes.dump(call.arguments))
                if "name" in event.document:
                    data = json_bytes.put(data, ("name",), json_bytes.dump(call.name))
            if "item_id" in event.document and call.id != old.id:
                ident = _item_id({"id": event.document["item_id"]}, call)
                data = json_bytes.put(data, ("item_id",), json_bytes.dump(ident))
            yield event, data

    def numbered(self, data: bytes, number: int) -> bytes:
        """The number of an item in the output."""
        if json_bytes.load_object(data).get("output_index") == number:
            return data
        return json_bytes.put(data, ("output_index",), json_bytes.dump(number))

    def _made(self, kind: str, **more: object) -> Made:
        document = {"type": kind, "sequence_number": -1, "output_index": 0, **more}
        data = json_bytes.dump(document)
        raw = sse.write(data, kind) if self.framed is SSE else data
        return Event(raw, kind if self.framed is SSE else "", data, document), data


def _type(event: Event) -> str:
    return json_bytes.string(event.document.get("type")) or event.name


def _index(event: Event) -> int:
    return json_bytes.count(event.document.get("content_index"))


def _is_delta(event: Event) -> bool:
    return _type(event) in ("response.output_text.delta", "response.refusal.delta")


def _is_words(event: Event) -> bool:
    """Is it about a part that the model says?"""
    return _type(event) == "response.content_part.added" and (
        json_bytes.member(event.document, "part", "type") in _WORDS
    )


def _worded(content: object) -> list[int]:
    return [at for at, part in json_bytes.objects(content) if part.get("type") in _WORDS]


def text_of_item(item: json_bytes.Object) -> str:
    """What the model says in an item; nothing where it is no message."""
    return tool_content.text_of(item.get("content"), glue="") if item.get("type") == "message" else ""


def _part(part: bytes, new: New) -> bytes:
    """A part of a message with other words, perhaps as a refusal."""
    kind = json_bytes.string(json_bytes.load_object(part).get("type"))
    if new.refuse and kind != "refusal":
        return json_bytes.dump(_fresh_part(new, new.text or ""))
    return json_bytes.put(part, (_WORDS[kind],), json_bytes.dump(new.text))


def _fresh_part(new: New, text: str) -> json_bytes.Object:
    if new.refuse:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": []}


def _message(new: New, content: list[json_bytes.Object], status: str) -> json_bytes.Object:
    ident = http_answers.made_id("msg_", new.text, length=32)
    return {"id": ident, "type": "message", "status": status, "role": "assistant", "content": content}


def _item_id(item: json_bytes.Object, call: ToolCall) -> str:
    """The id of a copied item: another one for each call."""
    prefix = json_bytes.string(item.get("id")).partition("_")[0] or "fc"
    return http_answers.made_id(f"{prefix}_", item.get("id"), call.id, length=32)


def _inside(data: bytes, key: str, edit: Callable[[bytes], bytes]) -> bytes:
    """The data with its member changed."""
    found = json_bytes.span(data, (key,))
    return data if found is None else json_bytes.put(data, (key,), edit(data[slice(*found)]))


def _typed(data: bytes, event: Event, new: New) -> bytes:
    """An event about text becomes one about a refusal."""
    kind = _type(event)
    if not new.refuse or "output_text" not in kind:
        return data
    for key in ("text", "logprobs"):
        if key in event.document:
            data = json_bytes.drop(data, (key,))
    return json_bytes.put(data, ("type",), json_bytes.dump(kind.replace("output_text", "refusal")))


def _reworded(event: Event, new: New) -> bytes:
    """What tells a text as a whole, or begins it."""
    kind, data = _type(event), event.data
    if kind in ("response.content_part.added", "response.content_part.done"):
        now = new._replace(text=new.text if kind.endswith("done") else "")
        return _inside(data, "part", lambda part: _part(part, now))
    if kind not in ("response.output_text.done", "response.refusal.done"):
        return data
    data = _typed(data, event, new)
    key = "refusal" if new.refuse or "refusal" in kind else "text"
    return json_bytes.put(data, (key,), json_bytes.dump(new.text))
