"""OpenAI Chat's streams, and how its answers are cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolCall, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.framing import sse
from faultwire.wire.openai.usage import chat_usage
from faultwire.wire.types import StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Path


def is_done(data: bytes) -> bool:
    """The closing marker, matched by prefix as the SDKs do."""
    return data.startswith(b"[DONE]")


def call_parts(call: json_bytes.Object) -> tuple[str, str]:
    """The name and argument text of a call (or a piece of one), function or custom."""
    kind, key = ("function", "arguments") if "function" in call else ("custom", "input")
    inner = call.get(kind)
    if not isinstance(inner, dict):
        return "", ""
    return json_bytes.string(inner.get("name")), json_bytes.string(inner.get(key))


def groq_id(document: json_bytes.Object) -> str | None:
    """What Groq calls the request, which it also says beside the answer."""
    groq = document.get("x_groq")
    return json_bytes.string(json_bytes.member(groq, "id")) or None if groq else None


def error_text(document: json_bytes.Object) -> str | None:
    """What `error` says: an object with a message, or a bare string; None where there is none."""
    error = document.get("error")
    if isinstance(error, dict):
        return json_bytes.string(error.get("message")) or json_bytes.string(error.get("code")) or "error"
    if isinstance(error, str):
        return error
    if document.get("object") == "error":
        return json_bytes.string(document.get("message")) or "error"
    return None


def _error_line(event: bytes) -> bytes:
    """What llama.cpp says in a field of its own, which no SSE client reads: `error: {…}`."""
    return event.strip().removeprefix(b"error:") if event.startswith(b"error:") else b""


class Reader(StreamReader):
    """Gathers the first choice; what is not JSON is reported in `error` and skipped.

    It is whole with `[DONE]`, or, as some imitators leave that out, with the reason why it stopped.
    """

    def __init__(self) -> None:
        self._model = ""
        self._text: list[str] = []
        self._calls: dict[int, tuple[str, str, list[str]]] = {}
        self._finish: str | None = None
        self._usage: Usage | None = None
        self._error: str | None = None
        self._complete = False
        self._request_id: str | None = None
        self._moved: dict[int, int] = {}
        """Where the calls went whose index was taken."""

    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""
        parsed = _core.sse_parse(event)
        data = parsed[1] if parsed is not None else _error_line(event)
        if not data:
            return
        if is_done(data):
            self._complete = True
            return
        try:
            document = json_bytes.load_object(data)
        except WireError as error:
            self._error = self._error or error.message
            return
        self._take(document)

    def view(self) -> ResponseView:
        """The answer so far."""
        return ResponseView(
            model=self._model,
            text="".join(self._text),
            finish_reason=self._finish,
            tool_calls=tuple(ToolCall(i, name, "".join(parts)) for i, name, parts in self._calls.values()),
            usage=self._usage,
            error=self._error,
            complete=self._complete or self._finish is not None,
            request_id=self._request_id,
        )

    def _take(self, document: json_bytes.Object) -> None:
        # A stream has an event for every few letters: what most of them do not hold is not asked for twice.
        self._model = self._model or json_bytes.string(document.get("model"))
        self._request_id = self._request_id or groq_id(document)
        self._error = self._error or error_text(document)
        usage = document.get("usage") or json_bytes.member(document.get("x_groq"), "usage")
        if isinstance(usage, dict):
            self._usage = chat_usage(usage)
        choices = document.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._finish = json_bytes.string(choice.get("finish_reason")) or self._finish
                delta = choice.get("delta")
                if isinstance(delta, dict):
                    self._delta(delta)

    def _delta(self, delta: json_bytes.Object) -> None:
        for content in (delta.get("content"), delta.get("refusal")):
            if content:
                self._text.append(tool_content.text_of(content, glue=""))
        if not delta.get("tool_calls"):
            return
        for _, piece in json_bytes.objects(delta.get("tool_calls")):
            name, arguments = call_parts(piece)
            call_id = json_bytes.string(piece.get("id"))
            known = self._calls.setdefault(self._index(piece, call_id), (call_id, name, []))
            known[2].append(arguments)

    def _index(self, piece: json_bytes.Object, call_id: str) -> int:
        """Some imitators leave `index` out, or give all calls the same: then another id, or without ids
        another name, begins the next call."""
        index = piece.get("index")
        last = max(self._calls, default=-1)
        if isinstance(index, int) and index not in self._calls:
            return index
        at = index if isinstance(index, int) else max(last, 0)
        known = self._calls.get(at)
        if known is None:
            return at
        unnamed = not known[0] and not isinstance(index, int)
        begins = call_id != known[0] if call_id else unnamed and bool(call_parts(piece)[0])
        if not begins:
            return self._moved.get(at, at)
        self._moved[at] = last + 1
        return last + 1


# ---------------------------------------------------------------- cutting short


class Truncator(StreamEditor):
    """Lets each choice say `max_tokens` tokens; what closes the stream stays and agrees."""

    def __init__(self, max_tokens: int) -> None:
        self._cutter = _Cutter(max_tokens, "delta")

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The event, cut, or nothing where the cut left nothing of it."""
        fields = sse.fields(event)
        if fields is None or not fields.data or is_done(fields.data):
            return (event,)
        try:
            data = self._cutter.cut(fields.data)
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        if data == fields.data:
            return (event,)
        self.changed = True
        return (sse.with_data(event, data),) if _has_content(json_bytes.load_object(data)) else ()


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer with every choice cut."""
    return _Cutter(max_tokens, "message").cut(body)


def _has_content(document: json_bytes.Object) -> bool:
    if document.get("usage"):
        return True
    return any(
        c.get("finish_reason") or c.get("delta") for _, c in json_bytes.objects(document.get("choices"))
    )


class _Cutter:
    """Cuts the messages (or deltas) of all choices within their budgets."""

    def __init__(self, max_tokens: int, holder: str) -> None:
        self._max_tokens = max_tokens
        self._holder = holder
        self._budgets: dict[int, Budget] = {}

    def cut(self, text: bytes) -> bytes:
        document = json_bytes.load_object(text)
        for at, choice in json_bytes.objects(document.get("choices")):
            budget = self._budgets.setdefault(json_bytes.count(choice.get("index")), Budget(self._max_tokens))
            text = self._choice(text, ("choices", at), choice, budget)
        return self._usage(text, document.get("usage"))

    def _choice(self, text: bytes, place: Path, choice: json_bytes.Object, budget: Budget) -> bytes:
        message = choice.get(self._holder)
        if isinstance(message, dict):
            for key in ("content", "refusal"):
                text = self._words(text, (*place, self._holder), key, message, budget)
            text = self._calls(text, (*place, self._holder, "tool_calls"), message, budget)
        if budget.spent and choice.get("finish_reason"):
            text = json_bytes.put(text, (*place, "finish_reason"), b'"length"')
        return text

    def _words(self, text: bytes, place: Path, key: str, message: json_bytes.Object, budget: Budget) -> bytes:
        words = message.get(key)
        if not isinstance(words, str) or not words:
            return text
        kept = budget.take(words) if budget.enter(key) else ""
        if kept == words:
            return text
        if kept or self._holder == "message" or "role" in message:
            return json_bytes.put(text, (*place, key), json_bytes.dump(kept))
        return json_bytes.drop(text, (*place, key))

    def _calls(self, text: bytes, place: Path, message: json_bytes.Object, budget: Budget) -> bytes:
        calls = json_bytes.objects(message.get("tool_calls"))
        gone = []
        for at, call in calls:
            name, arguments = call_parts(call)
            part = ("call", call.get("index", at))
            kept = budget.take(name + arguments) if budget.enter(part) else ""
            if kept == name + arguments and (kept or not budget.spent):
                continue
            if len(kept) <= len(name):
                gone.append(at)
                continue
            key = ("function", "arguments") if "function" in call else ("custom", "input")
            text = json_bytes.put(text, (*place, at, *key), json_bytes.dump(kept[len(name) :]))
        if calls and len(gone) == len(calls):
            return json_bytes.drop(text, place)
        for at in reversed(gone):
            text = json_bytes.drop(text, (*place, at))
        return text

    def _usage(self, text: bytes, usage: Any) -> bytes:
        """The output is counted as `max_tokens` a choice, and the total is less by as much."""
        spent = any(budget.spent for budget in self._budgets.values())
        counted, total = (
            json_bytes.member(usage, "completion_tokens"),
            json_bytes.member(usage, "total_tokens"),
        )
        excess = json_bytes.count(counted) - self._max_tokens * len(self._budgets)
        if not spent or excess <= 0:
            return text
        text = json_bytes.put(text, ("usage", "completion_tokens"), json_bytes.dump(counted - excess))
        if json_bytes.count(total) > excess:
            text = json_bytes.put(text, ("usage", "total_tokens"), json_bytes.dump(total - excess))
        return text
