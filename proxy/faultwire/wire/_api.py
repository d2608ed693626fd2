"""What a protocol is: recognition, views, edits and fabrication, without any socket.

A protocol is one file in this package and a line in `BUILTIN`. Edits change exactly one thing and
keep every other byte: unknown keys, key order and number formats survive, because prompt caches and
signatures depend on them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from faultwire.wire._edits import Edits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Request, RequestView, Response, ResponseView, ToolResult


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a tool result is replaced with.

    `raw` leaves the text as it is even where the original is JSON and this is not; `canary` is a word
    in the text that is looked for in all that the agent sends from then on.
    """

    text: str
    is_error: bool = False
    raw: bool = False
    canary: str | None = None


class StreamReader(ABC):
    """Gathers the events of one stream into a view; `feed` takes whole framed events."""

    @abstractmethod
    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""

    @abstractmethod
    def view(self) -> ResponseView:
        """What the stream has said so far; `complete` once its closing event was seen."""


class StreamEditor(ABC):
    """Edits a stream event by event; `changed` turns True with the first byte that differs."""

    changed: bool = False

    @abstractmethod
    def feed(self, event: bytes) -> Iterable[bytes]:
        """The events to deliver in place of this one."""

    def finish(self) -> Iterable[bytes]:
        """Events to deliver after the last one."""
        return ()


class Protocol(ABC):
    """One provider protocol."""

    name: ClassVar[str]
    """The word used in profiles, tapes and reports, for example `openai_chat`."""

    edits: ClassVar[Edits] = Edits()
    """Changes of answers and requests that this protocol knows how to make."""

    @abstractmethod
    def recognise(self, request: Request) -> bool:
        """Is this request of this protocol? `request.body` may be None: then the head decides."""

    @abstractmethod
    def provider(self, request: Request) -> str:
        """The provider's word (`openai`, `anthropic`), by host, else the protocol's own."""

    def view(self, request: Request) -> RequestView:
        """What the request says, its path included, where that names the model. Raises WireError."""
        return self.request_view(request.body or b"")

    def keeps(self, request: Request) -> bool:
        """Does the provider keep this conversation, so that later requests name calls by id alone?"""
        return False

    @abstractmethod
    def request_view(self, body: bytes) -> RequestView:
        """What the request says. Raises WireError where the body is not of this protocol."""

    @abstractmethod
    def response_view(self, status: int, body: bytes) -> ResponseView:
        """What a whole JSON response says. Raises WireError."""

    @abstractmethod
    def reader(self) -> StreamReader:
        """A reader for one streamed response."""

    @abstractmethod
    def is_terminal(self, event: bytes) -> bool:
        """Does this event close a stream in the regular way?"""

    @abstractmethod
    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The request body with one tool result replaced and nothing else changed.

        The container type stays (string, or array of blocks), and JSON results stay JSON.
        """

    @abstractmethod
    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """A whole response cut to about `max_tokens` words of text, with the finish reason and usage
        that the provider gives for it."""

    @abstractmethod
    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream: later text and tool-call events go, closing events stay and agree."""

    @abstractmethod
    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """The error answer that the provider sends for a status, with its headers."""

    def error_by(
        self,
        provider: str | None,
        status: int,
        *,
        message: str | None = None,
        retry_after_s: float | None = None,
    ) -> Response:
        """The same as one of several providers of this protocol words it."""
        return self.error(status, message=message, retry_after_s=retry_after_s)
