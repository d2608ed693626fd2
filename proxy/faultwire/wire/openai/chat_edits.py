"""Changes of OpenAI Chat's answers and requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits, tool_content
from faultwire.wire.editing.api import Change, Editor, Failure, Finish, Quota, TextPlace
from faultwire.wire.framing import sse
from faultwire.wire.openai import (
    chat_stream as openai_chat_stream,
    errors as openai_errors,
    quotas as openai_quotas,
)
from faultwire.wire.protocol import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Headers, Path, Response

_FINISH: dict[Finish, str] = {"refusal": "stop"}
"""Words that differ; refusals have none of their own here."""


class OpenAIEditor(Editor):
    """All that `Editor` names."""

    abilities = frozenset(("answer", "texts", "failure", "error_event"))
    of_tokens = staticmethod(openai_errors.of_tokens)

    def change(self, body: bytes, change: Change) -> bytes:
        """Every choice, changed."""
        document = json_bytes.load_object(body)
        for at, choice in json_bytes.objects(document.get("choices")):
            place: Path = ("choices", at)
            message = choice.get("message")
            if isinstance(message, dict):
                body = _message(body, (*place, "message"), message, change)
            if change.finish is not None and choice.get("finish_reason"):
                body = _finish(body, place, choice, change)
        return json_bytes.drop(body, ("usage",)) if change.drop_usage else body

    def stream_editor(self, change: Change) -> StreamEditor:
        """The first choice of a stream; what is to change is held until it stops."""
        return ChatStreamEditor(change)

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """Every string that a message holds, and every part of type `text`."""
        document = json_bytes.load_object(body)
        messages = json_bytes.objects(document.get("messages"))
        last = max((at for at, m in messages if m.get("role") == "assistant"), default=-1)
        found: list[TextPlace] = []
        for at, message in messages:
            role = _role(json_bytes.string(message.get("role")))
            content, place = message.get("content"), ("messages", at, "content")
            if isinstance(content, str):
                found.append(TextPlace(role, content, place, at, at > last))
            for part, block in json_bytes.objects(content):
                if block.get("type") == "text" and isinstance(block.get("text"), str):
                    path = (*place, part, "text")
                    found.append(TextPlace(role, block["text"], path, at, at > last))
        return tuple(found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """With the code by which OpenAI's documentation tells it."""
        status, told = openai_errors.FAILURES[what]
        return openai_errors.error_response(status, told._replace(message=message or told.message))

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """`data: {"error": …}`, after which nothing follows."""
        usual = (
            openai_errors.FAILURES["overloaded"][1].message
            if what == "overloaded"
            else openai_errors.SERVER_ERROR
        )
        shown = {"message": message or usual, "type": "server_error", "param": None, "code": None}
        return sse.write(json_bytes.dump({"error": shown}))

    def quota(self, quota: Quota) -> Headers:
        """`x-ratelimit-…`, resets as durations."""
        return openai_quotas.openai(quota)

    def quota_by(self, provider: str | None, quota: Quota) -> Headers:
        """Some that speak this protocol have fields of their own."""
        elsewhere = openai_quotas.BY_PROVIDER.get(provider or "")
        return self.quota(quota) if elsewhere is None else elsewhere(quota)


def _role(role: str) -> Literal["system", "user", "assistant", "tool"]:
    known: dict[str, Literal["system", "assistant", "tool"]] = {
        "system": "system",
        "developer": "system",
        "assistant": "assistant",
        "tool": "tool",
    }
    return known.get(role, "user")


def _finish(text: bytes, place: Path, choice: json_bytes.Object, change: Change) -> bytes:
    said, was = choice.get("finish_reason"), change.finish_was
    if change.finish is None or (was is not None and said != _FINISH.get(was, was)):
        return text
    word = _FINISH.get(change.finish, change.finish)
    return text if said == word else json_bytes.put(text, (*place, "finish_reason"), json_bytes.dump(word))


def _message(body: bytes, place: Path, message: json_bytes.Object, change: Change) -> bytes:
    if change.text is not None:
        old = tool_content.text_of(message.get("content"), glue="")
        new = change.text(old)
        if change.refuse:
            body = json_bytes.put(body, (*place, "refusal"), json_bytes.dump(new))
            body = json_bytes.put(body, (*place, "content"), b"null")
        elif new != old:
            body = json_bytes.put(body, (*place, "content"), json_bytes.dump(new))
    if change.calls is not None:
        body = _calls(body, (*place, "tool_calls"), message, change)
    return body


def _calls(body: bytes, place: Path, message: json_bytes.Object, change: Change) -> bytes:
    calls = {at: _call(call) for at, call in json_bytes.objects(message.get("tool_calls"))}
    old = tuple(calls.values())
    new = change.calls(old) if change.calls else old
    if not calls or new == old:
        return body
    if not new:
        return json_bytes.drop(body, place)
    return json_bytes.put(
        body, place, shared_edits.rebuilt(shared_edits.elements(body, place), calls, new, _with_call)
    )


def _call(call: json_bytes.Object) -> ToolCall:
    name, arguments = openai_chat_stream.said(call)
    return ToolCall(json_bytes.string(call.get("id")), name, arguments)


def _with_call(element: bytes, call: ToolCall) -> bytes:
    kind, key = ("function", "arguments") if b'"function"' in element else ("custom", "input")
    element = json_bytes.put(element, ("id",), json_bytes.dump(call.id))
    element = json_bytes.put(element, (kind, "name"), json_bytes.dump(call.name))
    return json_bytes.put(element, (kind, key), json_bytes.dump(call.arguments))


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
            return (event,)  # what the client cannot read either is not ours to mend
        choice = next(
            (c for _, c in json_bytes.objects(document.get("choices")) if c.get("index", 0) == 0), None
        )
        if choice is None:
            return self._usage(event, fields.data, document)
        return self._choice(event, fields.data, choice)

    def finish(self) -> Iterable[bytes]:
        """A stream that broke off is left as it came."""
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
        if choice.get("finish_reason"):  # a last piece may come with it: that is told before it
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
        """The event that stops the choice, without what was told before it."""
        edited = data
        for key in ("content", "tool_calls"):
            held = self._change.text if key == "content" else self._change.calls
            if held is not None and json_bytes.member(choice.get("delta"), key):
                edited = json_bytes.drop(edited, ("choices", 0, "delta", key))
        if self._change.finish is not None:
            edited = _finish(edited, ("choices", 0), choice, self._change)
        if self._change.drop_usage:
            edited = json_bytes.drop(edited, ("usage",))
        self.changed = self.changed or edited != data
        yield event if edited == data else sse.with_data(event, edited)

    def _released(self, last: bytes | None) -> Iterable[bytes]:
        if not self._done:
            self._done = True
            yield from self._told_text(last)
            yield from self._told_calls()

    def _told_text(self, last: bytes | None) -> Iterable[bytes]:
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

    def _told_calls(self) -> Iterable[bytes]:
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
            told = {"index": index, "function": {"arguments": call.arguments}}
            yield _delta(held[0], {"tool_calls": [told]})


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
