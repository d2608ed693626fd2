"""`mcp_error`: a server answers with an error of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered, Replaced
from faultwire.faults._settings import ErrorText
from faultwire.faults.mcp._asked import Methods, ids, no_request, requests
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

USUAL = {
    -32700: "Parse error",
    -32600: "Invalid Request",
    -32601: "Method not found",
    -32602: "Invalid params",
    -32603: "Internal error",
    -32000: "Connection closed",
    -32001: "Request timed out",
    -32002: "Resource not found",
}


class McpError(Fault):
    """Answer a call of an MCP server with a JSON-RPC error.

    What it does:
        Gives `code` and `message` as the error of the request, with status 200 as servers do. The server
        is not called, unless `call_upstream` is true: then it does its work, and only its answer is
        replaced. `methods` says which requests; calls of tools if it says nothing.

    Why agents break:
        An error of the protocol is an exception in the client, while a tool's own error is words for the
        model. Agents that expect words end the whole task.

    Real-world source:
        -32603 from a server whose back end fails, -32602 for a tool that was removed or arguments that its
        schema refuses, -32601 behind a gateway, -32001 from a client's or proxy's time limit.

    Example:
        faults:
          - mcp_error: {code: -32603}
            on: {tool: web_search}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "mcp_error"
    site: ClassVar[Site] = "response"
    protocols: ClassVar[tuple[str, ...]] = ("mcp",)
    answers: ClassVar[bool] = True

    code: Annotated[int, Field(ge=-32_768, le=32_767, description="the error's code")] = -32603
    message: Annotated[ErrorText | None, Field(description="what it says; else what is usual")] = None
    methods: Annotated[Methods, Field(description="globs of the methods that fail")] = "tools/call"
    call_upstream: Annotated[bool, Field(description="make the call and drop its answer")] = False

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only requests are answered."""
        return super().inapplicable(exchange) or no_request(exchange, self.methods)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        text = self.message or USUAL.get(self.code, "Server error")
        asked = ids(requests(exchange, self.methods))
        answer = mcp.reply(exchange.request, [mcp.error(one, self.code, text) for one in asked])
        if self.call_upstream or exchange.response is not None:
            return Replaced(answer, f"told error {self.code}")
        return Answered(answer, f"answered error {self.code}")
