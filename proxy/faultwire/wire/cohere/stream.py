"""Cohere's streams, and how its answers are cut short."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from faultwire.events import Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts

if TYPE_CHECKING:
    from faultwire.events import Path

_CUT = b'"MAX_TOKENS"'
_ARGUMENTS = ("delta", "message", "tool_calls", "function", "arguments")
_TEXT = ("delta", "message", "content", "text")
_COUNTS = ("billed_units", "tokens")


def usage_of(usage: Any) -> Usage | None:
    """The tokens that are billed; where they are not given, those that the model read and wrote, which the
    provider's own words around a prompt make more. None where neither is known, as images and searches are
    billed by their number."""
    counts = next((usage[key] for key in _COUNTS if isinstance(json_bytes.member(usage, key), dict)), None)
    if counts is None or _count(counts.get("input_tokens")) is None:
        return None
    cached = json_bytes.member(usage, "cached_tokens")
    read, written, known = (_count(n) for n in (counts["input_tokens"], counts.get("output_tokens"), cached))
    return Usage(read or 0, written or 0, cache_read_tokens=known or 0)


def _count(number: Any) -> int | None:
    """The SDK's models have floats here."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
        return None
    return json_bytes.count(int(number))


class Reader(Gatherer):
    """Gathers content and calls; the tool plan is no answer."""

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one event."""
        index = json_bytes.count(document.get("index"))
        match json_bytes.string(document.get("type")) or name:
            case "content-start" | "content-delta":
                self.text.append(json_bytes.string(json_bytes.member(document, *_TEXT)))
            case "tool-call-start":
                call = json_bytes.member(document, "delta", "message", "tool_calls")
                function = (
                    json_bytes.string(json_bytes.member(call, "function", k)) for k in ("name", "arguments")
                )
                called, arguments = function
                self.calls[index] = (json_bytes.string(json_bytes.member(call, "id")), called, [arguments])
            case "tool-call-delta":
                if index in self.calls:
                    self.calls[index][2].append(json_bytes.string(json_bytes.member(document, *_ARGUMENTS)))
            case "message-end":
                self.complete = True
                self.finish = json_bytes.string(json_bytes.member(document, "delta", "finish_reason")) or None
                self.usage = usage_of(json_bytes.member(document, "delta", "usage"))
                error = json_bytes.string(json_bytes.member(document, "delta", "error"))
                self.error = self.error or error or ("error" if self.finish == "ERROR" else None)
            case _:
                if isinstance(document.get("message"), str):
                    self.error = self.error or document["message"]


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, cut."""
    document = json_bytes.load_object(body)
    message = document.get("message")
    parts = []
    for at, block in json_bytes.objects(json_bytes.member(message, "content")):
        if block.get("type") == "text":
            place: Path = ("message", "content", at)
            parts.append(Part(place, json_bytes.string(block.get("text")), (*place, "text")))
    for at, call in json_bytes.objects(json_bytes.member(message, "tool_calls")):
        named, written = (
            json_bytes.string(json_bytes.member(call, "function", key)) for key in ("name", "arguments")
        )
        place = ("message", "tool_calls", at)
        parts.append(Part(place, named + written, (*place, "function", "arguments"), len(named)))
    budget = Budget(max_tokens)
    body = cut_parts(body, parts, budget)
    if not budget.spent:
        return body
    body = json_bytes.put(body, ("finish_reason",), _CUT)
    return _counted(body, ("usage",), document.get("usage"), max_tokens)


def _counted(body: bytes, place: Path, usage: Any, max_tokens: int) -> bytes:
    for key in _COUNTS:
        counted = json_bytes.member(usage, key, "output_tokens")
        if isinstance(counted, int | float) and counted > max_tokens:
            body = json_bytes.put(body, (*place, key, "output_tokens"), json_bytes.dump(max_tokens))
    return body


class Truncator(JsonEditor):
    """Lets text and tool calls say so many tokens; `message-end` stays and agrees."""

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._gone: set[tuple[str, int]] = set()

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        kind = json_bytes.string(document.get("type")) or name
        part = (kind.rpartition("-")[0], json_bytes.count(document.get("index")))
        match kind:
            case "content-start" | "tool-call-start":
                return self._start(data, part, document)
            case "content-delta":
                return self._words(data, part, _TEXT, document)
            case "tool-call-delta":
                return self._words(data, part, _ARGUMENTS, document)
            case "content-end" | "tool-call-end":
                return b"" if part in self._gone else data
            case "message-end" if self._budget.spent:
                return self._close(data, document)
        return data

    def _start(self, data: bytes, part: tuple[str, int], document: json_bytes.Object) -> bytes:
        called = json_bytes.string(
            json_bytes.member(document, "delta", "message", "tool_calls", "function", "name")
        )
        if not self._budget.enter(part) or self._budget.take(called) != called:
            self._gone.add(part)
            return b""
        key = _ARGUMENTS if part[0] == "tool-call" else _TEXT
        return self._words(data, part, key, document) or json_bytes.put(data, key, b'""')

    def _words(self, data: bytes, part: tuple[str, int], path: Path, document: json_bytes.Object) -> bytes:
        if part in self._gone:
            return b""
        words = json_bytes.string(json_bytes.member(document, *(str(key) for key in path)))
        kept = self._budget.take(words) if self._budget.enter(part) else ""
        if kept == words:
            return data
        return json_bytes.put(data, path, json_bytes.dump(kept)) if kept else b""

    def _close(self, data: bytes, document: json_bytes.Object) -> bytes:
        data = json_bytes.put(data, ("delta", "finish_reason"), _CUT)
        usage = json_bytes.member(document, "delta", "usage")
        return _counted(data, ("delta", "usage"), usage, self._budget.max_tokens)
