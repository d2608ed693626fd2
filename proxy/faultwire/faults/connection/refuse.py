"""`refuse`: nobody is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Reset
from faultwire.faults._api import Mutator
from faultwire.faults.connection._stage import ConnectionFault, NoTunnel, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class Refuse(ConnectionFault):
    """Turn a call away as if nothing were listening.

    What it does:
        Matched by `host` alone, it acts when the agent's client opens a connection: CONNECT is answered
        with 502 and `proxy-status: …; error=connection_refused`, as a proxy does whose connection was
        refused; calls are then counted by connection. Matched by anything else, or without a tunnel
        (plain HTTP, base-URL mode), it ends the connection with a reset before a byte of an answer,
        where a direct connection would have been refused. Upstream is never called. SDKs report all
        of these as the same connection error.

    Why agents break:
        The error comes at once and again at once: loops without a pause try hundreds of times a
        second, and fallbacks that were never tried are used for the first time.

    Real-world source:
        Services that crashed or are being deployed, wrong ports, local models that were not started.
        RFC 9209 §2.3.5 has what a proxy says of it.

    Example:
        faults:
          - refuse:
            on: {host: api.openai.com}
    """

    name: ClassVar[str] = "refuse"

    def connect(self, exchange: Exchange) -> NoTunnel:
        """Answer as a proxy whose connection was refused."""
        host, port = exchange.request.host, exchange.request.port
        text = f"cannot connect to {host}:{port}: connection refused"
        answer = unavailable(502, "Bad Gateway", "connection_refused", text)
        return NoTunnel(answer, "the connection was refused: 502 to CONNECT")

    @property
    def final(self) -> bool:
        """Nothing comes after a refusal."""
        return True

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before upstream is called."""
        return _Refused()


class _Refused(Mutator):
    def before(self) -> Iterable[Action]:
        self.effect = "refused before upstream was called"
        yield Reset()
