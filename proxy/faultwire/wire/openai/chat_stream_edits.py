"""Changes of OpenAI Chat's streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.api import Change, Finish
from faultwire.wire.framing import sse
from faultwire.wire.openai import chat_stream as openai_chat_stream
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Path

_FINISH: dict[Finish, str] = {"refusal": "stop"}
"""Words that differ; refusals have none of their own here."""


class ChatStreamEditor(StreamEditor):
    """Holds the events that carry what is to change until the choice stops, then tells them anew."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._texts: list[bytes] = []
        self._calls: list[bytes] = []
        self._done = False

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver now."""
        fields = sse.fields(event)
        if fields is None or not fields.data:
            return (event,)
        if openai_chat_stream.is_done(fields.data):
            return (*self._released(None), event)
        try:
            document = json_bytes.load_object(fields.data)
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        choice = next(
            (c for _, c in json_bytes.objects(document.get("choices")) if c.get("index", 0) == 0), None
        )
        if choice is None:
            return self._usage(event, fields.data, document)
        return self._choice(event, fields.data, choice)

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        held, self._texts, self._calls = [*self._texts, *self._calls], [], []
        return held

    def _usage(self, event: bytes, data: bytes, document: json_bytes.Object) -> Iterable[bytes]:
        if not (self._change.drop_usage and document.get("usage")):
            return (event,)
        self.changed = True
        return (
            () if not document.get("choices") else (sse.with_data(event, json_bytes.drop(data, ("usage",))),)
        )

    def _choice(self, event: bytes, data: bytes, choice: json_bytes.Object) -> Iterable[bytes]:
        delta = choice.get("delta")
        if choice.get("finish_reason"):  # a last piece may come with it: that is sent before it
            self._hold(_delta(event, delta if isinstance(delta, dict) else {}), delta)
            return (*self._released(event), *self._stop(event, data, choice))
        return () if self._hold(event, delta) else (event,)

    def _hold(self, event: bytes, delta: object) -> bool:
        change = self._change
        if change.calls is not None and json_bytes.member(delta, "tool_calls"):
            self._calls.append(event)
            return True
        if change.text is not None and json_bytes.string(json_bytes.member(delta, "content")):
            self._texts.append(event)
            return True
        return False

    def _stop(self, event: bytes, data: bytes, choice: json_bytes.Object) -> Iterable[bytes]:
        """The event that stops the choice, without what was sent before it."""
        edited = data
        for key in ("content", "tool_calls"):
            held = self._change.text if key == "content" else self._change.calls
            if held is not None and json_bytes.member(choice.get("delta"), key):
                edited = json_bytes.drop(edited, ("choices", 0, "delta", key))
        if self._change.finish is not None:
            edited = finish(edited, ("choices", 0), choice, self._change)
        if self._change.drop_usage:
            edited = json_bytes.drop(edited, ("usage",))
        self.changed = self.changed or edited != data
        yield event if edited == data else sse.with_data(event, edited)

    def _released(self, last: bytes | None) -> Iterable[bytes]:
        if not self._done:
            self._done = True
            yield from self._text_events(last)
            yield from self._call_events()

    def _text_events(self, last: bytes | None) -> Iterable[bytes]:
        change, held = self._change, self._texts
        self._texts = []
        if change.text is None:
            return
        old = _read(held)[0]
        new = change.text(old)
        if new == old and not change.refuse:
            yield from held
            return
        self.changed = True
        model = held[0] if held else last
        if model is None or not new:
            yield from (_delta(event, {**_role_of(event), "content": ""}) for event in held[:1])
            return
        key = "refusal" if change.refuse else "content"
        for at, piece in enumerate(shared_edits.pieces(new, len(held))):
            yield _delta(model, {**(_role_of(model) if not at else {}), key: piece})

    def _call_events(self) -> Iterable[bytes]:
        held, self._calls = self._calls, []
        if self._change.calls is None or not held:
            return
        old = _read(held)[1]
        new = self._change.calls(old)
        if new == old:
            yield from held
            return
        self.changed = True
        for index, call in enumerate(new):
            function = {"name": call.name, "arguments": ""}
            begun = {"index": index, "id": call.id, "type": "function", "function": function}
            yield _delta(held[0], {**(_role_of(held[0]) if not index else {}), "tool_calls": [begun]})
            delta = {"index": index, "function": {"arguments": call.arguments}}
            yield _delta(held[0], {"tool_calls": [delta]})


def _read(events: Iterable[bytes]) -> tuple[str, tuple[ToolCall, ...]]:
    reader = openai_chat_stream.Reader()
    for event in events:
        reader.feed(event)
    view = reader.view()
    numbered = (replace(call, id=call.id or f"call_{at}") for at, call in enumerate(view.tool_calls))
    return view.text, tuple(numbered)


def _role_of(event: bytes) -> json_bytes.Object:
    fields = sse.fields(event)
    choices = json_bytes.load_object(fields.data if fields else b"{}").get("choices")
    role = next(
        (json_bytes.member(choice, "delta", "role") for _, choice in json_bytes.objects(choices)), None
    )
    return {"role": role} if role else {}


def _delta(event: bytes, delta: json_bytes.Object) -> bytes:
    """The event with another delta, and not yet at its stop."""
    fields = sse.fields(event)
    data = fields.data if fields else b""
    data = json_bytes.put(data, ("choices", 0, "delta"), json_bytes.dump(delta))
    data = json_bytes.put(data, ("choices", 0, "finish_reason"), b"null")
    return sse.with_data(event, json_bytes.drop(data, ("usage",)))


def finish(text: bytes, place: Path, choice: json_bytes.Object, change: Change) -> bytes:
    """The choice with another finish reason, where one is wanted; `place` is where it stands in `text`."""
    reason, was = choice.get("finish_reason"), change.finish_was
    if change.finish is None or (was is not None and reason != _FINISH.get(was, was)):
        return text
    word = _FINISH.get(change.finish, change.finish)
    return text if reason == word else json_bytes.put(text, (*place, "finish_reason"), json_bytes.dump(word))
