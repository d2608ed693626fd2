"""`goaway`: an HTTP/2 connection takes no more calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Goaway as Leave, Reset
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults.connection._frames import CODES, Code, no_frames

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange


class Goaway(Fault):
    """Let an HTTP/2 connection take no more calls.

    What it does:
        Sends GOAWAY with `code` once the request is there. The calls that were under way are answered;
        later ones on this connection are refused (REFUSED_STREAM), and it is closed behind the last
        answer. The call that meets the fault is refused as well, with a last stream that says that nobody
        has looked at it, and upstream is not called; with `answered: true` it is still answered. Clients
        are free to call again on another connection, and some do so by themselves. HTTP/1.1 has no such
        frame.

    Why agents break:
        Calls fail that nobody did anything about. A client that does not repeat them shows an error for
        every deployment of its provider, and one that repeats all of them at once meets a server that has
        just begun.

    Real-world source:
        Load balancers and gRPC servers say it to every connection at a deployment, and when one has lived
        long enough; `ENHANCE_YOUR_CALM` where a client asked too much. Go repeats a refused call by itself;
        curl 7.88, Node 20 and httpx 0.28 show an error, httpx of an answered one too.

    Example:
        faults:
          - goaway: {code: NO_ERROR}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "goaway"
    site: ClassVar[Site] = "connection"

    code: Annotated[Code, Field(description="the reason that is given")] = "NO_ERROR"
    answered: Annotated[bool, Field(description="is the call that meets it still answered")] = False

    @property
    def final(self) -> bool:
        """Nothing comes after a call that was refused."""
        return not self.answered

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where there are frames."""
        return super().inapplicable(exchange) or no_frames(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Say it before the call goes on."""
        return _Leaving(self.code, self.answered)


class _Leaving(Mutator):
    def __init__(self, code: Code, answered: bool) -> None:
        self._code, self._answered = code, answered

    def before(self) -> Iterable[Action]:
        what = "which leaves the call to be answered" if self._answered else "and refused the call"
        self.effect = f"sent GOAWAY ({self._code}), {what}"
        yield Leave(CODES[self._code], self._answered)
        if not self._answered:
            yield Reset(CODES["REFUSED_STREAM"])
