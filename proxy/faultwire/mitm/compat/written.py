"""Requests on the connections to servers, counted in the bytes that are written there.

What counts them knows nothing of streams and flows, so that a request which no exchange stands for is
counted all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import commands

from faultwire._core import RequestCounter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mitmproxy.connection import Connection
    from mitmproxy.proxy.context import Context


class Written:
    """Counts for one connection; whoever in the layers above has `requests_written` is told."""

    def __init__(self, context: Context, *, http2: bool) -> None:
        found: Any = (getattr(layer, "requests_written", None) for layer in reversed(context.layers))
        self._tell = next((tell for tell in found if tell is not None), None)
        self._counter = RequestCounter(http2=http2)

    def seen(self, todo: Any, connection: Connection, stream_id: int) -> Iterator[Any]:
        """The same commands; what they write to the connection is counted, for the stream that asks."""
        for command in todo:
            if type(command) is commands.SendData and command.connection is connection:
                begun = self._counter.feed(command.data)
                if begun and self._tell is not None:
                    self._tell(stream_id, begun)
            yield command

    def stop(self) -> None:
        """The connection speaks another protocol from here on."""
        self._counter.stop()
