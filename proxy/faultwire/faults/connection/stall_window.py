"""`stall_window`: the body of a request stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults.connection._stage import ConnectionFault, StalledBodies

if TYPE_CHECKING:
    from faultwire.events import Exchange
    from faultwire.faults._api import Moment

WINDOW = 65_535
"""Bytes of a body that a client may send before it is told that it may send more (RFC 9113 §6.9.2)."""


class StallWindow(ConnectionFault):
    """Let the bodies of requests stand still in HTTP/2.

    What it does:
        Opens no window for a request once 65,535 bytes of its body have come (no WINDOW_UPDATE), for
        `for_ms`; then the body may go on, and the call as well. It acts on every body of the connection
        that is longer than that. It is decided when the connection is made: match it with `host`,
        `provider` or `kind`, where a host counts as what it is known for. Calls are counted by connection.
        HTTP/1.1 has no windows, and the ledger says so.

    Why agents break:
        Long conversations, images and documents are sent, not received, while nothing comes back: timeouts
        for reading do not run yet, and those for writing are often not set. The agent waits without a word.

    Real-world source:
        Servers and proxies that are busy with other streams, or hold a body back until their own server
        takes it; windows that are lost by an implementation's error.

    Example:
        faults:
          - stall_window: {for_ms: 20000}
            on: {kind: llm}
    """

    name: ClassVar[str] = "stall_window"
    moments: ClassVar[tuple[Moment, ...]] = ("connection",)

    for_ms: Annotated[float, Field(ge=1, le=30_000, description="how long")] = 5_000

    def connect(self, exchange: Exchange) -> StalledBodies:
        """Open the tunnel, and let the bodies in it stand still."""
        effect = f"let a request's body stand still after {WINDOW:,} bytes"
        return StalledBodies(self.for_ms / 1000, effect)

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where a tunnel is asked for: in others there is no HTTP/2."""
        if exchange.request.method != "CONNECT":
            return "the agent speaks plain HTTP to the proxy here, which is HTTP/1.1: there are no windows"
        return super().inapplicable(exchange)
