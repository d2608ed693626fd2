"""Changes of Gemini Interactions' answers and requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.requests import RequestEditor, Role, Texts
from faultwire.wire.framing import sse
from faultwire.wire.google import interactions_stream
from faultwire.wire.google.gemini_edits import GeminiEditor
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Finish
    from faultwire.wire.editing.requests import Broken

STATES: dict[Finish, str] = {
    "stop": "completed",
    "length": "incomplete",
    "tool_calls": "requires_action",
    "content_filter": "failed",
    "refusal": "completed",
}
_ROLES: dict[str, Role] = {"user_input": "user", "model_output": "assistant", "function_result": "tool"}
_MADE = ("model_output", "function_call", "thought")
"""Steps of the model."""


class InteractionsEditor(RequestEditor):
    """All that `Edits` names but a quota: Google tells none in its headers."""

    abilities: frozenset[Ability] = frozenset(("answer", "texts", "failure", "error_event"))

    def __init__(self) -> None:
        self._gemini = GeminiEditor()

    def change(self, body: bytes, change: Change) -> bytes:
        """The steps of an answer, changed."""
        document = json_bytes.load_object(body)
        old = interactions_stream.answer_of(document)
        text = change.text(old.text) if change.text else old.text
        calls = change.calls(old.tool_calls) if change.calls and old.tool_calls else old.tool_calls
        if (text, calls) != (old.text, old.tool_calls):
            elements = shared_edits.elements(body, ("steps",))
            steps = _steps(elements, None if text == old.text else text, calls)
            body = json_bytes.put(body, ("steps",), b"[" + b",".join(steps) + b"]")
        return _closing(body, document, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """Steps are held until the interaction is completed."""
        return InteractionsStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System instruction, messages, and what functions returned."""
        asked = document.get("input")
        steps = json_bytes.objects(asked)
        texts = Texts(max((at for at, step in steps if step.get("type") in _MADE), default=-1))
        texts.add("system", document.get("system_instruction"), ("system_instruction",), -1)
        texts.add("user", asked, ("input",), 0)
        if isinstance(asked, dict):
            texts.add("user", asked.get("text"), ("input", "text"), 0)
        for at, step in steps:
            kind = json_bytes.string(step.get("type"))
            texts.add("user", step.get("text"), ("input", at, "text"), at)
            key = "result" if kind == "function_result" else "content"
            texts.blocks(_ROLES.get(kind, "user"), step.get(key), ("input", at, key), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Google's errors are the same for all its endpoints."""
        return self._gemini.failure(what, message=message)

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """`event_type: error`, after which nothing follows."""
        code, usual = "unavailable", "The model is overloaded. Please try again later."
        if what == "server_error":
            code, usual = "internal", "An internal error has occurred."
        shown = {"event_type": "error", "error": {"code": code, "message": message or usual}}
        return sse.write(json_bytes.dump(shown), "error")


def state(change: Change, status: object) -> str | None:
    """The value that replaces `status`, None where nothing is to change."""
    was = change.finish_was
    if change.finish is None or not status or (was is not None and status != STATES[was]):
        return None
    word = STATES[change.finish]
    return None if status == word else word


def _closing(body: bytes, interaction: json_bytes.Object, change: Change) -> bytes:
    word = state(change, interaction.get("status"))
    if word is not None:
        body = json_bytes.put(body, ("status",), json_bytes.dump(word))
    return json_bytes.drop(body, ("usage",)) if change.drop_usage else body


def _steps(elements: list[bytes], text: str | None, calls: tuple[ToolCall, ...]) -> list[bytes]:
    """The steps with another text (all of it in the first step that has any) and other calls."""
    steps = [json_bytes.load(element) for element in elements]
    worded = [at for at, step in enumerate(steps) if json_bytes.member(step, "type") == "model_output"]
    if text is not None:
        block = json_bytes.dump({"type": "model_output", "content": [{"type": "text", "text": text}]})
        if worded and text:
            content = json_bytes.dump([{"type": "text", "text": text}])
            elements[worded[0]] = json_bytes.put(elements[worded[0]], ("content",), content)
        gone = set(worded[1:] if text else worded)
        elements = [element for at, element in enumerate(elements) if at not in gone]
        if text and not worded:
            elements.insert(0, block)
    known = {}
    for at, element in enumerate(elements):
        step = json_bytes.load(element)
        if json_bytes.member(step, "type") == "function_call":
            known[at] = interactions_stream.call_of(step)
    if not known or tuple(known.values()) == calls:
        return elements
    return shared_edits.elements(shared_edits.rebuilt(elements, known, calls, _with_call), ())


def _with_call(element: bytes, call: ToolCall) -> bytes:
    """`arguments` is an object here and no text: what is no JSON becomes a string."""
    try:
        json_bytes.load(call.arguments)
        given = call.arguments.encode("utf-8", "replace")
    except WireError:
        given = json_bytes.dump(call.arguments)
    element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
    element = json_bytes.put(element, ("name",), json_bytes.dump(call.name))
    return json_bytes.put(element, ("arguments",), given)


class InteractionsStreamEditor(StreamEditor):
    """Holds the steps, and tells them anew when the interaction is completed."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._held: list[bytes] = []

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver now."""
        fields = sse.fields(event)
        try:
            document = json_bytes.load_object(fields.data if fields else b"")
        except WireError:
            return (*self.finish(), event) if fields and interactions_stream.closes(fields) else (event,)
        data = fields.data if fields else b""
        match document.get("event_type"):
            case "step.start" | "step.delta" | "step.stop" if self._change.text or self._change.calls:
                self._held.append(event)
                return ()
            case "interaction.status_update" if document.get("status") not in interactions_stream.GOES_ON:
                word = state(self._change, document.get("status"))
                edited = data if word is None else json_bytes.put(data, ("status",), json_bytes.dump(word))
                return (*self._rewritten_events(), self._edited(event, data, edited))
            case "interaction.completed":
                return (*self._rewritten_events(), self._edited(event, data, self._closed(data, document)))
        return (event,)

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        held, self._held = self._held, []
        return held

    def _edited(self, event: bytes, data: bytes, edited: bytes) -> bytes:
        self.changed = self.changed or edited != data
        return event if edited == data else sse.with_data(event, edited)

    def _closed(self, data: bytes, document: json_bytes.Object) -> bytes:
        found = json_bytes.span(data, ("interaction",))
        interaction = document.get("interaction")
        if found is None or not isinstance(interaction, dict):
            return data
        whole = data[slice(*found)]
        changed = (
            InteractionsEditor().change(whole, self._change)
            if interaction.get("steps")
            else _closing(whole, interaction, self._change)
        )
        return data if changed == whole else json_bytes.put(data, ("interaction",), changed)

    def _rewritten_events(self) -> Iterable[bytes]:
        held, self._held = self._held, []
        reader = interactions_stream.Reader()
        for event in held:
            reader.feed(event)
        old, change = reader.view(), self._change
        text = change.text(old.text) if change.text else old.text
        calls = change.calls(old.tool_calls) if change.calls and old.tool_calls else old.tool_calls
        if (text, calls) == (old.text, old.tool_calls):
            return held
        self.changed = True
        pieces = sum(b'"text"' in event for event in held) or 1
        return tuple(_events(_others(held), text, calls, pieces))


def _others(held: list[bytes]) -> Iterator[list[bytes]]:
    """The events of each step that is neither text nor a call, such as a thought."""
    steps: dict[Any, list[bytes]] = {}
    ours: set[Any] = set()
    for event in held:
        fields = sse.fields(event)
        document = json_bytes.load_object(fields.data if fields else b"{}")
        index = document.get("index")
        steps.setdefault(index, []).append(event)
        if json_bytes.member(document, "step", "type") in ("model_output", "function_call"):
            ours.add(index)
    return (events for index, events in steps.items() if index not in ours)


def _events(
    others: Iterator[list[bytes]], text: str, calls: tuple[ToolCall, ...], count: int
) -> Iterator[bytes]:
    index = 0
    for events in others:
        for event in events:
            fields = sse.fields(event)
            yield sse.with_data(
                event, json_bytes.put(fields.data if fields else b"{}", ("index",), json_bytes.dump(index))
            )
        index += 1
    if text:
        deltas = [{"type": "text", "text": piece} for piece in shared_edits.pieces(text, count)]
        yield from _step(index, {"type": "model_output", "content": []}, deltas)
        index += 1
    for call in (replace(call, id=call.id or f"call_{at}") for at, call in enumerate(calls)):
        begun = {"type": "function_call", "id": call.id, "name": call.name, "arguments": {}}
        yield from _step(index, begun, [{"type": "arguments_delta", "arguments": call.arguments}])
        index += 1


def _step(index: int, step: json_bytes.Object, deltas: list[json_bytes.Object]) -> Iterator[bytes]:
    yield _event("step.start", index=index, step=step)
    for delta in deltas:
        yield _event("step.delta", index=index, delta=delta)
    yield _event("step.stop", index=index)


def _event(kind: str, **more: object) -> bytes:
    return sse.write(json_bytes.dump({"event_type": kind, **more}), kind)
