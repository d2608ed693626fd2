"""What several faults ask about a message of MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Action, Chunk, Exchange, Response
    from faultwire.wire.mcp.jsonrpc import Id, Message

Methods = str | tuple[str, ...]
"""A glob over the methods of requests, or several."""


def requests(exchange: Exchange, methods: Methods) -> list[Message]:
    """The requests in this exchange whose method fits."""
    globs = (methods,) if isinstance(methods, str) else methods
    return [
        one
        for one in mcp.asked(exchange.request)
        if one.is_request and any(_core.glob_match(glob, one.method or "") for glob in globs)
    ]


def ids(messages: Iterable[Message]) -> list[Id]:
    """The ids of requests."""
    return [one.id for one in messages if one.id is not None]


def no_request(exchange: Exchange, methods: Methods) -> str | None:
    """Why a fault on these methods cannot act here, or None."""
    if exchange.protocol != mcp.Mcp.name:
        return "the exchange speaks no MCP"
    if requests(exchange, methods):
        return None
    requested = [one.method for one in mcp.asked(exchange.request) if one.is_request]
    names = (methods,) if isinstance(methods, str) else methods
    return (
        f"the request is `{requested[0]}`, not `{'` or `'.join(names)}`"
        if requested
        else "the message is no request"
    )


class Relisted(Mutator):
    """Edits the message or batch in an answer, whole or as the events of a stream."""

    def __init__(self, edit: Callable[[bytes], bytes], did: str) -> None:
        self._edit = edit
        self._did = did
        self._acts = False

    def head(self, response: Response) -> Response:
        """An answer with an error's status is passed on."""
        self._acts = response.status < 300
        return response

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """The edited message."""
        data = chunk.data
        if self._acts and chunk.unit == "body":
            data = self._edited(data)
        elif self._acts and chunk.unit == "event":
            data = mcp.in_event(data, self._edited)
        if data != chunk.data:
            self.effect = self._did
        yield Send(data)

    def _edited(self, data: bytes) -> bytes:
        try:
            return self._edit(data)
        except WireError:
            return data  # a message of no known shape is passed on as it is
