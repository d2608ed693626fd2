"""What a response says, whole or framed: read after the fact, or listened to while it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import ResponseView
from faultwire.wire import decode, framing

if TYPE_CHECKING:
    from faultwire.events import Response, ToolCall
    from faultwire.wire._api import Protocol

MOST = 8 << 20
"""Bytes of a response that are kept for reading; what is longer is not understood."""


def response_view(protocol: Protocol, response: Response) -> ResponseView:
    """What a whole response says. Raises WireError."""
    body = response.body or b""
    partial = False
    if decode.is_encoded(response.headers):
        body, partial = decode.decoded(body, response.headers)
    if not framing.is_stream(response.headers):
        return protocol.response_view(response.status, body)
    reader = protocol.reader()
    for event in framing.events(body, response.headers):
        reader.feed(event)
    view = reader.view()
    return ResponseView(
        view.model,
        view.text,
        view.finish_reason,
        view.tool_calls,
        view.usage,
        view.error or (None if not partial else "the body is only a part"),
        view.complete and not partial,
    )


class Ear:
    """Listens to a response on its way, without touching it."""

    def __init__(self, protocol: Protocol, head: Response) -> None:
        self._protocol = protocol
        self._head = head
        self._held: bytearray | None = bytearray()
        self._splitter = None if decode.is_encoded(head.headers) else framing.splitter(head.headers)
        self._reader = protocol.reader()

    def hear(self, data: bytes) -> tuple[ToolCall, ...]:
        """Take bytes as they are delivered; the calls of a stream, once it has said its last word."""
        if self._splitter is None:
            self._keep(data)
            return ()
        closed = False
        for event in self._splitter.feed(data):
            self._reader.feed(event)
            closed = closed or self._protocol.is_terminal(event)
        return self._reader.view().tool_calls if closed else ()

    def end(self) -> tuple[ToolCall, ...]:
        """The calls that the response made, now that it is over."""
        if self._splitter is not None:
            return self._reader.view().tool_calls
        if self._held is None or self._head.status >= 300:
            return ()
        head = self._head
        try:
            whole = type(head)(head.status, head.reason, head.headers, bytes(self._held))
            return response_view(self._protocol, whole).tool_calls
        except WireError:
            return ()  # an answer that its own protocol does not know names no call

    def _keep(self, data: bytes) -> None:
        if self._held is not None:
            self._held += data
            if len(self._held) > MOST:
                self._held = None
