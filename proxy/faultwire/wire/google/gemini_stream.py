"""Gemini's answers: each event of a stream is one; how they are read and cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import SSE_OR_ELEMENTS, Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts, put_count

if TYPE_CHECKING:
    from faultwire.events import Path

_CUT = "MAX_TOKENS"


def text_of(content: Any) -> str:
    """The text of a content's parts, without thoughts."""
    if isinstance(content, str):
        return content
    parts = json_bytes.objects(json_bytes.member(content, "parts"))
    return "".join(
        json_bytes.string(part.get("text")) for _, part in parts if part.get("thought") is not True
    )


def first_candidate(document: json_bytes.Object) -> json_bytes.Object:
    """The candidate that is read."""
    return next((candidate for _, candidate in json_bytes.objects(document.get("candidates"))), {})


def finish_of(document: json_bytes.Object) -> str | None:
    """Why the first candidate stopped, or why the prompt was blocked."""
    reason = first_candidate(document).get("finishReason")
    blocked = json_bytes.member(document, "promptFeedback", "blockReason")
    return json_bytes.string(reason) or json_bytes.string(blocked) or None


class Reader(Gatherer):
    """Gathers the first candidate."""

    framed = SSE_OR_ELEMENTS

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one answer, or a piece of one."""
        error = document.get("error")
        if isinstance(error, dict):
            self.error = self.error or json_bytes.string(error.get("message")) or "error"
        self.model = json_bytes.string(document.get("modelVersion")) or self.model
        self.request_id = self.request_id or json_bytes.string(document.get("responseId")) or None
        candidate = first_candidate(document)
        self.text.append(text_of(candidate.get("content")))
        for _, part in json_bytes.objects(json_bytes.member(candidate, "content", "parts")):
            call = part.get("functionCall")
            if isinstance(call, dict):
                arguments = json_bytes.dump(call.get("args") or {}).decode()
                entry = json_bytes.string(call.get("id")), json_bytes.string(call.get("name")), [arguments]
                self.calls[len(self.calls)] = entry
        finish = finish_of(document)
        if finish is not None:
            self.finish, self.complete = finish, True
        usage = document.get("usageMetadata")
        if isinstance(usage, dict):
            self.usage = usage_of(usage)


def usage_of(usage: json_bytes.Object) -> Usage:
    """What `usageMetadata` counts. What a tool read is no part of the prompt's count, and is charged as such;
    thoughts are output; what was cached is part of the prompt."""

    def count(name: str) -> int:
        return json_bytes.count(usage.get(name))

    def audio(name: str) -> int:
        listed = json_bytes.objects(usage.get(name))
        return sum(
            json_bytes.count(one.get("tokenCount")) for _, one in listed if one.get("modality") == "AUDIO"
        )

    return Usage(
        count("promptTokenCount") + count("toolUsePromptTokenCount"),
        count("candidatesTokenCount") + count("thoughtsTokenCount"),
        cache_read_tokens=count("cachedContentTokenCount"),
        reasoning_tokens=count("thoughtsTokenCount"),
        audio_input_tokens=audio("promptTokensDetails") + audio("toolUsePromptTokensDetails"),
        audio_output_tokens=audio("candidatesTokensDetails"),
        tool_use_tokens=count("toolUsePromptTokenCount"),
    )


def cut_body(body: bytes, max_tokens: int) -> bytes:
    """A whole answer, or an array of them, cut."""
    document = json_bytes.load(body)
    budget = Budget(max_tokens)
    if isinstance(document, dict):
        return _cut(body, document, budget)
    if not isinstance(document, list):
        raise WireError("found neither a JSON object nor an array, expected an answer")
    for at, part in reversed(_cut_all(document, budget)):
        body = json_bytes.put(body, (at,), part) if part else json_bytes.drop(body, (at,))
    return body


def _cut_all(document: list[Any], budget: Budget) -> list[tuple[int, bytes]]:
    out = []
    for at, part in json_bytes.objects(document):
        packed = json_bytes.dump(part)
        new = _cut(packed, part, budget)
        if new != packed:
            out.append((at, new if has_content(new) else b""))
    return out


def _cut(body: bytes, document: json_bytes.Object, budget: Budget) -> bytes:
    """Each text part of a stream continues the one before: all text is one part of the budget."""
    parts = []
    place: Path = ("candidates", 0, "content", "parts")
    for at, part in json_bytes.objects(json_bytes.member(first_candidate(document), "content", "parts")):
        call = part.get("functionCall")
        if isinstance(call, dict):
            words = json_bytes.string(call.get("name")) + json_bytes.dump(call.get("args") or {}).decode()
            parts.append(Part((*place, at), words))
        elif isinstance(part.get("text"), str):
            parts.append(Part((*place, at), part["text"], (*place, at, "text")))
    body = cut_parts(body, parts, budget)
    if not budget.spent:
        return body
    if finish_of(document) is not None and "finishReason" in first_candidate(document):
        body = json_bytes.put(body, ("candidates", 0, "finishReason"), json_bytes.dump(_CUT))
    usage = document.get("usageMetadata")
    counted, total = (
        json_bytes.member(usage, "candidatesTokenCount"),
        json_bytes.member(usage, "totalTokenCount"),
    )
    path: Path = ("usageMetadata", "candidatesTokenCount")
    return put_count(body, path, counted, budget.max_tokens, (("usageMetadata", "totalTokenCount"), total))


def has_content(body: bytes) -> bool:
    """Does this chunk bring any part, or only what stands around parts?"""
    document = json_bytes.load_object(body)
    if "candidates" not in document:
        return True
    candidate = first_candidate(document)
    return bool(candidate.get("finishReason") or json_bytes.member(candidate, "content", "parts"))


class Truncator(JsonEditor):
    """Cuts the parts; events that are left empty go."""

    framed = SSE_OR_ELEMENTS

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One event."""
        cut = _cut(data, document, self._budget)
        return cut if cut == data or has_content(cut) else b""
