"""An MCP server: streamable HTTP, and the HTTP+SSE of 2024-11-05, in every version.

No socket here: requests in, answers out. A stream that stays open is a `Feed`, into which later requests
put what their client is to hear.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.events import header
from faultwire.mock._api import Answer
from faultwire.mock._mcp_tools import McpTool, Shop
from faultwire.mock.feed import Feed
from faultwire.wire import json_bytes
from faultwire.wire.framing import sse
from faultwire.wire.mcp import http as mcp, jsonrpc as mcp_jsonrpc
from faultwire.wire.mcp.jsonrpc import STATELESS, VERSIONS

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.wire.mcp.jsonrpc import Message

NAME = "faultwire-mock"
HANDSHAKES = VERSIONS[:-1]
STREAM = "/sse"
POSTS = "/messages"
ENDPOINT = "/mcp"

_JSON = ("content-type", "application/json")
_SSE = (("content-type", "text/event-stream"), ("cache-control", "no-cache, no-transform"))
_NEWEST = HANDSHAKES[-1]


@dataclass(slots=True)
class McpServer:
    """What an MCP server knows: its tools, its sessions, and their open streams."""

    shop: Shop = field(default_factory=Shop)
    more: tuple[McpTool, ...] = ()
    """Tools of a script; one with the name of another takes its place."""
    _sessions: dict[str, Feed | None] = field(default_factory=dict)
    _made: int = 0

    def speaks(self, request: Request) -> bool:
        """Is this request for an MCP server?"""
        path = request.path.partition("?")[0].rstrip("/")
        if request.method == "POST":
            return mcp.Mcp().recognise(request) or path.endswith(ENDPOINT)
        return path.endswith((ENDPOINT, STREAM)) or mcp.session(request) is not None

    def answer(self, request: Request) -> Answer:
        """The answer; streams that stay open have a `feed`."""
        if request.method == "GET":
            return self._stream(request)
        if request.method == "DELETE":
            return self._ended(request)
        if request.method != "POST":
            return _refused(405, "Method Not Allowed")
        messages = mcp.asked(request)
        if not messages:
            return _refused(400, "Parse error", -32700)
        if "session" in request.path.partition("?")[2].lower():
            return self._posted(request, messages)
        if mcp.version(request) == STATELESS:
            return self._answered(request, messages, STATELESS, ())
        return self._in_session(request, messages)

    @property
    def tools(self) -> tuple[McpTool, ...]:
        """The tools, the script's first."""
        named = {tool.name for tool in self.more}
        return (*self.more, *(tool for tool in self.shop.tools() if tool.name not in named))

    # ------------------------------------------------------------ streamable HTTP

    def _in_session(self, request: Request, messages: tuple[Message, ...]) -> Answer:
        session = header(request.headers, mcp.SESSION)
        if any(one.method == "initialize" for one in messages):
            session = self._begin()
        elif session is None:
            return _refused(400, "Bad Request: Missing session ID", -32600)
        elif session not in self._sessions:
            return _refused(404, "Session not found", -32600)
        version = mcp.version(request) or "2025-03-26"
        if version not in HANDSHAKES:
            return _refused(400, f"Bad Request: Unsupported protocol version: {version}", -32600)
        return self._answered(request, messages, version, ((mcp.SESSION, session),))

    def _answered(
        self, request: Request, messages: tuple[Message, ...], version: str, more: Headers
    ) -> Answer:
        if (request.body or b"").lstrip()[:1] == b"[" and version != "2025-03-26":
            return _refused(400, "Bad Request: batches are not supported", -32600)
        wanted = [one for one in messages if one.is_request]
        if not wanted:
            return Answer(202, more)
        if version == STATELESS and (wrong := _mismatch(request, wanted[0])) is not None:
            return Answer(400, (_JSON, *more), mcp_jsonrpc.error(wanted[0].id, -32020, wrong))
        answers = [self._result(one, version) for one in wanted]
        if "answers=json" in request.path.partition("?")[2] or "text/event-stream" not in (
            header(request.headers, "accept") or ""
        ):
            return Answer(200, (_JSON, *more), mcp.reply(request, answers).body or b"")
        notes = [sse.write(_progress(one), "message") for one in wanted if _token(one) is not None]
        return Answer(200, (*_SSE, *more), b"", (*notes, *(sse.write(one, "message") for one in answers)))

    def _stream(self, request: Request) -> Answer:
        path, _, _ = request.path.partition("?")
        if path.rstrip("/").endswith(STREAM):
            session = self._begin()
            address = f"{path.rstrip('/').removesuffix(STREAM)}{POSTS}/?session_id={session}"
            feed = self._sessions[session] = Feed(sse.write(address.encode(), "endpoint"))
            return Answer(200, _SSE, feed=feed)
        session = header(request.headers, mcp.SESSION) or ""
        if session not in self._sessions:
            return (
                _refused(404, "Session not found", -32600) if session else _refused(405, "Method Not Allowed")
            )
        feed = self._sessions[session] = Feed()
        return Answer(200, (*_SSE, (mcp.SESSION, session)), feed=feed)

    def _ended(self, request: Request) -> Answer:
        session = header(request.headers, mcp.SESSION) or ""
        if session not in self._sessions:
            return _refused(404, "Session not found", -32600)
        feed = self._sessions.pop(session)
        if feed is not None:
            feed.end()
        return Answer(200, (("mcp-session-id", session),))

    def _begin(self) -> str:
        self._made += 1
        session = _core.sha256_hex(f"mcp session {self._made}".encode())[:32]
        self._sessions[session] = None
        return session

    # ------------------------------------------------------------ HTTP+SSE

    def _posted(self, request: Request, messages: tuple[Message, ...]) -> Answer:
        feed = self._sessions.get(mcp.session(request) or "")
        if feed is None:
            return Answer(404, (("content-type", "text/plain; charset=utf-8"),), b"Could not find session")
        for one in messages:
            if one.is_request:
                feed.put(sse.write(self._result(one, VERSIONS[0]), "message"))
        return Answer(202, (("content-type", "text/plain; charset=utf-8"),), b"Accepted")

    # ------------------------------------------------------------ methods

    def _result(self, asked: Message, version: str) -> bytes:
        known: dict[str, Any] = {
            "initialize": lambda: self._initialized(asked),
            "server/discover": lambda: self._discovered() if version == STATELESS else None,
            "ping": dict,
            mcp_jsonrpc.LIST: lambda: {"tools": [tool.listed() for tool in self.tools]},
        }
        if asked.method == mcp_jsonrpc.CALL:
            return self._called(asked, version)
        made = known.get(asked.method or "", lambda: None)()
        if made is None:
            return mcp_jsonrpc.error(asked.id, -32601, "Method not found")
        return _encoded(asked, made, version)

    def _initialized(self, asked: Message) -> json_bytes.Object:
        wanted = asked.params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in HANDSHAKES else _NEWEST,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": NAME, "version": "1.0.0"},
        }

    def _discovered(self) -> json_bytes.Object:
        return {
            "supportedVersions": [STATELESS],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": NAME, "version": "1.0.0"},
        }

    def _called(self, asked: Message, version: str) -> bytes:
        tool = next((one for one in self.tools if one.name == asked.tool), None)
        if tool is None:
            return mcp_jsonrpc.error(asked.id, -32602, f"Unknown tool: {asked.tool}")
        arguments = asked.params.get("arguments")
        given = tool.run(arguments if isinstance(arguments, dict) else {})
        made: json_bytes.Object = {"content": [{"type": "text", "text": given.text}]}
        if given.values is not None:
            made["structuredContent"] = given.values
        return _encoded(asked, {**made, "isError": given.is_error}, version)


def _encoded(asked: Message, result: json_bytes.Object, version: str) -> bytes:
    if version == STATELESS:
        lists = asked.method in (mcp_jsonrpc.LIST, "server/discover")
        kept = {"ttlMs": 0, "cacheScope": "private"} if lists else {}
        result = {**result, **kept, "resultType": "complete"}
    return json_bytes.dump({"jsonrpc": "2.0", "id": asked.id, "result": result})


def _token(asked: Message) -> Any:
    return json_bytes.member(asked.params, "_meta", "progressToken")


def _progress(asked: Message) -> bytes:
    params = {"progressToken": _token(asked), "progress": 1, "total": 1}
    return json_bytes.dump({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def _mismatch(request: Request, asked: Message) -> str | None:
    """Why the headers of a stateless call contradict its body, or None."""
    if header(request.headers, "mcp-method") != asked.method:
        return "Header mismatch: mcp-method"
    named = header(request.headers, "mcp-name")
    return "Header mismatch: mcp-name" if asked.tool is not None and named != asked.tool else None


def _refused(status: int, message: str, code: int = -32000) -> Answer:
    return Answer(status, (_JSON,), mcp_jsonrpc.error(None, code, message))
