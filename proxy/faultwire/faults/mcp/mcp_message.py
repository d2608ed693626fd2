"""`mcp_message`: a server answers with messages that are given word by word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults.mcp._asked import Methods, ids, no_request, requests
from faultwire.text import counted
from faultwire.wire.editing import answers as http_answers
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

ID = '"{id}"'
"""What stands for the request's id in a message."""


class McpMessage(Fault):
    """Answer a request of MCP with messages of your own.

    What it does:
        The server is not called. One of `messages` is given as a body of JSON, several as a stream of
        events: notifications or requests of the server's in front of the answer, say. Each is sent byte by
        byte, so that it may be any text, also none that is JSON; `"{id}"` in it becomes the request's id.
        `methods` says which requests; calls of tools if it says nothing.

    Why agents break:
        Clients check the shape of what they know. A content block of another type, an answer without
        `content`, a notification that comes first or a request where an answer was awaited ends in an
        exception that nobody catches.

    Real-world source:
        Servers of another version of the protocol, written by hand, or cut off. `faultwire fuzz` writes
        this entry.

    Example:
        faults:
          - mcp_message:
              messages: ['{"jsonrpc": "2.0", "id": "{id}", "result": {"content": null}}']
            on: {tool: web_search}
    """

    name: ClassVar[str] = "mcp_message"
    site: ClassVar[Site] = "response"
    protocols: ClassVar[tuple[str, ...]] = ("mcp",)
    answers: ClassVar[bool] = True

    messages: Annotated[tuple[str, ...], Field(min_length=1, description="the messages, in order")]
    methods: Annotated[Methods, Field(description="globs of the methods that are answered")] = "tools/call"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only requests are answered."""
        return super().inapplicable(exchange) or no_request(exchange, self.methods)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        ident = json.dumps(ids(requests(exchange, self.methods))[0])
        bodies = [one.replace(ID, ident).encode("utf-8", "replace") for one in self.messages]
        if len(bodies) == 1:
            answer = http_answers.answer(200, bodies[0], "application/json")
        else:
            events = b"".join(map(mcp.as_event, bodies))
            answer = http_answers.answer(200, events, "text/event-stream")
        return Answered(answer, f"answered {counted(len(bodies), 'message')} of the profile's")
