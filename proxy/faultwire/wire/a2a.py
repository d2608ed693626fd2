"""Agent2Agent over JSON-RPC, versions 0.3 and 1.0, and the agents' cards.

Shapes: the specification (a2a-protocol.org), as the official SDKs send and parse them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from faultwire.errors import WireError
from faultwire.events import Kind, header
from faultwire.wire import _a2a_errors, _a2a_stream, _a2a_view, _a2a_words, _json, _recognise
from faultwire.wire._api import Protocol
from faultwire.wire._confirm import Signs
from faultwire.wire._cut import Part, cut_parts
from faultwire.wire._edits import Edits
from faultwire.wire.tokens import Budget

if TYPE_CHECKING:
    from faultwire.events import Path, Request, RequestView, Response, ResponseView, ToolResult
    from faultwire.wire._api import Rewrite, StreamEditor, StreamReader


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
    def asked(self, request: Request) -> _a2a_view.Asked:
        """What is asked, in A2A's own words. Raises WireError."""

    def answered(self, body: bytes) -> _a2a_view.Answered:
        """What a whole answer says, in A2A's own words. Raises WireError."""
        document = _json.load_object(body)
        gathered = _a2a_view.Gathered()
        gathered.name(document)
        if "error" in document:
            gathered.fail(document["error"])
        else:
            gathered.take(_json.member(document, *map(str, self.root)))
        return gathered.answered()

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Text, and the task's state as the reason why it ended."""
        return self.answered(body).view()

    def reader(self) -> StreamReader:
        """Complete once the task rests."""
        return _a2a_stream.Reader(self.root)

    def is_terminal(self, event: bytes) -> bool:
        """An error, a message, or a task that rests."""
        return _a2a_stream.is_terminal(event, self.root)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """Agents are sent no tool results. Always raises WireError."""
        raise WireError("found no tool result, which messages to agents do not carry")

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """So many words of each answer; a task's state tells nothing of it."""
        document = _json.load_object(body)
        places = _a2a_view.places(_json.member(document, *map(str, self.root)), self.root)
        parts = [Part(path, text, path) for path, text in places]
        return cut_parts(body, parts, Budget(max_tokens))

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream."""
        return _a2a_stream.Changer(lambda text: Budget(max_tokens).take(text), self.root)


class A2A(AgentProtocol):
    """`POST` of a JSON-RPC method, and `GET` of a card."""

    name = "a2a"
    signs = Signs(frozenset(("jsonrpc", "skills")))
    methods = frozenset(("POST", "GET"))
    root = ("result",)
    edits: ClassVar[Edits] = _a2a_stream.A2AEdits(("result",), ("params", "message"))
    volatile = (
        "$.id",
        "$.params.id",
        "$.params.taskId",
        *(f"$.params.message.{name}" for name in _a2a_words.MINTED),
        "$.params.configuration.pushNotificationConfig",
        "$.params.configuration.taskPushNotificationConfig",
    )
    settled = (*_a2a_words.CARDS, *_a2a_words.EXTENDED)

    def recognise(self, request: Request) -> bool:
        """A card by its path; a call by its method, or by the version in its head."""
        if request.method == "GET":
            return is_card(request)
        if request.body is None:
            path = _recognise.bare_path(request)
            versioned = header(request.headers, "a2a-version") is not None
            return versioned and ":" not in path.rpartition("/")[2] and not _recognise.is_settled(path)
        if b'"jsonrpc"' not in request.body:
            return False
        document = _recognise.document(request.body)
        method = _json.member(document, "method")
        if not isinstance(method, str) or method not in _a2a_words.METHODS:
            return False
        if method not in _a2a_words.SHARED or header(request.headers, "a2a-version") is not None:
            return True
        is_mcp = any(name.lower().startswith("mcp-") for name, _ in request.headers)
        return not is_mcp and isinstance(_json.member(document, "params", "id"), str)

    def asked(self, request: Request) -> _a2a_view.Asked:
        """By method and message."""
        if request.method == "GET":
            return _a2a_view.Asked("card", stream=False)
        return _a2a_view.rpc(_json.load_object(request.body or b""))

    def request_view(self, body: bytes) -> RequestView:
        """The message that is sent."""
        return _a2a_view.rpc(_json.load_object(body)).view()

    errors = staticmethod(_a2a_errors.rpc_status)

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
            return _a2a_errors.rest_status(status, message, retry_after_s)
        return _a2a_errors.rpc_status(status, message, retry_after_s, _a2a_errors.ident_of(request))


def is_card(request: Request) -> bool:
    """Does this request read an agent's card?"""
    if request.method == "GET":
        path = _recognise.bare_path(request)
        return path.endswith(_a2a_words.CARDS) or (
            path.endswith(_a2a_words.EXTENDED)
            and (path.endswith(_a2a_words.EXTENDED[0]) or header(request.headers, "a2a-version") is not None)
        )
    method = _json.member(_recognise.document(request.body), "method")
    return method in ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard")
