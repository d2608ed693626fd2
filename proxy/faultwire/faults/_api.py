"""What a fault is.

A fault is a frozen set of settings with `start`, which is called once per exchange and returns a
`Mutator`: a small state machine that never touches a socket, a clock or a file. Docstrings have four
fixed sections (What it does, Why agents break, Real-world source, Example), shown by
`faultwire faults show`.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import IntFlag
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from faultwire.events import Kind, Send

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response, ToolResult
    from faultwire.wire._api import Rewrite

Site = Literal["connection", "request", "result", "response", "stream"]
SITES: tuple[Site, ...] = ("connection", "request", "result", "response", "stream")
"""In the order in which faults are composed."""


class Need(IntFlag):
    """What a fault must be shown of an exchange; whatever nobody needs is passed on unheld."""

    HEAD = 0
    REQUEST = 1
    """The whole request body."""
    BODY = 2
    """The whole response body, where the response is not a stream."""
    EVENTS = 4
    """Single events, where the response is a stream."""


class Mutator:
    """What a started fault does to one exchange. Every method passes through by default.

    `effect` stays None until the agent has met the fault; then it says in words what was done.
    """

    effect: str | None = None

    def before(self) -> Iterable[Action]:
        """Before upstream is called: `Wait`, or an end (`Cut`, `Reset`)."""
        return ()

    def answer(self) -> Response | None:
        """An answer given without calling upstream, body included."""
        return None

    def head(self, response: Response) -> Response:
        """The response head to deliver."""
        return response

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """What to do in place of sending this chunk."""
        yield Send(chunk.data)

    def finish(self) -> Iterable[Action]:
        """What to do before the regular end of the response."""
        return ()


class Fault(BaseModel):
    """Settings of one way of breaking an exchange. Subclass it, one per file."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: ClassVar[str]
    site: ClassVar[Site]
    needs: ClassVar[Need] = Need.HEAD
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of exchange it can act on; empty: every kind."""

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Why this fault cannot act on this exchange, or None. Called before the request goes out
        and again when the response head is there (`exchange.response`)."""
        if self.kinds and exchange.kind not in self.kinds:
            return f"the exchange is `{exchange.kind}`, not `{'` or `'.join(self.kinds)}`"
        return None

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """A fresh mutator for one exchange."""
        return Mutator()


class ResultFault(Fault):
    """A fault at the `result` site: it replaces a tool's result inside the next LLM request."""

    site: ClassVar[Site] = "result"
    needs: ClassVar[Need] = Need.REQUEST
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)

    @abstractmethod
    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """What the model reads in place of `result`."""
