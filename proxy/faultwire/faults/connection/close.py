"""`close`: the connection ends too early, in good order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Cut
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults.connection._places import At, ended

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class Close(Fault):
    """Close the connection before the answer is whole.

    What it does:
        Ends the connection with FIN, without an error on the wire. `before_headers` does so once the
        request is there, and upstream is never called; `after_headers` delivers the response head and
        no byte of the body; `{after_bytes: N}` delivers N bytes of the body. A body that is no longer
        than N bytes is left alone. Over HTTP/2 the call's stream is reset (RST_STREAM) and its
        connection goes on; with `FAULTWIRE_HTTP2=off` clients that speak HTTP/1.1, too, do so.

    Why agents break:
        An orderly close is easily taken for the end of the message: what has arrived is parsed, shown
        or stored as if it were all.

    Real-world source:
        Servers that shut down while they answer, proxies with a limit on the age of connections,
        workers that are killed for their memory. curl calls it exit code 52 or 18.

    Example:
        faults:
          - close: {at: after_headers}
            on: {kind: llm}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "close"
    site: ClassVar[Site] = "connection"

    at: At = "before_headers"

    @property
    def final(self) -> bool:
        """Nothing comes after the end, where that is before the headers."""
        return self.at == "before_headers"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte that the agent gets."""
        return ended(self.at, Cut(clean=False), "closed", exchange)
