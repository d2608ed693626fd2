"""What the exchanges of a history mean to the client that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Response
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Recorded


def whole(exchange: Recorded) -> bool:
    """Did the client get all that it waited for?

    SDKs hang up as soon as a stream's closing event is read, and whether they are faster than the
    last bytes of the framing is chance: such an exchange is whole, however it is noted.
    """
    if exchange.ending != "client_aborted":
        return exchange.ending == "complete"
    delivered = exchange.delivered
    protocol = wire.protocols().get(exchange.protocol or "")
    if delivered is None or protocol is None:
        return False
    head = Response(delivered.status, delivered.reason, delivered.headers)
    cutter = framing.splitter_of(head, protocol, exchange.request)
    return cutter is not None and any(map(protocol.is_terminal, framing.cut(delivered.body, cutter)))


def answered(exchanges: Sequence[Recorded]) -> list[Recorded]:
    """Those without what the proxy itself refused: no server failed there, and no fault."""
    return [exchange for exchange in exchanges if exchange.ending != "refused"]


def failed(exchange: Recorded) -> bool:
    """Would a client take this exchange for a failure: an error status, or no whole response?"""
    delivered = exchange.delivered
    if delivered is None or delivered.status >= 400:
        return True
    return exchange.ending != "complete" and not whole(exchange)
