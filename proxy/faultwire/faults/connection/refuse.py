"""`refuse`: nobody is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.events import Reset
from faultwire.faults._api import Fault, Mutator, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class Refuse(Fault):
    """Turn a call away as if nothing were listening.

    What it does:
        Ends the connection with a reset before a byte of an answer, and never calls upstream. The
        agent's connection to the proxy stands already when a request comes, so it reads a reset where
        a direct connection would have been refused; SDKs report both as the same connection error.

    Why agents break:
        The error comes at once and again at once: loops without a pause try hundreds of times a
        second, and fallbacks that were never tried are used for the first time.

    Real-world source:
        Services that crashed or are being deployed, wrong ports, local models that were not started.

    Example:
        faults:
          - refuse:
            on: {host: localhost}
    """

    name: ClassVar[str] = "refuse"
    site: ClassVar[Site] = "connection"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before upstream is called."""
        return _Refused()


class _Refused(Mutator):
    def before(self) -> Iterable[Action]:
        self.effect = "refused before upstream was called"
        yield Reset()
