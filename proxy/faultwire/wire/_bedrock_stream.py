"""Converse's answers, whole and as event-stream frames, and how both are cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Usage
from faultwire.wire import _json
from faultwire.wire._cut import Part, cut_parts, put_count
from faultwire.wire._gather import FRAMES, Gatherer, JsonEditor
from faultwire.wire.tokens import Budget

if TYPE_CHECKING:
    from faultwire.events import Path

_CUT = b'"max_tokens"'
_READ = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def text_of(content: Any, glue: str = "") -> str:
    """The text of content blocks."""
    return glue.join(b["text"] for _, b in _json.objects(content) if isinstance(b.get("text"), str))


def usage_of(usage: Any) -> Usage | None:
    """All input, from caches too, and the output."""
    if not isinstance(usage, dict):
        return None
    read = sum(_json.count(usage.get(key)) for key in _READ)
    return Usage(read, _json.count(usage.get("outputTokens")))


class Reader(Gatherer):
    """Gathers the blocks."""

    framed = FRAMES

    def take(self, name: str, document: _json.Object) -> None:
        """Take one frame; a name that ends in `Exception` is an error."""
        index = _json.count(document.get("contentBlockIndex"))
        match name:
            case "contentBlockStart":
                use = _json.member(document, "start", "toolUse")
                if isinstance(use, dict):
                    told = (_json.string(use.get(key)) for key in ("toolUseId", "name"))
                    self.calls[index] = (*told, [])  # type: ignore[assignment]  # two of them
            case "contentBlockDelta":
                self.text.append(_json.string(_json.member(document, "delta", "text")))
                if index in self.calls:
                    piece = _json.string(_json.member(document, "delta", "toolUse", "input"))
                    self.calls[index][2].append(piece)
            case "messageStop":
                self.finish = _json.string(document.get("stopReason")) or None
            case "metadata":
                self.usage, self.complete = usage_of(document.get("usage")), True
            case _ if name == "error" or name.endswith("Exception"):
                self.error = self.error or _json.string(document.get("message")) or name


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, cut."""
    document = _json.load_object(body)
    parts = []
    for at, block in _json.objects(_json.member(document, "output", "message", "content")):
        place: Path = ("output", "message", "content", at)
        use = block.get("toolUse")
        if isinstance(use, dict):
            words = _json.string(use.get("name")) + _json.dump(use.get("input", {})).decode()
            parts.append(Part(place, words))
        elif isinstance(block.get("text"), str):
            parts.append(Part(place, block["text"], (*place, "text")))
    budget = Budget(max_tokens)
    body = cut_parts(body, parts, budget)
    if not budget.spent:
        return body
    body = _json.put(body, ("stopReason",), _CUT)
    return _counted(body, document, max_tokens)


def _counted(body: bytes, document: _json.Object, max_tokens: int) -> bytes:
    usage = document.get("usage")
    told, total = _json.member(usage, "outputTokens"), _json.member(usage, "totalTokens")
    return put_count(body, ("usage", "outputTokens"), told, max_tokens, (("usage", "totalTokens"), total))


class Truncator(JsonEditor):
    """Lets text and tool calls say so many tokens; `messageStop` and `metadata` stay and agree."""

    framed = FRAMES

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)
        self._gone: set[int] = set()

    def edit(self, name: str, data: bytes, document: _json.Object) -> bytes:
        """One frame."""
        index = _json.count(document.get("contentBlockIndex"))
        match name:
            case "contentBlockStart":
                called = _json.string(_json.member(document, "start", "toolUse", "name"))
                if not self._budget.enter(index) or self._budget.take(called) != called:
                    self._gone.add(index)
                    return b""
            case "contentBlockDelta":
                return b"" if index in self._gone else self._words(data, index, document)
            case "contentBlockStop":
                return b"" if index in self._gone else data
            case "messageStop" if self._budget.spent:
                return _json.put(data, ("stopReason",), _CUT)
            case "metadata" if self._budget.spent:
                return _counted(data, document, self._budget.max_tokens)
        return data

    def _words(self, data: bytes, index: int, document: _json.Object) -> bytes:
        delta = document.get("delta")
        path: Path = ("delta", "text")
        if isinstance(_json.member(delta, "toolUse"), dict):
            path = ("delta", "toolUse", "input")
        words = _json.string(_json.member(document, *(str(key) for key in path)))
        if not words:
            return data
        kept = self._budget.take(words) if self._budget.enter(index) else ""
        if kept == words:
            return data
        return _json.put(data, path, _json.dump(kept)) if kept else b""
