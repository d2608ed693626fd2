"""What a protocol is: recognition, views, edits and fabrication, without any socket.

A protocol is one class, and a line in `BUILTIN`. The class says all there is to it, to the layers above as
well: its hosts, its base URLs, the mock's dialect, its rows of documentation. Edits change exactly one thing
and keep every other byte: unknown keys, key order and number formats survive, because prompt caches and
signatures depend on them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from faultwire.wire import protocol_retries
from faultwire.wire.editing import plain_errors
from faultwire.wire.editing.api import Editor
from faultwire.wire.framing import split as framing
from faultwire.wire.recognition.confirm import Signs, by_signs
from faultwire.wire.types import BaseUrl, Errors, Page, Rewrite, StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Kind, Request, RequestView, Response, ResponseView, ToolResult
    from faultwire.wire.conversation_history import ConversationHistory
    from faultwire.wire.framing.split import Splitter


def _plain_error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    return plain_errors.error(status, message=message, retry_after_s=retry_after_s)


class Protocol(ABC):
    """One provider protocol.

    What it declares (its class variables) is gathered by the registry once, from plug-ins too: a new
    protocol needs no line anywhere else.
    """

    name: ClassVar[str]
    """The word used in profiles, tapes and reports, for example `openai_chat`."""

    kind: ClassVar[Kind] = "llm"
    """What an exchange of this protocol is."""

    roles: ClassVar[tuple[Kind, ...]] = ()
    """What `role` may say besides `kind`."""

    views: ClassVar[bool] = True
    """Is a request a conversation that `view` reads? Else nobody knows a model, a turn or a text of it."""

    methods: ClassVar[frozenset[str]] = frozenset(("POST",))
    """The HTTP methods of its requests; no other one is shown to `recognise`."""

    edits: ClassVar[Editor] = Editor()
    """Changes of answers and requests that this protocol knows how to make."""

    hosts: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Domains (the name or any subdomain of it) and the provider that runs them. One that begins with
    `-` is the end of a name: regions stand before it. Of several that fit the longest one counts."""

    settled: ClassVar[tuple[str, ...]] = ()
    """Endings of paths that say by themselves what a request is, of this protocol or of its helpers (a
    count of tokens): a body like another protocol's conversation proves nothing there."""

    by_body: ClassVar[tuple[str, ...]] = ()
    """Settled endings that services of other kinds have, too: there the body decides."""

    text_members: ClassVar[frozenset[str]] = frozenset()
    """JSON members that carry a piece of text in this protocol's streams. A secret that a model
    repeats stands in no single event, so the tape looks for it in their texts joined."""

    socket: ClassVar[bool] = False
    """Is it spoken over a WebSocket? Then each message of the server is one event, and each of the client
    stands for a body: `message_view`, `replace_result` and `edits.texts` take one."""

    signs: ClassVar[Signs] = Signs(bare=True)
    """What shows that an answer is of this protocol, where its request alone does not settle it."""

    request_ids: ClassVar[tuple[str, ...]] = ("x-request-id",)
    """Header fields of an answer in which the provider names the request, in lower case, the one that its
    SDKs read first. An id that stands in a body is part of the view."""

    examples: ClassVar[tuple[Request, ...]] = ()
    """Requests of each form that matters to faults; empty: a request's method and body say nothing of it.
    Profiles are checked with them: a fault that acts on none which an entry matches never fires there."""

    volatile: ClassVar[tuple[str, ...]] = ()
    """JSON paths in a request, of another kind than `llm`, that differ between runs of the same agent."""

    volatile_query: ClassVar[frozenset[str]] = frozenset()
    """Query fields of which that is true, in lower case."""

    conversation_members: ClassVar[tuple[str, ...]] = ()
    """JSON members of a request that name a conversation which the provider keeps, or the answer that the
    request continues."""

    volatile_path: ClassVar[tuple[str, ...]] = ()
    """Parts of a path behind which an id stands that somebody minted: `/tasks`."""

    dialect: ClassVar[str | None] = None
    """What the mock speaks it with, as `package.module:Class`; None: the mock does not speak it, or in a way
    of its own. A reference, because the mock stands above this layer and knows it."""

    mocked: ClassVar[tuple[str, ...]] = ()
    """Hosts for which `exec --mock` answers; `*` stands for a region, or for a customer's own name."""

    base_urls: ClassVar[tuple[BaseUrl, ...]] = ()
    """Where its SDKs expect its providers, for agents that use no proxy."""

    keys: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The environment variables from which its SDKs read keys; those of a group stand for the same key."""

    page: ClassVar[Page | None] = None
    """Its rows in the documentation."""

    errors: ClassVar[Errors] = staticmethod(_plain_error)
    """Makes the error answer for a status, with the provider's headers."""

    errors_by: ClassVar[Mapping[str, Errors]] = MappingProxyType({})
    """The same by provider, for those that word their errors in their own way."""

    @abstractmethod
    def recognise(self, request: Request) -> bool:
        """Is this request of this protocol? `request.body` may be None: then the head decides."""

    def recognise_peer(self, request: Request) -> bool:
        """Is it, where the request goes to an agent whose card was seen?"""
        return False

    def role(self, request: Request) -> tuple[Kind, str | None]:
        """The kind of a recognised request, and the tool that it calls where that is `tool`."""
        return self.kind, None

    @abstractmethod
    def provider(self, request: Request) -> str:
        """The provider's word (`openai`, `anthropic`), by host, else the protocol's own."""

    def confirms(self, response: Response, request: Request | None = None) -> bool | None:
        """Is this an answer of a server that speaks this protocol? None: it does not tell, as errors and
        empty bodies do not. The body is unpacked, and may be only the beginning."""
        return by_signs(self.signs, response, framing.splitter_of(response, self, request))

    def view(self, request: Request) -> RequestView:
        """The view of a request; its path counts, where that names the model. Raises WireError."""
        return self.request_view(request.body or b"")

    def transcript(self, request: Request) -> RequestView | None:
        """The request as the readers of a tape see it; None where it holds no message to a model, an
        agent or a tool. Raises WireError."""
        return self.view(request)

    def transcript_after(self, request: Request, earlier: ConversationHistory) -> RequestView | None:
        """The same as `transcript`, for readers of a session's requests in order: what `earlier` knows need
        not be read again."""
        return self.transcript(request)

    def keeps(self, request: Request) -> bool:
        """Does the provider keep this conversation, so that later requests name calls by id alone?"""
        return False

    @abstractmethod
    def request_view(self, body: bytes) -> RequestView:
        """The view of a request's body. Raises WireError where the body is not of this protocol."""

    @abstractmethod
    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The view of a whole JSON response. Raises WireError."""

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
        """A whole response cut to `max_tokens` words and signs of text, with the finish reason and usage
        that the provider gives for it."""

    @abstractmethod
    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream: later text and tool-call events go, closing events stay and agree."""

    def splitter(self, request: Request, response: Response) -> Splitter | None:
        """What cuts this response into events; None where it is no framed stream."""
        return framing.splitter(response.headers)

    def message_view(self, data: bytes) -> RequestView | None:
        """What one WebSocket message of the client tells the model; None where it tells nothing."""
        return None

    def attempt(self, request: Request) -> int | None:
        """The retries that came before this request by the SDK's own count; None where it tells none."""
        return protocol_retries.retry_count(request.headers)

    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """The error answer that the provider sends for a status, with its headers."""
        return type(self).errors(status, message, retry_after_s)

    def error_by(
        self,
        provider: str | None,
        status: int,
        *,
        message: str | None = None,
        retry_after_s: float | None = None,
    ) -> Response:
        """The same as one of several providers of this protocol words it."""
        errors = self.errors_by.get(provider or "")
        if errors is None:
            return self.error(status, message=message, retry_after_s=retry_after_s)
        return errors(status, message, retry_after_s)

    def error_to(
        self,
        request: Request,
        provider: str | None,
        status: int,
        *,
        message: str | None = None,
        retry_after_s: float | None = None,
    ) -> Response:
        """The same as the answer to this request, for protocols whose errors name what they answer."""
        return self.error_by(provider, status, message=message, retry_after_s=retry_after_s)
