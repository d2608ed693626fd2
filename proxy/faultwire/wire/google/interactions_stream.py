"""Gemini Interactions' answers: steps, whole or as events; how they are read and cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolCall, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.json_stream import Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import KEPT_EMPTY, Part, cut_parts, put_count
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Path

CUT = "incomplete"
COMPLETED = "interaction.completed"
GOES_ON = ("queued", "in_progress")
"""States in which more steps follow."""
_GONE_ON = ("completed", "requires_action")
"""States of an answer that was not cut."""


def call_of(step: json_bytes.Object) -> ToolCall:
    """A step of type `function_call`."""
    arguments = json_bytes.dump(step.get("arguments") or {}).decode()
    return ToolCall(json_bytes.string(step.get("id")), json_bytes.string(step.get("name")), arguments)


def text_of(step: json_bytes.Object) -> str:
    """The text of a step of type `model_output`."""
    return tool_content.text_of(step.get("content"), glue="") if step.get("type") == "model_output" else ""


def usage_of(interaction: json_bytes.Object) -> Usage | None:
    """What `usage` counts; thoughts are output."""
    usage = interaction.get("usage")
    if not isinstance(usage, dict):
        return None
    thought, used = (
        json_bytes.count(usage.get(key)) for key in ("total_thought_tokens", "total_tool_use_tokens")
    )
    return Usage(
        json_bytes.count(usage.get("total_input_tokens")) + used,
        json_bytes.count(usage.get("total_output_tokens")) + thought,
        cache_read_tokens=json_bytes.count(usage.get("total_cached_tokens")),
        reasoning_tokens=thought,
        tool_use_tokens=used,
    )


def error_of(document: json_bytes.Object) -> str | None:
    """What went wrong: an error in place of an interaction, or one that an interaction tells."""
    details = document.get("error")
    found = (
        [details]
        if isinstance(details, dict)
        else [error for _, error in json_bytes.objects(document.get("errors"))]
    )
    if found:
        return (
            json_bytes.string(found[0].get("message")) or json_bytes.string(found[0].get("code")) or "error"
        )
    return "failed" if document.get("status") == "failed" else None


def answer_of(document: json_bytes.Object) -> ResponseView:
    """A whole interaction."""
    steps = [step for _, step in json_bytes.objects(document.get("steps"))]
    return ResponseView(
        model=json_bytes.string(document.get("model")) or json_bytes.string(document.get("agent")),
        text="".join(text_of(step) for step in steps),
        finish_reason=_ended(document),
        tool_calls=tuple(call_of(step) for step in steps if step.get("type") == "function_call"),
        usage=usage_of(document),
        error=error_of(document),
        complete=document.get("status") not in GOES_ON,
        request_id=json_bytes.string(document.get("id")) or None,
    )


def _ended(document: json_bytes.Object) -> str | None:
    """The state that it ended in, None while it goes on."""
    status = json_bytes.string(document.get("status"))
    return status if status and status not in GOES_ON else None


def closes(fields: sse.Fields) -> bool:
    """Is this the last event that says anything, or the mark behind it?"""
    if fields.data.startswith(b"[DONE]") or fields.name == COMPLETED:
        return True
    if COMPLETED.encode() not in fields.data:
        return False
    try:
        return json_bytes.load_object(fields.data).get("event_type") == COMPLETED
    except WireError:
        return False


class Reader(Gatherer):
    """Gathers the steps; complete with `interaction.completed`."""

    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""
        fields = sse.fields(event)
        if fields is not None and not fields.data.startswith(b"[DONE]"):
            super().feed(event)

    def view(self) -> ResponseView:
        """The answer so far; a call without arguments has none."""
        calls = {key: (i, name, parts or ["{}"]) for key, (i, name, parts) in self.calls.items()}
        pieces, self.calls = self.calls, dict(calls)
        try:
            return super().view()
        finally:
            self.calls = pieces

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take what one event says."""
        index = document.get("index")
        match json_bytes.string(document.get("event_type")) or name:
            case "step.start":
                self._begin(index, document.get("step"))
            case "step.delta":
                self._delta(index, document.get("delta"))
            case "interaction.status_update":
                self.finish = _ended(document) or self.finish
            case "interaction.created" | "interaction.completed" as kind:
                self._take_interaction(document.get("interaction"), last=kind == COMPLETED)
            case _:
                self.error = self.error or error_of(document)

    def _begin(self, index: Any, step: Any) -> None:
        if not isinstance(step, dict):
            return
        self.text.append(text_of(step))
        if step.get("type") == "function_call":
            call = call_of(step)
            self.calls[index] = (call.id, call.name, [call.arguments] if step.get("arguments") else [])

    def _delta(self, index: Any, delta: Any) -> None:
        kind = json_bytes.member(delta, "type")
        if kind == "text":
            self.text.append(json_bytes.string(json_bytes.member(delta, "text")))
        elif kind == "arguments_delta" and index in self.calls:
            self.calls[index][2].append(json_bytes.string(json_bytes.member(delta, "arguments")))

    def _take_interaction(self, interaction: Any, *, last: bool) -> None:
        if not isinstance(interaction, dict):
            return
        text = answer_of(interaction)
        self.model = text.model or self.model
        self.request_id = text.request_id or self.request_id
        self.finish = text.finish_reason or self.finish
        self.usage = text.usage or self.usage
        self.error = self.error or text.error
        self.complete = self.complete or last
        if last and not self.text and not self.calls:
            self.text.append(text.text)
            for at, call in enumerate(text.tool_calls):
                self.calls[at] = (call.id, call.name, [call.arguments])


# ---------------------------------------------------------------- cutting short


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole interaction, cut; a call that does not fit goes whole: its arguments are no text."""
    document = json_bytes.load_object(body)
    budget = Budget(max_tokens)
    parts = []
    for at, step in json_bytes.objects(document.get("steps")):
        place: Path = ("steps", at)
        if step.get("type") == "function_call":
            call = call_of(step)
            parts.append(Part(place, call.name + call.arguments))
        elif step.get("type") == "model_output":
            for n, block in json_bytes.objects(step.get("content")):
                if block.get("type") == "text":
                    words = (*place, "content", n, "text")
                    parts.append(
                        Part((*place, "content", n), json_bytes.string(block.get("text")), words, KEPT_EMPTY)
                    )
    body = cut_parts(body, parts, budget)
    if not budget.spent:
        return body
    if document.get("status") in _GONE_ON:
        body = json_bytes.put(body, ("status",), json_bytes.dump(CUT))
    return _counted(body, (), document, max_tokens)


def _counted(body: bytes, place: Path, interaction: json_bytes.Object, max_tokens: int) -> bytes:
    usage = interaction.get("usage")
    counted, total = json_bytes.member(usage, "total_output_tokens"), json_bytes.member(usage, "total_tokens")
    path = (*place, "usage", "total_output_tokens")
    return put_count(body, path, counted, max_tokens, ((*place, "usage", "total_tokens"), total))


class Truncator(JsonEditor):
    """Cuts text and arguments; steps that begin after the end of the budget go."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._budget = Budget(max_tokens)
        self._gone: set[Any] = set()

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        index = document.get("index")
        match json_bytes.string(document.get("event_type")) or name:
            case "step.start":
                return self._begin(data, index, document.get("step"))
            case "step.delta":
                return self._delta(data, index, document.get("delta"))
            case "step.stop":
                return b"" if index in self._gone else data
            case "interaction.status_update" if self._budget.spent and document.get("status") in _GONE_ON:
                return json_bytes.put(data, ("status",), json_bytes.dump(CUT))
            case "interaction.completed" if self._budget.spent:
                return self._closed(data, document.get("interaction"))
        return data

    def _begin(self, data: bytes, index: Any, step: Any) -> bytes:
        if not self._budget.enter(index):
            self._gone.add(index)
            return b""
        self._budget.take(json_bytes.string(json_bytes.member(step, "name")))
        return data

    def _delta(self, data: bytes, index: Any, delta: Any) -> bytes:
        if index in self._gone:
            return b""
        key = {"text": "text", "arguments_delta": "arguments"}.get(
            json_bytes.string(json_bytes.member(delta, "type"))
        )
        if key is None:
            return data
        words = json_bytes.string(json_bytes.member(delta, key))
        kept = self._budget.take(words) if self._budget.enter(index) else ""
        if kept == words:
            return data
        return json_bytes.put(data, ("delta", key), json_bytes.dump(kept)) if kept else b""

    def _closed(self, data: bytes, interaction: Any) -> bytes:
        if not isinstance(interaction, dict):
            return data
        if interaction.get("steps"):
            return json_bytes.put(
                data, ("interaction",), cut_body(json_bytes.dump(interaction), self._max_tokens)
            )
        if interaction.get("status") in _GONE_ON:
            data = json_bytes.put(data, ("interaction", "status"), json_bytes.dump(CUT))
        return _counted(data, ("interaction",), interaction, self._max_tokens)
