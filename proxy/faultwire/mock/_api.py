"""What the mock understands of a request, what it replies, and what a dialect is.

A dialect is one class, named by its protocol (`Protocol.dialect`): it reads a provider's request into a
`Conversation` and writes a `Reply` as the provider does, whole or as a stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Headers, Request, RequestView, Response
    from faultwire.mock.feed import Feed


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
    state: str = "completed"
    """The state in which an agent leaves its task."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer: a body, or events that are flushed one by one with pauses between them."""

    status: int
    headers: Headers
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    first_event_delay_ms: int = 0
    chunk_delay_ms: int = 0
    feed: Feed | None = None
    """Set where the stream stays open: what comes in it."""
    session: Session | None = None
    """Set where the answer is 101: the session over the WebSocket."""
    trailers: Headers = ()
    """What follows the body, over HTTP/2."""
    pauses: tuple[float, ...] = ()
    """Milliseconds before each event, where they are not all the same."""
    breaks: Break | None = None
    """Where and how the stream fails, if it does."""

    def pause_ms(self, index: int) -> float:
        """How long to wait before the event of this index."""
        if index < len(self.pauses):
            return self.pauses[index]
        return self.chunk_delay_ms if index else self.first_event_delay_ms


@dataclass(frozen=True, slots=True)
class Break:
    """A stream that fails after so many events: its connection is closed or reset, or nothing comes any
    more."""

    after_events: int
    how: Literal["cut", "reset", "hang"]


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One message that the server of a WebSocket sends after a pause. `closes` with this code after it;
    an empty text says nothing more."""

    text: str
    delay_ms: int = 0
    closes: int | None = None


class Session(ABC):
    """One client's conversation over a WebSocket: JSON messages in, JSON messages out.

    What comes back is sent one by one, in the order in which it was asked for; a message that the client
    sends meanwhile is received at once, so that it can cancel what is still to be sent.
    """

    def opening(self) -> Iterable[OutgoingMessage]:
        """What the server says first."""
        return ()

    @abstractmethod
    def receive(self, message: str) -> Iterable[OutgoingMessage]:
        """What it says to a message."""


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
    whole_type: ClassVar[str] = "application/json"
    """The content type of its whole answers."""
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    """The content type of its streams."""

    def streams_as(self, conversation: Conversation) -> str:
        """The content type of this conversation's stream."""
        return self.stream_type

    def answers(self, request: Request) -> bool:
        """Is this request, a POST, spoken in this dialect?"""
        return request.path.partition("?")[0].rstrip("/").endswith(self.path)

    def receive(self, request: Request) -> Conversation:
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

    def headers_by(self, provider: str, conversation: Conversation) -> Headers:
        """The same as one of several providers of this protocol sends them."""
        return self.headers(conversation)

    def trailers(self, conversation: Conversation) -> Headers:
        """What follows an answer, where that is the protocol's way."""
        return ()

    @abstractmethod
    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """The reply as one JSON body."""

    @abstractmethod
    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """The reply as a stream, framed."""
