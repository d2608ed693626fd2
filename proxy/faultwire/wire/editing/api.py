"""What else a protocol can change: words of answers and requests, and named failures.

`Editor` answers "not supported" to everything; a protocol overrides what it can do. Faults ask first
(`can`), so that the ledger can say why nothing happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Headers, Path, Response, ToolCall
    from faultwire.wire.types import StreamEditor

Ability = Literal["answer", "texts", "failure", "error_event"]
Finish = Literal["stop", "length", "tool_calls", "content_filter", "refusal"]
"""Why a model stopped, in words that every protocol has one of its own for."""
Failure = Literal["overloaded", "quota_exceeded", "context_length", "content_filter"]
"""Errors that providers tell apart although several share a status."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one answer; what is None stays as it is, byte for byte.

    `text` maps all that the answer says to what it shall say instead. `calls` maps its tool calls:
    one with a known id replaces that call, one with a new id is added, one that is left out goes.
    `finish` is why it shall say that it stopped, everywhere or only where it said `finish_was`.
    `refuse` moves the text to where refusals are declared.
    """

    text: Callable[[str], str] | None = None
    calls: Callable[[tuple[ToolCall, ...]], tuple[ToolCall, ...]] | None = None
    finish: Finish | None = None
    finish_was: Finish | None = None
    refuse: bool = False
    drop_usage: bool = False


@dataclass(frozen=True, slots=True)
class TextPlace:
    """One text in a request: who says it, and the path of its JSON string.

    `turn` is the ordinal of its message, -1 for a system prompt outside of the messages. `new` means
    that it stands after the last assistant message.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    path: Path
    turn: int
    new: bool


@dataclass(frozen=True, slots=True)
class Quota:
    """What a client may still use until the window ends, in `reset_s` seconds; None: not limited."""

    requests: int | None
    requests_left: int
    tokens: int | None
    tokens_left: int
    reset_s: float


class Editor:
    """The changes that a protocol supports; this base supports none."""

    abilities: frozenset[Ability] = frozenset()

    def can(self, ability: Ability) -> bool:
        """Is this kind of change supported?"""
        return ability in self.abilities

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed; the same bytes where nothing was to do. Raises WireError."""
        return body

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """The same for a stream: what is to change is held back until it is whole."""
        return None

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """The texts of a request, in order. Raises WireError."""
        return ()

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The request with the texts at these paths replaced and nothing else changed."""
        return body

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """The error answer that the provider gives for a named failure."""
        return None

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes | None:
        """The event by which the provider tells of an error inside a stream that has begun."""
        return None

    def numbered(self, event: bytes, passed: int) -> bytes:
        """An error event as it stands behind `passed` others, where the protocol counts them."""
        return event

    def error_trailers(self, what: Literal["overloaded", "server_error"], message: str | None) -> Headers:
        """The trailers by which it does, where the protocol has no event for that but these."""
        return ()

    def quota(self, quota: Quota) -> Headers:
        """The header fields by which the provider tells a quota."""
        return ()

    @staticmethod
    def of_tokens(limited: Response) -> Response:
        """The error answer of a rate limit, as it is where tokens are used up and not requests; most do not
        tell the two apart."""
        return limited

    def quota_by(self, provider: str | None, quota: Quota) -> Headers:
        """The same as one of several providers of this protocol tells it."""
        return self.quota(quota)
