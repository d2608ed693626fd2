"""A tool's own exchange, whatever carries it: what it was called with, and edits of what it gives back.

A tool is seen at up to three sites: its own HTTP exchange, a call by MCP, and the result in the next
request to a model. The first two are here; the third is `Protocol.replace_result`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import parse_qsl

from faultwire.errors import WireError
from faultwire.events import ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers, plain_errors, tool_content
from faultwire.wire.framing import split as framing
from faultwire.wire.mcp import edits as mcp_edits, http as mcp, jsonrpc as mcp_jsonrpc
from faultwire.wire.recognition import recognise as recognition

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Exchange, Recorded, Request, Response
    from faultwire.wire.types import Rewrite

Own = Literal["http", "mcp"]
MOST = 256
"""Fields of a query that are read."""


class ToolSite(ABC):
    """One call of a tool, at a site of its own."""

    name: ClassVar[Own]
    blank: ClassVar[str]
    """What stands for a result that nobody has seen, in the site's usual form."""

    def __init__(self, request: Request, tool: str) -> None:
        self._request = request
        self.call = self._called(tool)

    @abstractmethod
    def _called(self, tool: str) -> ToolCall:
        """What the tool was called with."""

    @abstractmethod
    def cannot(self, response: Response) -> str | None:
        """Why no result can be read in this response, or None."""

    @abstractmethod
    def rewritten(self, data: bytes, rewrite: Callable[[str, bool], Rewrite | None]) -> bytes:
        """A whole body, or an event of a stream, with the tool's result in it rewritten."""

    @abstractmethod
    def answer(self, rewrite: Rewrite, status: int) -> Response:
        """An answer that is given without the tool; an error has this status where the site has one."""

    def fails(self, rewrite: Rewrite, status: int) -> Response | None:
        """The answer in place of any other where the tool shall have failed; None: the result says it."""
        return None


class HttpSite(ToolSite):
    """A tool that is an HTTP service: its result is the body, its error a status."""

    name = "http"
    blank = "{}"

    def _called(self, tool: str) -> ToolCall:
        return ToolCall("", tool, _asked(self._request))

    def cannot(self, response: Response) -> str | None:
        """Only an answer that is one text can be read."""
        if response.status >= 300:
            return f"the tool answered {response.status} by itself"
        if framing.is_stream(response.headers):
            return "the tool's answer is a stream"
        return None

    def rewritten(self, data: bytes, rewrite: Callable[[str, bool], Rewrite | None]) -> bytes:
        """Another body."""
        text = data.decode("utf-8", "replace")
        new = rewrite(text, False)
        return data if new is None else tool_content.like(text, new).encode("utf-8", "replace")

    def answer(self, rewrite: Rewrite, status: int) -> Response:
        """A body of JSON, or an error as a plain service gives it."""
        if rewrite.is_error:
            return plain_errors.error(status, message=rewrite.text)
        return http_answers.answer(200, rewrite.text.encode("utf-8", "replace"), "application/json")

    def fails(self, rewrite: Rewrite, status: int) -> Response | None:
        """An error is a status here."""
        return plain_errors.error(status, message=rewrite.text)


def _asked(request: Request) -> str:
    """The query's fields and the members of a JSON body, as the text of one JSON object."""
    query = request.path.partition("?")[2]
    try:
        fields = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST) if query else ()
        document: json_bytes.Object = dict(fields)
    except ValueError:
        document = {}
    document |= recognition.document(request.body) or {}
    return json_bytes.dump(document).decode()


class McpSite(ToolSite):
    """A tool behind MCP: its result is in the answer that has the call's id, and says by itself whether
    it is an error."""

    name = "mcp"
    blank = ""

    def __init__(self, request: Request, tool: str) -> None:
        self._calls = [one for one in mcp.asked(request) if one.tool == tool and one.id is not None]
        self.ids = [one.id for one in self._calls if one.id is not None]
        super().__init__(request, tool)

    def _called(self, tool: str) -> ToolCall:
        first = self._calls[0] if self._calls else None
        return ToolCall(str(first.id), tool, first.arguments) if first else ToolCall("", tool, "{}")

    def cannot(self, response: Response) -> str | None:
        """An answer with another status carries no result."""
        return None if response.status < 300 else f"the server answered {response.status} by itself"

    def rewritten(self, data: bytes, rewrite: Callable[[str, bool], Rewrite | None]) -> bytes:
        """The same message or batch with another result for this call."""
        try:
            if _is_event(data):
                return mcp_edits.in_event(data, lambda text: mcp_edits.rewritten(text, self.ids, rewrite))
            return mcp_edits.rewritten(data, self.ids, rewrite)
        except WireError:
            return data  # a result of no known shape is passed on as it is

    def answer(self, rewrite: Rewrite, status: int) -> Response:
        """A result in words, with status 200 in any case."""
        version = mcp.version(self._request)
        results = [
            mcp_jsonrpc.tool_result(one, rewrite.text, is_error=rewrite.is_error, version=version)
            for one in self.ids
        ]
        return mcp.reply(self._request, results)


def _is_event(data: bytes) -> bool:
    return data.lstrip()[:1] not in (b"{", b"[")


def tool_site(exchange: Exchange | Recorded) -> ToolSite | None:
    """The site at which this exchange calls a tool; None where it calls none."""
    if exchange.kind != "tool" or exchange.tool is None:
        return None
    kind = McpSite if exchange.protocol == mcp.Mcp.name else HttpSite
    return kind(exchange.request, exchange.tool)
