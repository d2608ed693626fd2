"""What a fault is.

A fault is a frozen set of settings with `start`, which is called once per exchange and returns a
`Mutator`: a small state machine that never touches a socket, a clock or a file. Docstrings have four
fixed sections (What it does, Why agents break, Real-world source, Example), shown by
`faultwire faults show`.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import IntFlag
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from faultwire.events import Kind
from faultwire.faults._at_tool import AtTool
from faultwire.faults._mutator import Memory as Memory, Mutator as Mutator
from faultwire.faults._wire import no_texts
from faultwire.wire import tool_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, ToolResult
    from faultwire.wire.editing.api import TextPlace
    from faultwire.wire.types import Rewrite

Site = Literal["connection", "request", "result", "response", "stream"]
SITES: tuple[Site, ...] = ("connection", "request", "result", "response", "stream")
"""In the order in which faults are composed."""


Moment = Literal["connection", "exchange", "request", "call", "result"]
"""When a fault acts: as a connection is made; on an exchange, its request and its response; on the texts of a
request to a model; on a tool's own exchange; on a tool's result inside a request to a model."""

MOMENTS: tuple[Moment, ...] = ("connection", "exchange", "request", "call", "result")


class Need(IntFlag):
    """What a fault must be shown of an exchange; whatever nobody needs is passed on unheld."""

    HEAD = 0
    REQUEST = 1
    """The whole request body."""
    BODY = 2
    """The whole response body, where the response is not a stream."""
    EVENTS = 4
    """Single events, where the response is a stream."""


class Fault(BaseModel):
    """Settings of one way of breaking an exchange. Subclass it, one per file."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: ClassVar[str]
    site: ClassVar[Site]
    needs: ClassVar[Need] = Need.HEAD
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of exchange it can act on; empty: every kind."""
    protocols: ClassVar[tuple[str, ...]] = ()
    """The protocols that it is about, and on which alone it acts, also where they are `other`; empty: any."""
    moments: ClassVar[tuple[Moment, ...]] = ("exchange",)
    """When it can act; an entry can only be matched by what is known then."""
    answers: ClassVar[bool] = False
    """Does it give an error answer of its own, which SDKs may repeat?"""
    outermost: ClassVar[bool] = False
    """Does it change how bytes are divided? Then it comes after all faults that read them."""

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Why this fault cannot act on this exchange, or None. Called before the request goes out
        and again when the response head is there (`exchange.response`)."""
        if self.kinds and exchange.kind not in self.kinds:
            return f"the exchange is `{exchange.kind}`, not `{'` or `'.join(self.kinds)}`"
        if self.protocols and exchange.protocol not in self.protocols:
            return f"the exchange does not speak `{'` or `'.join(self.protocols)}`"
        return None

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """A fresh mutator for one exchange."""
        return Mutator()

    def watch(self, exchange: Exchange) -> Mutator | None:
        """A mutator that only takes notes, for a matching exchange on which this fault does not fire."""
        return None

    @property
    def final(self) -> bool:
        """Does it end every exchange of its kinds on which it fires before the call, so that no fault after
        it acts?"""
        return False

    @property
    def required(self) -> bool:
        """Does a scenario prove nothing if this entry never fired, whatever the others did?"""
        return False

    def non_default_settings(self) -> dict[str, Any]:
        """The settings that are not as usual, as JSON, for the ledger and for reports."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Due(NamedTuple):
    """What one tool result meets: what it is replaced with, if it is, and how long it is held back.
    `effect` says it in words where the usual ones do not do."""

    rewrite: Rewrite | None
    delay_s: float = 0.0
    effect: str | None = None


class ResultFault(Fault):
    """A fault on a tool's result: at the outermost site at which the tool is seen in the session.

    That is the tool's own exchange, where it has one on the wire (HTTP, or a call by MCP), else its
    result inside the next request to the model (`result`).
    """

    site: ClassVar[Site] = "result"
    needs: ClassVar[Need] = Need.REQUEST | Need.BODY | Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("llm", "tool")
    moments: ClassVar[tuple[Moment, ...]] = ("call", "result")
    calls_tool: ClassVar[bool] = True
    """At the tool's own exchange: is the tool really called? At `result` it has run in any case."""
    fails: ClassVar[bool] = False
    """Does the agent get an error, whatever the tool returned?"""

    @abstractmethod
    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """What the model reads in place of `result`, None where nothing is to change."""

    @property
    def failed_status(self) -> int:
        """The status of an error where the tool is an HTTP service."""
        return 500

    def delay_s(self, result: ToolResult, dice: FaultDice) -> float:
        """How long the request that brings this result, or calls the tool, is held back."""
        return 0.0

    def due(self, result: ToolResult, dice: FaultDice, memory: Memory) -> Due:
        """What a new result inside a request meets; `memory` is the entry's in this session."""
        return Due(self.rewrite(result, dice), self.delay_s(result, dice))

    def inapplicable(self, exchange: Exchange) -> str | None:
        """At a tool's own exchange only where its result can be read."""
        why = super().inapplicable(exchange)
        site = tool_site(exchange) if why is None else None
        if site is None or exchange.response is None:
            return why
        return site.cannot(exchange.response)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """A mutator for a tool's own exchange."""
        return self._at_tool(exchange, dice)

    def _at_tool(self, exchange: Exchange, dice: FaultDice | None) -> Mutator:
        site = tool_site(exchange)
        return Mutator() if site is None else AtTool(self, site, dice)


class RequestFault(Fault):
    """A fault at the `request` site: it changes texts of the conversation that the model reads.

    Clients resend their history unchanged, so a changed text is changed again in every later request.
    """

    site: ClassVar[Site] = "request"
    needs: ClassVar[Need] = Need.REQUEST
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    moments: ClassVar[tuple[Moment, ...]] = ("request",)

    @abstractmethod
    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        """The texts that shall read differently; none where there is nothing to act on."""

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where the protocol's requests can be edited, and are not signed."""
        return super().inapplicable(exchange) or no_texts(exchange)


class RewrittenText(NamedTuple):
    """What one text of a request becomes; `effect` says it in words."""

    place: TextPlace
    text: str
    effect: str
    canary: str | None = None
