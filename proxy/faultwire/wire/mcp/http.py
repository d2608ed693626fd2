"""The Model Context Protocol over HTTP: streamable HTTP, and the HTTP+SSE of 2024-11-05.

Source: the specification's transports (https://modelcontextprotocol.io/specification), and what the
Python and TypeScript SDKs were seen to send. A call of a tool is of kind `tool`; whatever else clients
and servers say to each other (handshake, lists, notifications, streams) is `other`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import (
    Request,
    RequestView,
    Response,
    ResponseView,
    ToolCall,
    Turn,
    header,
    with_header,
)
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers
from faultwire.wire.framing import sse
from faultwire.wire.mcp import jsonrpc as mcp_jsonrpc
from faultwire.wire.mcp.edits import in_event, with_descriptions, with_schemas, without_tools
from faultwire.wire.mcp.jsonrpc import Message, error, messages
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import size_limit
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page, StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Kind, ToolResult
    from faultwire.wire.types import Rewrite

__all__ = ["error", "in_event", "messages", "with_descriptions", "with_schemas", "without_tools"]

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"

_INTERNAL = -32603
_SERVER = -32000


def _error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """What a server says where it cannot even read who is asking: an error that answers no request."""
    code = {400: -32600, 404: -32001, 405: _SERVER, 406: _SERVER}.get(status, _INTERNAL)
    text = message or http_answers.reason(status) or f"status {status}"
    more = () if retry_after_s is None else (("retry-after", http_answers.whole_seconds(retry_after_s)),)
    return http_answers.answer(status, mcp_jsonrpc.error(None, code, text), "application/json", *more)


def _example(method: str) -> Request:
    """A request of a session."""
    call = json_bytes.dump({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "tool"}})
    headers = (("content-type", "application/json"), (SESSION, "session"))
    return Request("POST", "https", "mcp.example", 443, "/mcp", headers, call)


class Mcp(Protocol):
    """JSON-RPC 2.0 in `POST`s on any path, answered as JSON, as SSE, or in another stream."""

    name = "mcp"
    signs = Signs(frozenset(("jsonrpc",)))
    kind = "other"
    roles = ("tool",)
    views = False
    examples = (
        *(_example(method) for method in ("initialize", "tools/list", mcp_jsonrpc.CALL)),
        Request("GET", "https", "mcp.example", 443, "/mcp", ((SESSION, "session"),)),
    )
    methods = frozenset(("POST", "GET", "DELETE"))
    volatile = ("$.id", "$.*.id", "$.params._meta", "$.*.params._meta")
    volatile_query = frozenset(("session_id", "sessionid"))
    request_ids = ()
    errors = staticmethod(_error)
    mocked = ("mcp.mock.test",)
    page = Page(
        "JSON-RPC 2.0 with a method of MCP's, or `mcp-…` headers; `GET …/sse` (see [MCP](mcp.md))",
        "`mcp`",
        "calls and results of tools; JSON, server-sent events, another stream, stdio by the shim",
        "results, tool lists",
        "errors of JSON-RPC and of tools",
    )

    def recognise(self, request: Request) -> bool:
        """By the body's method, or the headers; the streams of `GET` by headers, or by path."""
        if request.method != "POST":
            return _marked(request) or (request.method == "GET" and _opens_stream(request))
        body = request.body
        if body is None:
            return header(request.headers, "mcp-method") is not None
        if b'"jsonrpc"' not in body or size_limit.is_heavy(body):
            return False
        marked = _marked(request)
        try:
            return all(mcp_jsonrpc.speaks(message, marked=marked) for message in messages(body))
        except WireError:
            return False

    def role(self, request: Request) -> tuple[Kind, str | None]:
        """`tool` with its name for a call; in a batch the first call counts."""
        if request.method == "POST" and request.body is None:
            named = header(request.headers, "mcp-name")
            calls = header(request.headers, "mcp-method") == mcp_jsonrpc.CALL
            return ("tool", named) if calls and named else ("other", None)
        called = next((one.tool for one in asked(request) if one.tool is not None), None)
        return ("tool", called) if called is not None else ("other", None)

    def provider(self, request: Request) -> str:
        """Servers are anybody's."""
        return self.name

    def attempt(self, request: Request) -> int | None:
        """No SDK repeats a call by itself: the same call again is the agent's own."""
        return 0

    def view(self, request: Request) -> RequestView:
        """A message is no conversation. Raises WireError."""
        raise WireError("found a message of MCP, expected a conversation")

    def transcript(self, request: Request) -> RequestView | None:
        """The calls of tools; handshakes, lists, notifications and streams have none."""
        view = self.request_view(request.body or b"") if asked(request) else None
        return view if view is not None and view.turns else None

    def request_view(self, body: bytes) -> RequestView:
        """The calls of tools in a body, as a model's turn. Raises WireError."""
        calls = tuple(
            ToolCall(str(one.id), one.tool, one.arguments) for one in messages(body) if one.tool is not None
        )
        return RequestView("", stream=False, turns=(Turn("assistant", "", calls),) if calls else ())

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """What the answers say in words, or what failed. Raises WireError."""
        if status == 202 and not body:  # accepted: the answer, if any, comes in another stream
            return ResponseView()
        return _view(messages(body))

    def reader(self) -> StreamReader:
        """A reader for the stream that answers one `POST`."""
        return _Reader()

    def is_terminal(self, event: bytes) -> bool:
        """An answer ends the stream of a `POST`."""
        return any(one.is_answer for one in event_messages(event))

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """Results stand in answers here. Raises WireError."""
        raise WireError("found a message of MCP, expected a conversation")

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """No model speaks here."""
        return body

    def truncator(self, max_tokens: int) -> StreamEditor:
        """No model speaks here."""
        return _Same()


def asked(request: Request) -> tuple[Message, ...]:
    """The messages of a request; none where it holds none, or more than can be read at once."""
    if request.method != "POST" or not request.body or size_limit.is_heavy(request.body):
        return ()
    try:
        return messages(request.body)
    except WireError:
        return ()


def event_messages(event: bytes) -> tuple[Message, ...]:
    """The messages in one event of a stream; none where it holds none."""
    fields = sse.fields(event)
    if fields is None or fields.name not in ("", "message"):
        return ()
    try:
        return messages(fields.data)
    except WireError:
        return ()


def reply(request: Request, answers: list[bytes]) -> Response:
    """JSON-RPC answers to a request's messages, as one body of JSON: a batch where that was one."""
    batch = (request.body or b"").lstrip()[:1] == b"["
    body = b"[" + b",".join(answers) + b"]" if batch else b"".join(answers[:1])
    return http_answers.answer(200, body, "application/json")


def notice(method: str) -> bytes:
    """A notification of the server's, as an event."""
    return sse.write(json_bytes.dump({"jsonrpc": "2.0", "method": method}), "message")


def as_event(body: bytes) -> bytes:
    """A message or batch as an event."""
    return sse.write(body.strip().replace(b"\r", b" ").replace(b"\n", b" "), "message")


def as_stream(head: Response) -> Response:
    """The head of an answer in JSON as that of a stream; a stream's stays."""
    if sse.is_sse(head.headers):
        return head
    headers = with_header(
        with_header(head.headers, "content-length", None), "content-type", "text/event-stream"
    )
    return replace(head, headers=with_header(headers, "cache-control", "no-cache"))


def may_speak(head: Request) -> bool:
    """Could the body of this request be a message? Told by the headers that clients must send."""
    accept = header(head.headers, "accept") or ""
    return _marked(head) or ("application/json" in accept and "text/event-stream" in accept)


def version(request: Request) -> str | None:
    """The version of the protocol that a request says it is in."""
    return header(request.headers, VERSION)


def session(request: Request) -> str | None:
    """The server's session that a request belongs to: by header, or in HTTP+SSE by query."""
    ident = header(request.headers, SESSION)
    if ident is not None:
        return ident
    for pair in request.path.partition("?")[2].split("&"):
        name, _, value = pair.partition("=")
        if name.lower() in Mcp.volatile_query and value:
            return value
    return None


def _marked(request: Request) -> bool:
    return any(name.lower() in _MARKS for name, _ in request.headers)


_MARKS = frozenset((SESSION, VERSION, "mcp-method"))


def _opens_stream(request: Request) -> bool:
    """Is this the `GET` of HTTP+SSE, which no header marks in the oldest version?"""
    path = request.path.partition("?")[0].rstrip("/")
    return path.endswith("/sse") and "text/event-stream" in (header(request.headers, "accept") or "")


def _view(found: Iterable[Message]) -> ResponseView:
    answers = [one for one in found if one.is_answer]
    failed = next((one.text or "error" for one in answers if one.is_error), None)
    ident = next((str(one.id) for one in answers if one.id is not None), None)
    text = "\n".join(one.text for one in answers)
    return ResponseView(text=text, error=failed, complete=bool(answers), request_id=ident)


class _Reader(StreamReader):
    def __init__(self) -> None:
        self._messages: list[Message] = []

    def feed(self, event: bytes) -> None:
        self._messages += event_messages(event)

    def view(self) -> ResponseView:
        return _view(self._messages)


class _Same(StreamEditor):
    def feed(self, event: bytes) -> Iterable[bytes]:
        return (event,)
