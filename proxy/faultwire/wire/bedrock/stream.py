"""Converse's answers, whole and as event-stream frames, and how both are cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import FRAMES, Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts, put_count

if TYPE_CHECKING:
    from faultwire.events import Path

_CUT = b'"max_tokens"'
_READ = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def text_of(content: Any, glue: str = "") -> str:
    """The text of content blocks."""
    return glue.join(b["text"] for _, b in json_bytes.objects(content) if isinstance(b.get("text"), str))


def usage_of(usage: Any) -> Usage | None:
    """All input, from caches too, and the output."""
    if not isinstance(usage, dict):
        return None
    read = sum(json_bytes.count(usage.get(key)) for key in _READ)
    return Usage(
        read,
        json_bytes.count(usage.get("outputTokens")),
        cache_read_tokens=json_bytes.count(usage.get("cacheReadInputTokens")),
        cache_write_tokens=json_bytes.count(usage.get("cacheWriteInputTokens")),
    )


class Reader(Gatherer):
    """Gathers the blocks."""

    framed = FRAMES

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one frame; a name that ends in `Exception` is an error."""
        index = json_bytes.count(document.get("contentBlockIndex"))
        match name:
            case "contentBlockStart":
                use = json_bytes.member(document, "start", "toolUse")
                if isinstance(use, dict):
                    names = (json_bytes.string(use.get(key)) for key in ("toolUseId", "name"))
                    self.calls[index] = (*names, [])  # type: ignore[assignment]  # two of them
            case "contentBlockDelta":
                self.text.append(json_bytes.string(json_bytes.member(document, "delta", "text")))
                if index in self.calls:
                    piece = json_bytes.string(json_bytes.member(document, "delta", "toolUse", "input"))
                    self.calls[index][2].append(piece)
            case "messageStop":
                self.finish = json_bytes.string(document.get("stopReason")) or None
            case "metadata":
                self.usage, self.complete = usage_of(document.get("usage")), True
            case _ if name == "error" or name.endswith("Exception"):
                self.error = self.error or json_bytes.string(document.get("message")) or name


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, cut."""
    document = json_bytes.load_object(body)
    parts = []
    for at, block in json_bytes.objects(json_bytes.member(document, "output", "message", "content")):
        place: Path = ("output", "message", "content", at)
        use = block.get("toolUse")
        if isinstance(use, dict):
            words = json_bytes.string(use.get("name")) + json_bytes.dump(use.get("input", {})).decode()
            parts.append(Part(place, words))
        elif isinstance(block.get("text"), str):
            parts.append(Part(place, block["text"], (*place, "text")))
    budget = Budget(max_tokens)
    body = cut_parts(body, parts, budget)
    if not budget.spent:
        return body
    body = json_bytes.put(body, ("stopReason",), _CUT)
    return _counted(body, document, max_tokens)


def _counted(body: bytes, document: json_bytes.Object, max_tokens: int) -> bytes:
    usage = document.get("usage")
    counted, total = json_bytes.member(usage, "outputTokens"), json_bytes.member(usage, "totalTokens")
    return put_count(body, ("usage", "outputTokens"), counted, max_tokens, (("usage", "totalTokens"), total))


class Truncator(JsonEditor):
    """Lets text and tool calls say so many tokens; `messageStop` and `metadata` stay and agree."""

    framed = FRAMES

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._gone: set[int] = set()

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One frame."""
        index = json_bytes.count(document.get("contentBlockIndex"))
        match name:
            case "contentBlockStart":
                called = json_bytes.string(json_bytes.member(document, "start", "toolUse", "name"))
                if not self._budget.enter(index) or self._budget.take(called) != called:
                    self._gone.add(index)
                    return b""
            case "contentBlockDelta":
                return b"" if index in self._gone else self._words(data, index, document)
            case "contentBlockStop":
                return b"" if index in self._gone else data
            case "messageStop" if self._budget.spent:
                return json_bytes.put(data, ("stopReason",), _CUT)
            case "metadata" if self._budget.spent:
                return _counted(data, document, self._budget.max_tokens)
        return data

    def _words(self, data: bytes, index: int, document: json_bytes.Object) -> bytes:
        delta = document.get("delta")
        path: Path = ("delta", "text")
        if isinstance(json_bytes.member(delta, "toolUse"), dict):
            path = ("delta", "toolUse", "input")
        words = json_bytes.string(json_bytes.member(document, *(str(key) for key in path)))
        if not words:
            return data
        kept = self._budget.take(words) if self._budget.enter(index) else ""
        if kept == words:
            return data
        return json_bytes.put(data, path, json_bytes.dump(kept)) if kept else b""
