"""Changes of OpenAI Realtime's messages: texts of the client's, answers of the server's, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.api import Change, Editor, Failure, Finish, TextPlace
from faultwire.wire.editing.requests import Texts, role_of
from faultwire.wire.editing.websocket import Editors
from faultwire.wire.openai import errors as openai_errors
from faultwire.wire.openai.chat_edits import OpenAIEditor
from faultwire.wire.openai.realtime_events import event_id, item_events
from faultwire.wire.openai.realtime_stream import CALL, DONE, Lanes, call_of, words_of
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Headers, Path, Response, ToolCall
    from faultwire.wire.editing.api import Quota

_STATUS: dict[Finish, tuple[str, str | None]] = {
    "stop": ("completed", None),
    "tool_calls": ("completed", None),
    "refusal": ("completed", None),
    "length": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
}
"""`status` and the reason in `status_details`."""


class RealtimeEditor(Editor):
    """All that `Editor` names. Refusals have no place of their own here: they are text."""

    abilities = frozenset(("answer", "texts", "failure", "error_event"))

    def __init__(self) -> None:
        self._chat = OpenAIEditor()

    def stream_editor(self, change: Change) -> StreamEditor:
        """Each response of the session; what is to change is held until its `response.done`."""
        return Editors(lambda: RealtimeStreamEditor(change), Lanes())

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """The texts of one message: instructions, content of items, what a tool returned."""
        document = json_bytes.load_object(body)
        texts = Texts(-1)
        for key in ("session", "response"):
            texts.add("system", json_bytes.member(document, key, "instructions"), (key, "instructions"), -1)
        for place, item in items_of(document):
            if item.get("type") == "function_call_output":
                texts.add("tool", item.get("output"), (*place, "output"), 0)
                continue
            for at, block in json_bytes.objects(item.get("content")):
                texts.add(role_of(item.get("role")), block.get("text"), (*place, "content", at, "text"), 0)
        return tuple(texts.found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """What the upgrade is refused with: OpenAI's errors are the same for all its endpoints."""
        return self._chat.failure(what, message=message)

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """`type: error`; the session itself stays open."""
        return error_message("server_error", message or openai_errors.SERVER_ERROR, "server_error")

    def quota(self, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota(quota)


def error_message(kind: str, message: str, code: str | None = None, caused_by: object = None) -> bytes:
    """An `error` event; `caused_by` is the id of the client's event that was at fault."""
    error = {"type": kind, "code": code, "message": message, "param": None, "event_id": caused_by}
    made = event_id("error", kind, code, message, caused_by)
    return json_bytes.dump({"type": "error", "event_id": made, "error": error})


def items_of(document: json_bytes.Object) -> list[tuple[Path, json_bytes.Object]]:
    """The conversation items that a client's message brings, and where they stand."""
    kind, item = document.get("type"), document.get("item")
    if kind == "conversation.item.create" and isinstance(item, dict):
        return [(("item",), item)]
    if kind == "response.create":
        inputs = json_bytes.objects(json_bytes.member(document, "response", "input"))
        return [(("response", "input", at), item) for at, item in inputs]
    return []


class RealtimeStreamEditor(StreamEditor):
    """One response: held from its first item on, and rewritten where something is to change."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._held: list[tuple[bytes, json_bytes.Object]] = []
        self._beta = False

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The messages to deliver now."""
        document = json_bytes.load_object(event)
        kind = document.get("type")
        if kind == DONE:
            return self._rewritten_events(event, document)
        self._beta = self._beta or kind == "conversation.item.created"
        if kind == "response.created" or (self._change.text is None and self._change.calls is None):
            return (event,)
        self._held.append((event, document))
        return ()

    def finish(self) -> Iterable[bytes]:
        """A response that ended early is left unchanged."""
        held, self._held = self._held, []
        return [event for event, _ in held]

    def _rewritten_events(self, event: bytes, document: json_bytes.Object) -> Iterable[bytes]:
        response = document.get("response")
        if not isinstance(response, dict):
            return (*self.finish(), event)
        old = [item for _, item in json_bytes.objects(response.get("output"))]
        new = list(self._items(response, old))
        edited = event
        held = (
            self.finish()
            if new == old
            else list(self._rewritten(json_bytes.string(response.get("id")), old, new))
        )
        if new != old:
            edited = json_bytes.put(edited, ("response", "output"), json_bytes.dump(new))
        edited = _finished(edited, response, self._change)
        self.changed = self.changed or edited != event
        return (*held, edited)

    def _items(
        self, response: json_bytes.Object, old: list[json_bytes.Object]
    ) -> Iterator[json_bytes.Object]:
        """The output as it shall be; items that stay as they were are the same ones."""
        messages = [item for item in old if item.get("type") == "message"]
        old_text = "".join(words_of(item) for item in messages)
        text = self._change.text(old_text) if self._change.text else old_text
        was = tuple(call_of(item) for item in old if item.get("type") == CALL)
        left = list(self._change.calls(was) if self._change.calls else was)
        if text and not messages:
            yield _message(json_bytes.string(response.get("id")), text, beta=self._beta)
        for item in old:
            if item.get("type") == "message" and text != old_text:
                yield _worded(item, text if item is messages[0] else "")
            elif item.get("type") == CALL:
                call = next((call for call in left if call.id == item.get("call_id")), None)
                if call is not None:
                    left.remove(call)
                    yield _called(item, call)
            else:
                yield item
        for call in left:
            made = "item_" + event_id(response.get("id"), call.id).removeprefix("event_")
            blank = {"id": made, "object": "realtime.item", "type": CALL, "status": "completed"}
            yield _called({**blank, "call_id": call.id}, call)

    def _rewritten(
        self, response_id: str, old: list[json_bytes.Object], new: list[json_bytes.Object]
    ) -> Iterator[bytes]:
        """Items that stay keep their events, with the index that they now have; others are rewritten."""
        held, self._held = self._held, []
        indexes = {json_bytes.string(item.get("id")): at for at, item in enumerate(old)}
        previous = next((_previous(document) for _, document in held if "previous_item_id" in document), None)
        for index, item in enumerate(new):
            ident = json_bytes.string(item.get("id"))
            if any(item is kept for kept in old):
                for event, document in held:
                    if _about(document) == ident:
                        moved = "output_index" in document and indexes[ident] != index
                        yield (
                            json_bytes.put(event, ("output_index",), json_bytes.dump(index))
                            if moved
                            else event
                        )
            else:
                made = item_events(response_id, index, item, beta=self._beta, previous=previous)
                yield from (json_bytes.dump(event) for event in made)
            previous = ident
        yield from (event for event, document in held if _about(document) not in indexes)


def _about(document: json_bytes.Object) -> str:
    """The item that an event tells of."""
    return json_bytes.string(json_bytes.member(document, "item", "id")) or json_bytes.string(
        document.get("item_id")
    )


def _previous(document: json_bytes.Object) -> str | None:
    return json_bytes.string(document.get("previous_item_id")) or None


def _worded(item: json_bytes.Object, text: str) -> json_bytes.Object:
    """A message that says something else; its first part that has words says it all."""
    content: list[Any] = []
    for _, block in json_bytes.objects(item.get("content")):
        spoken = block.get("type") in ("output_audio", "audio")
        if not content:
            content.append({**block, "transcript" if spoken else "text": text})
    return {**item, "content": content}


def _message(response_id: str, text: str, *, beta: bool) -> json_bytes.Object:
    made = "item_" + event_id(response_id, "message").removeprefix("event_")
    part = {"type": "text" if beta else "output_text", "text": text}
    known = {"id": made, "object": "realtime.item", "type": "message", "status": "completed"}
    return {**known, "role": "assistant", "content": [part]}


def _called(item: json_bytes.Object, call: ToolCall) -> json_bytes.Object:
    if item.get("name") == call.name and item.get("arguments") == call.arguments:
        return item
    return {**item, "name": call.name, "arguments": call.arguments}


def _finished(event: bytes, response: json_bytes.Object, change: Change) -> bytes:
    """`response.done` with another reason to have stopped, and without usage, where that is wanted."""
    if change.drop_usage:
        event = json_bytes.drop(event, ("response", "usage"))
    if change.finish is None or not _stopped_as(response, change.finish_was):
        return event
    status, why = _STATUS[change.finish]
    details = {"type": status, **({"reason": why} if why else {})}
    if response.get("status") == status and json_bytes.member(response, "status_details", "reason") == why:
        return event
    event = json_bytes.put(event, ("response", "status"), json_bytes.dump(status))
    return json_bytes.put(event, ("response", "status_details"), json_bytes.dump(details))


def _stopped_as(response: json_bytes.Object, was: Finish | None) -> bool:
    if was is None:
        return True
    calls = any(item.get("type") == CALL for _, item in json_bytes.objects(response.get("output")))
    if was in ("stop", "tool_calls") and (was == "tool_calls") != calls:
        return False
    status, why = _STATUS[was]
    return response.get("status") == status and json_bytes.member(response, "status_details", "reason") == why
