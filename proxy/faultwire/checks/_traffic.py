"""What the exchanges of a history mean to the client that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Response
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Recorded

PATIENCE_MS = 1000.0
"""A client that leaves after less silence has hardly left because of it."""


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


def left(exchange: Recorded) -> bool:
    """Did the client itself leave an answer that was still coming, as a program does that has read enough?

    Not one that got nothing, that waited `PATIENCE_MS` for more, as before a time limit of its own, or
    that was sent something else than the server said: such a client may have given up.
    """
    delivered, upstream = exchange.delivered, exchange.upstream
    if exchange.ending != "client_aborted" or delivered is None or upstream is None or not delivered.chunks:
        return False
    unchanged = bool(delivered.body) and upstream.body.startswith(delivered.body)
    return unchanged and silence_ms(exchange) < PATIENCE_MS and not whole(exchange)


def silence_ms(exchange: Recorded) -> float:
    """Milliseconds between the last bytes that the client got, if any, and the end."""
    chunks = exchange.delivered.chunks if exchange.delivered is not None else ()
    return exchange.duration_ms - (chunks[-1][1] / 1e6 if chunks else 0.0)


def altered(exchange: Recorded) -> bool:
    """Did the client get something other than what the server sent? When it came does not matter."""
    sent, got = exchange.upstream, exchange.delivered
    if sent is None or got is None:
        return sent is not got
    return sent is not got and (sent.status, sent.headers, sent.body, sent.trailers) != (
        got.status,
        got.headers,
        got.body,
        got.trailers,
    )


def answered(exchanges: Sequence[Recorded]) -> list[Recorded]:
    """Those without what the proxy itself refused: no server failed there, and no fault."""
    return [exchange for exchange in exchanges if exchange.ending != "refused"]


def failed(exchange: Recorded) -> bool:
    """Would a client take this exchange for a failure: an error status, or no whole response?"""
    delivered = exchange.delivered
    if delivered is None or delivered.status >= 400:
        return True
    return exchange.ending != "complete" and not whole(exchange) and not left(exchange)
