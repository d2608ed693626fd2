"""Agent2Agent over JSON-RPC, versions 0.3 and 1.0, and the agents' cards.

Shapes: the specification (a2a-protocol.org), as the official SDKs send and parse them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from faultwire.errors import WireError
from faultwire.events import Kind, Request, header
from faultwire.wire import json_bytes
from faultwire.wire.a2a import (
    errors as a2a_errors,
    stream as a2a_stream,
    view as a2a_view,
    vocabulary as a2a_vocabulary,
)
from faultwire.wire.editing.api import Editor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Path, RequestView, Response, ResponseView, ToolResult
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader


class AgentProtocol(Protocol):
    """What the bindings of A2A have in common. `root` is where an answer stands in its document."""

    kind: ClassVar[Kind] = "agent"
    root: ClassVar[Path] = ()
    request_ids = ()

    def provider(self, request: Request) -> str:
        """Agents have no provider; the word is that of the protocol."""
        return "a2a"

    def view(self, request: Request) -> RequestView:
        """What is asked; reading a card or a task has no body."""
        return self.asked(request).view()

    @abstractmethod
    def asked(self, request: Request) -> a2a_view.A2ARequest:
        """What is asked, in A2A's own words. Raises WireError."""

    def answered(self, body: bytes) -> a2a_view.A2AResponse:
        """What a whole answer says, in A2A's own words. Raises WireError."""
        document = json_bytes.load_object(body)
        gathered = a2a_view.Gathered()
        gathered.name(document)
        if "error" in document:
            gathered.fail(document["error"])
        else:
            gathered.take(json_bytes.member(document, *map(str, self.root)))
        return gathered.answered()

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Text, and the task's state as the reason why it ended."""
        return self.answered(body).view()

    def reader(self) -> StreamReader:
        """Complete once the task rests."""
        return a2a_stream.Reader(self.root)

    def is_terminal(self, event: bytes) -> bool:
        """An error, a message, or a task that rests."""
        return a2a_stream.is_terminal(event, self.root)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """Agents are sent no tool results. Always raises WireError."""
        raise WireError("found no tool result, which messages to agents do not carry")

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """So many words of each answer; a task's state tells nothing of it."""
        document = json_bytes.load_object(body)
        places = a2a_view.places(json_bytes.member(document, *map(str, self.root)), self.root)
        parts = [Part(path, text, path) for path, text in places]
        return cut_parts(body, parts, Budget(max_tokens))

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream."""
        return a2a_stream.A2AStreamEditor(lambda text: Budget(max_tokens).take(text), self.root)


class A2A(AgentProtocol):
    """`POST` of a JSON-RPC method, and `GET` of a card."""

    name = "a2a"
    signs = Signs(frozenset(("jsonrpc", "skills")))
    methods = frozenset(("POST", "GET"))
    examples = (
        Request("POST", "https", "agent.example", 443, "/", (("content-type", "application/json"),), b"{}"),
        Request("GET", "https", "agent.example", 443, a2a_vocabulary.CARDS[0]),
    )
    root = ("result",)
    edits: ClassVar[Editor] = a2a_stream.A2AEditor(("result",), ("params", "message"))
    volatile = (
        "$.id",
        "$.params.id",
        "$.params.taskId",
        *(f"$.params.message.{name}" for name in a2a_vocabulary.FRESH_IDS),
        "$.params.configuration.pushNotificationConfig",
        "$.params.configuration.taskPushNotificationConfig",
    )
    settled = (*a2a_vocabulary.CARDS, *a2a_vocabulary.EXTENDED)
    page = Page(
        "JSON-RPC 2.0 with a method of A2A's; `GET` of an agent's card (see [Agent to agent](a2a.md))",
        "`a2a`",
        "what one agent tells the other, cards, the task's state; server-sent events",
        "texts both ways, cards",
        "errors in the words of each binding, an error event",
    )

    def recognise(self, request: Request) -> bool:
        """A card by its path; a call by its method, or by the version in its head."""
        if request.method == "GET":
            return is_card(request)
        if request.body is None:
            path = recognition.bare_path(request)
            versioned = header(request.headers, "a2a-version") is not None
            return versioned and ":" not in path.rpartition("/")[2] and not recognition.is_settled(path)
        if b'"jsonrpc"' not in request.body:
            return False
        document = recognition.document(request.body)
        method = json_bytes.member(document, "method")
        if not isinstance(method, str) or method not in a2a_vocabulary.METHODS:
            return False
        if method not in a2a_vocabulary.SHARED or header(request.headers, "a2a-version") is not None:
            return True
        is_mcp = any(name.lower().startswith("mcp-") for name, _ in request.headers)
        return not is_mcp and isinstance(json_bytes.member(document, "params", "id"), str)

    def asked(self, request: Request) -> a2a_view.A2ARequest:
        """By method and message."""
        if request.method == "GET":
            return a2a_view.A2ARequest("card", stream=False)
        return a2a_view.rpc(json_bytes.load_object(request.body or b""))

    def request_view(self, body: bytes) -> RequestView:
        """The message that is sent."""
        return a2a_view.rpc(json_bytes.load_object(body)).view()

    errors = staticmethod(a2a_errors.rpc_status)

    def error_to(
        self,
        request: Request,
        provider: str | None,
        status: int,
        *,
        message: str | None = None,
        retry_after_s: float | None = None,
    ) -> Response:
        """With the id of the request; a card is no JSON-RPC."""
        if request.method == "GET":
            return a2a_errors.rest_status(status, message, retry_after_s)
        return a2a_errors.rpc_status(status, message, retry_after_s, a2a_errors.ident_of(request))


def is_card(request: Request) -> bool:
    """Does this request read an agent's card?"""
    if request.method == "GET":
        path = recognition.bare_path(request)
        return path.endswith(a2a_vocabulary.CARDS) or (
            path.endswith(a2a_vocabulary.EXTENDED)
            and (
                path.endswith(a2a_vocabulary.EXTENDED[0])
                or header(request.headers, "a2a-version") is not None
            )
        )
    method = json_bytes.member(recognition.document(request.body), "method")
    return method in ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard")
