"""`reset`: the connection is aborted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire import events
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults.connection._places import At, ended

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class Reset(Fault):
    """Abort the connection with a TCP reset.

    What it does:
        Ends the connection with RST, not with an orderly close. `before_headers` does so once the
        request is there, and upstream is never called; `after_headers` delivers the response head and
        no byte of the body; `{after_bytes: N}` delivers N bytes of the body. A body that is no longer
        than N bytes is left alone. Over HTTP/2 the call's stream is reset (RST_STREAM) and its
        connection goes on; with `FAULTWIRE_HTTP2=off` clients that speak HTTP/1.1, too, do so.

    Why agents break:
        A call that was never answered may still have been carried out: an agent that repeats it pays
        or books twice. After the head has arrived SDKs no longer retry: the error reaches code
        that only expected error statuses.

    Real-world source:
        Load balancers that drop idle or draining connections, crashing workers, NAT tables that
        forget. Official SDKs report a connection error after three tries before the head, and a bare
        transport error in the middle of a stream.

    Example:
        faults:
          - reset: {at: {after_bytes: 200}}
            on: {kind: llm, stream: true}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "reset"
    site: ClassVar[Site] = "connection"

    at: At = "before_headers"

    @property
    def final(self) -> bool:
        """Nothing comes after a reset before the headers."""
        return self.at == "before_headers"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte that the agent gets."""
        return ended(self.at, events.Reset(), "reset", exchange)
