"""`empty_body`: a success without content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from faultwire.events import header, with_header
from faultwire.faults._api import Fault, Mutator, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response


class EmptyBody(Fault):
    """Deliver the head of the answer and nothing else.

    What it does:
        Upstream is called; its status and headers arrive, its body does not, and the message ends as if
        it were whole. A stream ends cleanly without an event.

    Why agents break:
        The status says success, so the first error comes from the JSON parser, or none does and the
        answer is `None`. Loops over a stream run zero times and return an empty text.

    Real-world source:
        Gateways that lose the body on a redirect, servers that crash between head and body.

    Example:
        faults:
          - empty_body:
            on: {kind: tool}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "empty_body"
    site: ClassVar[Site] = "response"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the head."""
        return _Emptied()


class _Emptied(Mutator):
    replaces = True

    def head(self, response: Response) -> Response:
        self.effect = f"answered {response.status} without a body"
        if header(response.headers, "content-length") is None:
            return response
        return replace(response, headers=with_header(response.headers, "content-length", "0"))

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        return ()
