"""`websocket_close`: a WebSocket session is closed from the other side, with a code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field

from faultwire.events import Close, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange

NEVER_SENT = {1004: "is reserved", 1005: "means that no code came", 1006: "means that no Close came"}
NEVER_SENT[1015] = "means that the TLS handshake failed"
"""Codes that no Close frame may hold (RFC 6455 §7.4.1)."""


def _may_be_sent(code: int) -> int:
    if code in NEVER_SENT:
        instead = "; use `close`, which ends the connection without one" if code == 1006 else ""
        raise ValueError(f"found `{code}`, which {NEVER_SENT[code]} and is never sent{instead}")
    return code


class WebsocketClose(Fault):
    """Close a WebSocket session with a code.

    What it does:
        Passes `after_messages` messages of the server on, then sends the client a Close frame with
        `code` and `reason`; with 0, as soon as the server sends its first message. The server gets
        code 1001 (its client goes away). What comes after that is not delivered.

    Why agents break:
        The session's state is gone with it: audio in a buffer, a tool call half made, the answer that
        was being given. Clients that connect again begin with an empty conversation and do not notice,
        or take every code for a reason to try again, also those that say not to.

    Real-world source:
        Realtime APIs end a session after its longest life (1001), on overload (1011, 1013) and when the
        key may no more (1008, or 4000 and above); gateways that restart close all of theirs with 1012.

    Example:
        faults:
          - websocket_close: {code: 1011, after_messages: 5}
            on: {path: "/v1/realtime*"}
    """

    name: ClassVar[str] = "websocket_close"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    code: Annotated[
        int, Field(ge=1000, le=4999, description="the code of the Close frame"), AfterValidator(_may_be_sent)
    ] = 1011
    after_messages: Annotated[int, Field(ge=0, le=1_000_000, description="how many arrive before")] = 0
    reason: Annotated[str, Field(max_length=41, description="what the frame says in words")] = ""

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a WebSocket has such a frame."""
        if exchange.response is not None and not framing.is_socket(exchange.response):
            return "the response opens no WebSocket"
        if not framing.wants_socket(exchange.request):
            return "the request asks for no WebSocket"
        return super().inapplicable(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first message."""
        return _Closing(self)


class _Closing(Mutator):
    def __init__(self, fault: WebsocketClose) -> None:
        self._fault = fault
        self._passed = 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._passed < self._fault.after_messages:
            self._passed += 1
            yield Send(chunk.data)
            return
        count = "1 message" if self._passed == 1 else f"{self._passed} messages"
        self.effect = f"closed with {self._fault.code} after {count}"
        yield Close(self._fault.code, self._fault.reason)
