"""A connection that was meant for a server and came to us: mitmproxy's transparent mode without a look-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.proxy.layers import modes

if TYPE_CHECKING:
    from mitmproxy.proxy.context import Context


class Captured(modes.TransparentProxy):
    """The lowest layer of such a connection. The server's address is known before the first byte."""

    def __init__(self, context: Context, host: str, port: int) -> None:
        super().__init__(context)
        context.server.address = (host, port)
