"""What the mock understands of a request, what it replies, and what a dialect is.

A dialect is one file in this package and a line in `BUILTIN`: it reads a provider's request into a
`Conversation` and writes a `Reply` as the provider does, whole or as a stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from faultwire.events import Headers, Request, RequestView, Response


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model was offered; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request as the model sees it.

    `digest` names the conversation: ids are made from it. `may_call` and `must_call` are the tool
    choice, `only` the one tool that was named in it. `answer_schema` is set where JSON is wanted.
    """

    digest: str
    view: RequestView
    tools: tuple[Tool, ...] = ()
    may_call: bool = True
    must_call: bool = False
    only: str | None = None
    parallel: bool = True
    max_tokens: int | None = None
    answer_schema: dict[str, Any] | None = None
    options: frozenset[str] = frozenset()
    """Words that only the dialect itself understands."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error to answer with."""

    status: int
    message: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: words, calls, or an error. Delays are milliseconds, None for the server's."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    failure: Failure | None = None
    first_event_delay_ms: int | None = None
    chunk_delay_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer: a body, or events that are flushed one by one with pauses between them."""

    status: int
    headers: Headers
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    first_event_delay_ms: int = 0
    chunk_delay_ms: int = 0


class Refused(Exception):
    """The request was answered with an error."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"status {response.status}")
        self.response = response


class Dialect(ABC):
    """How one provider is spoken."""

    protocol: ClassVar[str]
    """The protocol's name in `faultwire.wire`."""
    path: ClassVar[str]
    """The end of the path that it is spoken on."""
    base: ClassVar[str]
    """What an SDK wants in its base URL behind the host."""
    provider: ClassVar[str]
    """Whose it is, for people."""
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    """The content type of its streams."""

    def answers(self, request: Request) -> bool:
        """Is this request, a POST, spoken in this dialect?"""
        return request.path.partition("?")[0].rstrip("/").endswith(self.path)

    def hear(self, request: Request) -> Conversation:
        """The conversation, from path and body. Raises Refused with the provider's own error."""
        return self.read(request.body or b"")

    @abstractmethod
    def check_key(self, request: Request) -> None:
        """Raises Refused where the request carries no key."""

    @abstractmethod
    def read(self, body: bytes) -> Conversation:
        """The conversation. Raises Refused with the provider's own error."""

    @abstractmethod
    def headers(self, conversation: Conversation) -> Headers:
        """Request id and rate limits."""

    @abstractmethod
    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """The reply as one JSON body."""

    @abstractmethod
    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """The reply as a stream, framed."""
