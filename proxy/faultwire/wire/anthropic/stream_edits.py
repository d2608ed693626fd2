"""Changes of Anthropic's streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.anthropic import stream as anthropic_stream
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.framing import sse
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import ToolCall
    from faultwire.wire.editing.api import Change, Finish

STOPS: dict[Finish, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
    "refusal": "refusal",
}


def stop_word(change: Change, reason: object) -> str | None:
    """The stop reason that replaces `reason`, None where nothing is to change."""
    was = change.finish_was
    if change.finish is None or reason is None or (was is not None and reason != STOPS[was]):
        return None
    word = STOPS[change.finish]
    return None if reason == word else word


_Block = list[bytes]
"""The events of one content block, from its start to its stop."""


class AnthropicStreamEditor(StreamEditor):
    """Holds blocks from the first one that is to change, and tells them anew when the message stops."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._blocks: dict[int, _Block] = {}
        self._kinds: dict[int, str] = {}
        self._next = 0

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver now; pings are never held."""
        fields = sse.fields(event)
        try:
            document = json_bytes.load_object(fields.data if fields else b"")
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        data = fields.data if fields else b""
        match document.get("type"):
            case "message_start" if self._change.drop_usage:
                return (self._edited(event, data, json_bytes.drop(data, ("message", "usage"))),)
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                return self._block(event, document)
            case "message_delta":
                return (*self._rewritten_events(), self._edited(event, data, self._stopped(data, document)))
            case "message_stop":
                return (*self._rewritten_events(), event)
        return (event,)

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        held, self._blocks = [event for block in self._blocks.values() for event in block], {}
        return held

    def _edited(self, event: bytes, data: bytes, edited: bytes) -> bytes:
        self.changed = self.changed or edited != data
        return event if edited == data else sse.with_data(event, edited)

    def _stopped(self, data: bytes, document: json_bytes.Object) -> bytes:
        word = stop_word(self._change, json_bytes.member(document, "delta", "stop_reason"))
        if word is not None:
            data = json_bytes.put(data, ("delta", "stop_reason"), json_bytes.dump(word))
        return json_bytes.drop(data, ("usage",)) if self._change.drop_usage else data

    def _block(self, event: bytes, document: json_bytes.Object) -> Iterable[bytes]:
        index = json_bytes.count(document.get("index"))
        if document.get("type") == "content_block_start":
            kind = json_bytes.string(json_bytes.member(document, "content_block", "type"))
            self._kinds[index] = kind
            wanted = {"text": self._change.text, "tool_use": self._change.calls}.get(kind)
            if self._blocks or wanted is not None:
                self._blocks[index] = []
            else:
                self._next = index + 1
        if index not in self._blocks:
            return (event,)
        self._blocks[index].append(event)
        return ()

    def _rewritten_events(self) -> Iterable[bytes]:
        blocks, self._blocks = self._blocks, {}
        text, calls = _read(blocks)
        new_text = self._change.text(text) if self._change.text else text
        new_calls = self._change.calls(calls) if self._change.calls else calls
        self._change_once()
        if new_text == text and new_calls == calls:
            return [event for block in blocks.values() for event in block]
        self.changed = True
        made = list(self._made(blocks, None if new_text == text else new_text, calls, new_calls))
        return [_at(event, self._next + at) for at, block in enumerate(made) for event in block]

    def _change_once(self) -> None:
        """The message stops once; what follows (`message_stop` after `message_delta`) tells nothing."""
        self._change = replace(self._change, text=None, calls=None)

    def _made(
        self,
        blocks: dict[int, _Block],
        text: str | None,
        old: tuple[ToolCall, ...],
        new: tuple[ToolCall, ...],
    ) -> Iterator[_Block]:
        worded = [index for index in blocks if self._kinds.get(index) == "text"]
        if text and not worded:
            yield _text_block(text, 1)
        left, known = list(new), iter(old)
        model: _Block = []
        for index, block in blocks.items():
            if self._kinds.get(index) == "text" and text is not None:
                if text and index == worded[0]:
                    yield _text_block(text, len(block) - 2)
            elif self._kinds.get(index) == "tool_use":
                was, model = next(known), block
                call = next((call for call in left if call.id == was.id), None)
                if call is not None:
                    left.remove(call)
                    yield block if call == was else _call_block(block, call)
            else:
                yield block
        for call in left:
            if model:
                yield _call_block(model, call)


def _read(blocks: dict[int, _Block]) -> tuple[str, tuple[ToolCall, ...]]:
    reader = anthropic_stream.Reader()
    for block in blocks.values():
        for event in block:
            reader.feed(event)
    view = reader.view()
    return view.text, view.tool_calls


def _at(event: bytes, index: int) -> bytes:
    """The event with its block's place in the message."""
    fields = sse.fields(event)
    data = fields.data if fields else b"{}"
    if json_bytes.load_object(data).get("index") == index:
        return event
    return sse.with_data(event, json_bytes.put(data, ("index",), json_bytes.dump(index)))


def _event(kind: str, **more: object) -> bytes:
    return sse.write(json_bytes.dump({"type": kind, "index": 0, **more}), kind)


def _text_block(text: str, count: int) -> _Block:
    deltas = (
        _event("content_block_delta", delta={"type": "text_delta", "text": piece})
        for piece in shared_edits.pieces(text, count)
    )
    start = _event("content_block_start", content_block={"type": "text", "text": ""})
    return [start, *deltas, _event("content_block_stop")]


def _call_block(block: _Block, call: ToolCall) -> _Block:
    """The start keeps what else it says; the arguments come in one piece."""
    fields = sse.fields(block[0])
    data = fields.data if fields else b"{}"
    data = json_bytes.put(data, ("content_block", "id"), json_bytes.dump(call.id))
    data = json_bytes.put(data, ("content_block", "name"), json_bytes.dump(call.name))
    delta = {"type": "input_json_delta", "partial_json": call.arguments}
    return [
        sse.with_data(block[0], data),
        _event("content_block_delta", delta=delta),
        _event("content_block_stop"),
    ]
