"""Anthropic's streams, and how its answers are cut short."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolCall, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.framing import sse
from faultwire.wire.types import StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Iterable

_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CUT = "max_tokens"


def usage_of(usage: Any) -> Usage | None:
    """All input, from caches too, and the output; None where nothing was counted."""
    if not isinstance(usage, dict):
        return None
    read = sum(json_bytes.count(usage.get(key)) for key in _INPUT_COUNTS)
    long = json_bytes.count(json_bytes.member(usage, "cache_creation", "ephemeral_1h_input_tokens"))
    thought = json_bytes.member(usage, "output_tokens_details", "thinking_tokens")
    return Usage(
        read,
        json_bytes.count(usage.get("output_tokens")),
        cache_read_tokens=json_bytes.count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=json_bytes.count(usage.get("cache_creation_input_tokens")),
        long_cache_write_tokens=long,
        reasoning_tokens=json_bytes.count(thought),
    )


def error_text(document: json_bytes.Object) -> str | None:
    """What an error object says, None where it is none."""
    error = document.get("error")
    if document.get("type") != "error" and not isinstance(error, dict):
        return None
    text = json_bytes.member(error, "message") or json_bytes.member(error, "type") or error
    return json_bytes.string(text) or "error"


@dataclass(slots=True)
class _Block:
    kind: str
    id: str
    name: str
    input: Any
    text: list[str] = field(default_factory=list)

    def call(self) -> ToolCall:
        return ToolCall(self.id, self.name, "".join(self.text) or json_bytes.dump(self.input).decode())


class Reader(StreamReader):
    """Gathers the blocks; what is not JSON is reported in `error` and skipped."""

    def __init__(self) -> None:
        self._model = ""
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._finish: str | None = None
        self._error: str | None = None
        self._request_id: str | None = None
        self._complete = False

    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""
        fields = sse.fields(event)
        if fields is None or not fields.data:
            return
        try:
            document = json_bytes.load_object(fields.data)
        except WireError as error:
            self._error = self._error or error.message
            return
        match document.get("type"):
            case "message_start":
                self._model = json_bytes.string(json_bytes.member(document, "message", "model"))
                self._count(json_bytes.member(document, "message", "usage"))
            case "content_block_start":
                self._begin(json_bytes.count(document.get("index")), document.get("content_block"))
            case "content_block_delta":
                self._add(json_bytes.count(document.get("index")), document.get("delta"))
            case "message_delta":
                self._finish = (
                    json_bytes.string(json_bytes.member(document, "delta", "stop_reason")) or self._finish
                )
                self._count(document.get("usage"))
            case "message_stop":
                self._complete = True
            case "error":
                self._error = self._error or error_text(document)
                self._request_id = json_bytes.string(document.get("request_id")) or None

    def view(self) -> ResponseView:
        """The answer so far."""
        blocks = self._blocks.values()
        return ResponseView(
            model=self._model,
            text="".join("".join(block.text) for block in blocks if block.kind == "text"),
            finish_reason=self._finish,
            tool_calls=tuple(block.call() for block in blocks if block.kind == "tool_use"),
            usage=usage_of(self._usage or None),
            error=self._error,
            complete=self._complete,
            request_id=self._request_id,
        )

    def _begin(self, index: int, block: Any) -> None:
        if isinstance(block, dict):
            kind, call_id, name = (json_bytes.string(block.get(key)) for key in ("type", "id", "name"))
            self._blocks[index] = _Block(kind, call_id, name, block.get("input", {}))
            self._blocks[index].text.append(json_bytes.string(block.get("text")))

    def _add(self, index: int, delta: Any) -> None:
        block = self._blocks.get(index)
        if block is not None:
            key = {"text_delta": "text", "input_json_delta": "partial_json"}.get(
                json_bytes.member(delta, "type")
            )
            block.text.append(json_bytes.string(json_bytes.member(delta, key)) if key else "")

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: the last word on each stands."""
        if isinstance(usage, dict):
            self._usage.update((key, value) for key, value in usage.items() if value is not None)


# ---------------------------------------------------------------- cutting short


class Truncator(StreamEditor):
    """Lets text and tool calls say `max_tokens` tokens; what closes the stream stays and agrees."""

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._gone: set[int] = set()

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The event, cut, or nothing where the cut left nothing of it."""
        fields = sse.fields(event)
        try:
            document = json_bytes.load_object(fields.data if fields else b"")
            data = self._cut(fields.data if fields else b"", document)
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        if fields is None or data == fields.data:
            return (event,)
        self.changed = True
        return (sse.with_data(event, data),) if data else ()

    def _cut(self, data: bytes, document: json_bytes.Object) -> bytes:
        index = json_bytes.count(document.get("index"))
        match document.get("type"):
            case "content_block_start":
                return self._start(data, index, document.get("content_block"))
            case "content_block_delta":
                return b"" if index in self._gone else self._delta(data, index, document.get("delta"))
            case "content_block_stop":
                return b"" if index in self._gone else data
            case "message_delta":
                return self._close(data, document)
        return data

    def _start(self, data: bytes, index: int, block: Any) -> bytes:
        """A call's name counts, as it does in whole answers."""
        name = json_bytes.string(json_bytes.member(block, "name"))
        if not self._budget.enter(index) or self._budget.take(name) != name:
            self._gone.add(index)
            return b""
        return data

    def _delta(self, data: bytes, index: int, delta: Any) -> bytes:
        key = {"text_delta": "text", "input_json_delta": "partial_json"}.get(json_bytes.member(delta, "type"))
        words = json_bytes.string(json_bytes.member(delta, key)) if key else ""
        if key is None or not words:
            return data
        kept = self._budget.take(words) if self._budget.enter(index) else ""
        if kept == words:
            return data
        return json_bytes.put(data, ("delta", key), json_bytes.dump(kept)) if kept else b""

    def _close(self, data: bytes, document: json_bytes.Object) -> bytes:
        if not self._budget.spent:
            return data
        if json_bytes.member(document, "delta", "stop_reason") is not None:
            data = _stopped(data, ("delta",), document["delta"])
        return _counted(data, document, self._budget.max_tokens)


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, cut."""
    document = json_bytes.load_object(body)
    budget = Budget(max_tokens)
    gone = []
    edited = body
    for at, block in json_bytes.objects(document.get("content")):
        words = _words(block)
        kept = budget.take(words) if budget.enter(at) else ""
        if kept == words and (words or not budget.spent):
            continue
        if block.get("type") == "text" and kept:
            edited = json_bytes.put(edited, ("content", at, "text"), json_bytes.dump(kept))
        else:
            gone.append(at)
    for at in reversed(gone):
        edited = json_bytes.drop(edited, ("content", at))
    if not budget.spent:
        return body
    return _counted(_stopped(edited, (), document), document, max_tokens)


def _words(block: json_bytes.Object) -> str:
    if block.get("type") == "text":
        return json_bytes.string(block.get("text"))
    if block.get("type") == "tool_use":
        return json_bytes.string(block.get("name")) + json_bytes.dump(block.get("input", {})).decode()
    return ""


def _stopped(text: bytes, place: tuple[str, ...], holder: json_bytes.Object) -> bytes:
    """The stop reason of a cut answer, and nothing left of what explained another one."""
    text = json_bytes.put(text, (*place, "stop_reason"), json_bytes.dump(_CUT))
    for key in ("stop_sequence", "stop_details"):
        if holder.get(key) is not None:
            text = json_bytes.put(text, (*place, key), b"null")
    return text


def _counted(text: bytes, document: json_bytes.Object, max_tokens: int) -> bytes:
    counted = json_bytes.member(document, "usage", "output_tokens")
    if json_bytes.count(counted) <= max_tokens:
        return text
    return json_bytes.put(text, ("usage", "output_tokens"), json_bytes.dump(max_tokens))
