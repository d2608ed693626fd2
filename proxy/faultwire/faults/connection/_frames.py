"""What faults on the frames of HTTP/2 share: the codes of RFC 9113 §7, and where there are such frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.events import Exchange

Code = Literal[
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "REFUSED_STREAM", "CANCEL", "ENHANCE_YOUR_CALM"
]
CODES: dict[Code, int] = {
    "NO_ERROR": 0,
    "PROTOCOL_ERROR": 1,
    "INTERNAL_ERROR": 2,
    "REFUSED_STREAM": 7,
    "CANCEL": 8,
    "ENHANCE_YOUR_CALM": 11,
}


def no_frames(exchange: Exchange) -> str | None:
    """Why there is no frame that could be sent, or None."""
    if exchange.http2:
        return None
    return "the client spoke HTTP/1.1 to us, which has no such frames"
