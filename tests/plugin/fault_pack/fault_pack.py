"""`teapot`: a server that brews no coffee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire import Fault, Mutator, Response, Site

if TYPE_CHECKING:
    from faultwire import Exchange, FaultDice


class Teapot(Fault):
    """Answer that this is a teapot.

    What it does:
        Gives 418 without calling upstream.

    Why agents break:
        Nobody expects it.

    Real-world source:
        RFC 2324.

    Example:
        faults:
          - teapot: {short: true}
            on: {kind: tool}
    """

    name: ClassVar[str] = "teapot"
    site: ClassVar[Site] = "response"

    short: Annotated[bool, Field(description="short and stout")] = False

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        return _Teapot(b"short and stout" if self.short else b"I'm a teapot")


class _Teapot(Mutator):
    def __init__(self, words: bytes) -> None:
        self._words = words

    def answer(self) -> Response:
        self.effect = "answered 418"
        return Response(418, "I'm a teapot", (("content-type", "text/plain"),), self._words)
