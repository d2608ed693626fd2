"""A breakpoint as the pipeline takes it: something that acts on what matches `on:` and is armed, as a fault.

It is in no catalogue: a profile in a file cannot stop for somebody who is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import PrivateAttr

from faultwire._core import glob_match
from faultwire.errors import UsageError
from faultwire.faults._api import Fault, Need, Site
from faultwire.faults._mutator import Mutator
from faultwire.faults._wire import cannot, protocol_of
from faultwire.mitm.breakpoints.answers import HeldAnswer, HeldResult
from faultwire.mitm.breakpoints.mutators import HeldHead, HeldRequest
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.model import Profile

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange
    from faultwire.mitm.breakpoints.desk import Desk
    from faultwire.mitm.settings import BreakSettings

EVERY_STATUS = tuple(range(100, 600))


class Breakpoint(Fault):
    """Hold what matches, until somebody decides."""

    name: ClassVar[str] = "breakpoint"
    site: ClassVar[Site] = "stream"
    at: ClassVar[str]

    event: int = 1
    tools: tuple[str, ...] = ()
    _desk: Desk = PrivateAttr()
    _ident: str = PrivateAttr()

    def non_default_settings(self) -> dict[str, Any]:
        """Where it holds, too."""
        return {"at": self.at, **super().non_default_settings()}


class AtRequest(Breakpoint):
    """At the request, before it is forwarded."""

    at = "request"
    needs: ClassVar[Need] = Need.REQUEST

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start on the request."""
        return HeldRequest(self._desk, self._ident, self.at, exchange)


class AtResponse(Breakpoint):
    """At the response's head, before the client gets it."""

    at = "response"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start on the head."""
        return HeldHead(self._desk, self._ident, self.at, exchange)


class AtEvent(Breakpoint):
    """At one event of a stream; an answer in one piece is one event."""

    at = "event"
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        return HeldAnswer(self._desk, self._ident, self.at, exchange, self.event, self.tools)


class AtToolCall(AtEvent):
    """At a tool call that the model makes."""

    at = "tool_call"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only in a model's answer whose calls can be read."""
        if exchange.kind != "llm":
            return f"the exchange is `{exchange.kind}`, not `llm`"
        return cannot(exchange, "answer")


class AtToolResult(Breakpoint):
    """At a tool's result: in its own exchange, or in the request that takes it to the model."""

    at = "tool_result"
    needs: ClassVar[Need] = Need.REQUEST | Need.BODY | Need.EVENTS

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where there is one."""
        if exchange.kind == "tool":
            return None if self._meant(exchange.tool) else "it is another tool's"
        if exchange.kind != "llm":
            return f"the exchange is `{exchange.kind}`, not `llm` or `tool`"
        protocol = protocol_of(exchange)
        if protocol is not None and protocol.socket:
            return (
                "results in messages of a WebSocket cannot be held; hold the tool's own call, or an `event`"
            )
        return None if self._results(exchange) else "the request brings no new result of such a tool"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start on the request, or on what the tool answers."""
        if exchange.kind == "tool":
            return HeldResult(self._desk, self._ident, self.at, exchange, 1, self.tools)
        return HeldRequest(self._desk, self._ident, self.at, exchange, self._results(exchange))

    def _meant(self, tool: str | None) -> bool:
        return not self.tools or (tool is not None and any(glob_match(glob, tool) for glob in self.tools))

    def _results(self, exchange: Exchange) -> list[Any]:
        view = exchange.view
        return [] if view is None else [one for one in view.results if one.new and self._meant(one.name)]


KINDS: dict[str, type[Breakpoint]] = {
    kind.at: kind for kind in (AtRequest, AtResponse, AtEvent, AtToolCall, AtToolResult)
}


def profile_of(settings: BreakSettings, desk: Desk, ident: str) -> Profile:
    """The profile of one breakpoint. Raises UsageError."""
    on, tools = settings.on, tuple[str, ...]()
    if settings.at == "request" and on.status is not None:
        raise UsageError(
            "found `status` for a breakpoint at the request, which has none yet", code="control.break",
            hint="hold at the `response` instead",
        )  # fmt: skip
    if settings.at == "response" and on.status is None:
        on = on.model_copy(update={"status": EVERY_STATUS})
    if settings.at in ("tool_call", "tool_result") and on.tool is not None:
        tools = (on.tool,) if isinstance(on.tool, str) else on.tool
        on = on.model_copy(update={"tool": None})
    fault = KINDS[settings.at](event=settings.event, tools=tools)
    fault._desk, fault._ident = desk, ident
    # A copy of a settings model keeps what was cached in it: this one is made anew.
    on = On(**{name: getattr(on, name) for name in On.model_fields})
    return Profile(
        name="breakpoint", entries=(Entry(id=settings.at, fault=fault, on=on, trigger=settings.trigger),)
    )
