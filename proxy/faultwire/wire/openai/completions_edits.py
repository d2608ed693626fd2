"""Changes of legacy completions: the text of a choice, why it stopped, and the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.json_stream import JsonEditor
from faultwire.wire.editing.requests import RequestEditor, Texts
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import put_count
from faultwire.wire.framing import sse
from faultwire.wire.openai import chat_stream as openai_chat_stream
from faultwire.wire.openai.chat_edits import OpenAIEditor
from faultwire.wire.types import StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Headers, Path, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Finish, Quota
    from faultwire.wire.editing.requests import Broken

_FINISH: dict[Finish, str] = {"refusal": "stop", "tool_calls": "stop"}
"""Words that this protocol has no own one for."""


class CompletionsEditor(RequestEditor):
    """All that `Edits` names; there are no calls, and refusals stand in the text."""

    abilities: frozenset[Ability] = frozenset(("answer", "texts", "failure", "error_event"))

    def __init__(self) -> None:
        self._chat = OpenAIEditor()

    def change(self, body: bytes, change: Change) -> bytes:
        """Every choice, changed."""
        for at, choice in json_bytes.objects(json_bytes.load_object(body).get("choices")):
            text = choice.get("text")
            if change.text is not None and isinstance(text, str):
                new = change.text(text)
                body = (
                    body
                    if new == text
                    else json_bytes.put(body, ("choices", at, "text"), json_bytes.dump(new))
                )
            body = _stopped(body, ("choices", at), choice, change)
        return json_bytes.drop(body, ("usage",)) if change.drop_usage else body

    def stream_editor(self, change: Change) -> StreamEditor:
        """The first choice of a stream; its text is held until it stops."""
        return CompletionsStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """The prompts."""
        texts, prompt = Texts(-1), document.get("prompt")
        texts.add("user", prompt, ("prompt",), 0)
        for at, one in enumerate(prompt if isinstance(prompt, list) else ()):
            texts.add("user", one, ("prompt", at), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """OpenAI's errors are the same for all its endpoints."""
        return self._chat.failure(what, message=message)

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """As for chat completions."""
        return self._chat.error_event(what, message)

    def quota(self, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota(quota)


def _stopped(body: bytes, place: Path, choice: json_bytes.Object, change: Change) -> bytes:
    reason, was = choice.get("finish_reason"), change.finish_was
    if change.finish is None or not reason or (was is not None and reason != _FINISH.get(was, was)):
        return body
    word = _FINISH.get(change.finish, change.finish)
    return body if word == reason else json_bytes.put(body, (*place, "finish_reason"), json_bytes.dump(word))


def cut(body: bytes, budgets: dict[int, Budget], max_tokens: int) -> bytes:
    """An answer, or one piece of it, with every choice cut within its budget."""
    document = json_bytes.load_object(body)
    for at, choice in json_bytes.objects(document.get("choices")):
        budget = budgets.setdefault(json_bytes.count(choice.get("index")), Budget(max_tokens))
        text = choice.get("text")
        if isinstance(text, str):
            kept = budget.take(text) if budget.enter("text") else ""
            body = (
                body if kept == text else json_bytes.put(body, ("choices", at, "text"), json_bytes.dump(kept))
            )
        if budget.spent and choice.get("finish_reason"):
            body = json_bytes.put(body, ("choices", at, "finish_reason"), b'"length"')
    if not any(budget.spent for budget in budgets.values()):
        return body
    usage, limit = document.get("usage"), max_tokens * len(budgets)
    total = (("usage", "total_tokens"), json_bytes.member(usage, "total_tokens"))
    return put_count(
        body, ("usage", "completion_tokens"), json_bytes.member(usage, "completion_tokens"), limit, total
    )


class Truncator(JsonEditor):
    """Lets each choice say so much; events that are left empty go."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._budgets: dict[int, Budget] = {}

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        edited = cut(data, self._budgets, self._max_tokens)
        if edited == data or document.get("usage"):
            return edited
        choices = json_bytes.objects(json_bytes.load_object(edited).get("choices"))
        return edited if any(c.get("text") or c.get("finish_reason") for _, c in choices) else b""


class CompletionsStreamEditor(StreamEditor):
    """Holds the text of the first choice until it stops, and tells it anew."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._held: list[bytes] = []
        self._rewritten = False

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver now."""
        fields = sse.fields(event)
        if fields is None or not fields.data:
            return (event,)
        if openai_chat_stream.is_done(fields.data):
            return (*self._rewritten_events(), event)
        try:
            document = json_bytes.load_object(fields.data)
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        choice = next(
            (c for _, c in json_bytes.objects(document.get("choices")) if c.get("index", 0) == 0), None
        )
        if choice is None:
            return self._last(event, fields.data, document)
        worded = self._change.text is not None and bool(choice.get("text"))
        if choice.get("finish_reason"):
            return self._stop(event, fields.data, choice, worded=worded)
        if worded:
            self._held.append(event)
            return ()
        return (event,)

    def _stop(self, event: bytes, data: bytes, choice: json_bytes.Object, *, worded: bool) -> Iterable[bytes]:
        """What was held, rewritten, and the event that stops the choice."""
        count = len(self._held)
        events = tuple(self._rewritten_events(event if worded else None))
        if worded and self._rewritten:
            data = json_bytes.put(data, ("choices", 0, "text"), b'""')
        elif worded:
            events = events[:count]
        edited = _stopped(data, ("choices", 0), choice, self._change)
        if self._change.drop_usage:
            edited = json_bytes.drop(edited, ("usage",))
        self.changed = self.changed or edited != data
        fields = sse.fields(event)
        same = fields is not None and edited == fields.data
        return (*events, event if same else sse.with_data(event, edited))

    def finish(self) -> Iterable[bytes]:
        """A stream that ended early is left unchanged."""
        held, self._held = self._held, []
        return held

    def _last(self, event: bytes, data: bytes, document: json_bytes.Object) -> Iterable[bytes]:
        if not (self._change.drop_usage and document.get("usage")):
            return (event,)
        self.changed = True
        return (
            () if not document.get("choices") else (sse.with_data(event, json_bytes.drop(data, ("usage",))),)
        )

    def _rewritten_events(self, last: bytes | None = None) -> Iterable[bytes]:
        held, self._held = [*self._held, *(() if last is None else (last,))], []
        if self._change.text is None or not held:
            return held
        old = "".join(_text_of(event) for event in held)
        new = self._change.text(old)
        self._rewritten = new != old
        if not self._rewritten:
            return held
        self.changed = True
        return [_piece(held[0], piece) for piece in shared_edits.pieces(new, len(held)) if piece]


def _text_of(event: bytes) -> str:
    fields = sse.fields(event)
    choices = json_bytes.load_object(fields.data if fields else b"{}").get("choices")
    return "".join(
        json_bytes.string(c.get("text")) for _, c in json_bytes.objects(choices) if c.get("index", 0) == 0
    )


def _piece(event: bytes, text: str) -> bytes:
    """The event with another text, and not yet at its stop."""
    fields = sse.fields(event)
    data = json_bytes.put(fields.data if fields else b"{}", ("choices", 0, "text"), json_bytes.dump(text))
    data = json_bytes.put(data, ("choices", 0, "finish_reason"), b"null")
    return sse.with_data(event, json_bytes.drop(data, ("usage",)))
