"""Changes of Converse's answers, whole and as event-stream frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.bedrock import stream as bedrock_stream
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.blocks import New, Shape, decided, stop_word, value_of
from faultwire.wire.editing.hold_back import Block, BlockEditor, Event
from faultwire.wire.editing.json_stream import FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Path
    from faultwire.wire.editing.api import Change, Finish
    from faultwire.wire.editing.hold_back import Made
    from faultwire.wire.editing.json_stream import Gatherer

_STOPS: dict[Finish, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
}
_CONTENT: Path = ("output", "message", "content")


class _Blocks(Shape):
    def is_text(self, element: json_bytes.Object) -> bool:
        return isinstance(element.get("text"), str)

    def call(self, element: json_bytes.Object, at: int) -> ToolCall | None:
        use = element.get("toolUse")
        if not isinstance(use, dict):
            return None
        arguments = json_bytes.dump(use.get("input", {})).decode()
        return ToolCall(
            json_bytes.string(use.get("toolUseId")), json_bytes.string(use.get("name")), arguments
        )

    def with_text(self, element: bytes, new: New) -> bytes:
        return json_bytes.put(element, ("text",), json_bytes.dump(new.text)) if new.text else b""

    def with_call(self, element: bytes, call: ToolCall) -> bytes:
        element = json_bytes.put(element, ("toolUse", "toolUseId"), json_bytes.dump(call.id))
        element = json_bytes.put(element, ("toolUse", "name"), json_bytes.dump(call.name))
        return json_bytes.put(element, ("toolUse", "input"), value_of(call.arguments))

    def fresh(self, new: New) -> bytes:
        return b'{"text":' + json_bytes.dump(new.text) + b"}"


BLOCKS = _Blocks()


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed."""
    document = json_bytes.load_object(body)
    content = json_bytes.member(document, *(str(key) for key in _CONTENT))
    if isinstance(content, list):
        new = decided(change, bedrock_stream.text_of(content), BLOCKS.calls(content))
        body = body if new is None else BLOCKS.rewritten(body, _CONTENT, new)
    word = stop_word(_STOPS, change, document.get("stopReason"))
    if word is not None:
        body = json_bytes.put(body, ("stopReason",), json_bytes.dump(word))
    return json_bytes.drop(body, ("usage",)) if change.drop_usage else body


class BedrockStreamEditor(BlockEditor):
    """Text has no start of its own there; `messageStop` and `metadata` end the answer."""

    framed = FRAMES

    def reader(self) -> Gatherer:
        """What reads held frames."""
        return bedrock_stream.Reader()

    def place(self, event: Event) -> tuple[str, int] | None:
        """By number; there is one row."""
        index = event.document.get("contentBlockIndex")
        return ("", json_bytes.count(index)) if event.name.startswith("contentBlock") else None

    def kind(self, event: Event) -> str:
        """A call has a start, a text begins with its first words."""
        if isinstance(json_bytes.member(event.document, "start", "toolUse"), dict):
            return "call"
        return "text" if isinstance(json_bytes.member(event.document, "delta", "text"), str) else "other"

    def stops(self, event: Event) -> bool:
        """`messageStop`, and `metadata` after it."""
        return event.name in ("messageStop", "metadata")

    def closing(self, event: Event, new: New | None) -> bytes:
        """The reason, or what was used."""
        if event.name == "metadata":
            return json_bytes.drop(event.data, ("usage",)) if self._change.drop_usage else event.data
        word = stop_word(_STOPS, self._change, event.document.get("stopReason"))
        return (
            event.data if word is None else json_bytes.put(event.data, ("stopReason",), json_bytes.dump(word))
        )

    def text_block(self, block: Block, new: New) -> Iterator[Made]:
        """As many pieces as there were."""
        worded = [event for event in block if _words(event) is not None]
        pieces = shared_edits.pieces(new.text or "", len(worded))
        for event, piece in zip(worded, pieces, strict=False):
            yield event, json_bytes.put(event.data, ("delta", "text"), json_bytes.dump(piece))
        yield from ((event, event.data) for event in block if event.name != "contentBlockDelta")

    def fresh_block(self, new: New) -> Iterator[Made]:
        """Two frames."""
        for name, more in (("contentBlockDelta", {"delta": {"text": new.text}}), ("contentBlockStop", {})):
            event = _frame(name, {**more, "contentBlockIndex": 0})
            yield event, event.data

    def call_block(self, block: Block, old: ToolCall, call: ToolCall) -> Iterator[Made]:
        """The start keeps what else it says; the arguments come in one piece."""
        pieces = [event for event in block if event.name == "contentBlockDelta"]
        for event in block:
            if event.name == "contentBlockStart":
                data = json_bytes.put(event.data, ("start", "toolUse", "toolUseId"), json_bytes.dump(call.id))
                yield event, json_bytes.put(data, ("start", "toolUse", "name"), json_bytes.dump(call.name))
                if not pieces:
                    made = _frame("contentBlockDelta", {"delta": {"toolUse": {"input": call.arguments}}})
                    yield made, made.data
            elif pieces and event is pieces[0]:
                yield (
                    event,
                    json_bytes.put(
                        event.data, ("delta", "toolUse", "input"), json_bytes.dump(call.arguments)
                    ),
                )
            elif event not in pieces:
                yield event, event.data

    def numbered(self, data: bytes, number: int) -> bytes:
        """The number of a block in its message."""
        if json_bytes.load_object(data).get("contentBlockIndex") == number:
            return data
        return json_bytes.put(data, ("contentBlockIndex",), json_bytes.dump(number))


def _words(event: Event) -> str | None:
    text = json_bytes.member(event.document, "delta", "text")
    return text if isinstance(text, str) else None


def _frame(name: str, payload: json_bytes.Object) -> Event:
    headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")]
    data = json_bytes.dump(payload)
    return Event(_core.eventstream_write(headers, data), name, data, payload)
