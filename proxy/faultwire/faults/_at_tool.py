"""A fault on a tool's result, at the tool's own exchange: its HTTP call, or its call by MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Send, ToolResult, Wait
from faultwire.faults._mutator import Mutator

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Response
    from faultwire.wire.tool_sites import ToolSite
    from faultwire.wire.types import Rewrite

    class RewritesResult(Protocol):
        """The settings of a fault on a tool's result: a `ResultFault`, where each member is described."""

        @property
        def calls_tool(self) -> bool:
            """Is the tool really called?"""

        @property
        def fails(self) -> bool:
            """Is what the agent gets an error?"""

        @property
        def failed_status(self) -> int:
            """The status of an error of an HTTP service."""

        def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
            """What is read in place of the result."""

        def delay_s(self, result: ToolResult, dice: FaultDice) -> float:
            """How long the call is held back."""


KEPT = 256
"""Tools whose last result is remembered."""


class AtTool(Mutator):
    """Lets the tool answer and rewrites its result, or answers in its place.

    Without dice it only takes note of the result.
    """

    def __init__(self, fault: RewritesResult, site: ToolSite, dice: FaultDice | None) -> None:
        self._fault = fault
        self._site = site
        self._dice = dice
        self._acts = True
        self._failed: Response | None = None
        self._delay_s = 0.0
        self._noted = False

    def before(self) -> Iterable[Action]:
        """The wait for a tool that takes its time."""
        if self._dice is None:
            return
        delay_s = self._fault.delay_s(self._result("", is_error=False), self._dice)
        if delay_s > 0:
            self._delay_s = delay_s
            self.effect = f"result of `{self._site.call.name}` delayed by {delay_s * 1000:g} ms"
            yield Wait(delay_s)

    def answer(self) -> Response | None:
        """The answer of a fault that keeps the call from the tool."""
        if self._fault.calls_tool or self._dice is None:
            return None
        new = self._fault.rewrite(self._result(self._site.blank, is_error=False), self._dice)
        if new is None:
            return None
        self._mark(new, self._result("", is_error=False))
        return self._site.answer(new, self._fault.failed_status)

    def head(self, response: Response) -> Response:
        """The head: another one only where the site tells an error by its status."""
        self._acts = self._site.cannot(response) is None
        if not self._acts or self._dice is None or not self._fault.fails:
            return response
        new = self._fault.rewrite(self._result("", is_error=False), self._dice)
        self._failed = self._site.fails(new, self._fault.failed_status) if new is not None else None
        if new is None or self._failed is None:
            return response
        self.replaces = True
        self._mark(new, self._result("", is_error=False))
        return self._failed

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """The result, rewritten where it stands whole."""
        if self._failed is not None:
            return
        whole = chunk.unit != "bytes" and self._acts
        yield Send(self._site.rewritten(chunk.data, self._rewrite) if whole else chunk.data)

    def finish(self) -> Iterable[Action]:
        """The body of an error that took the answer's place."""
        if self._failed is not None:
            yield Send(self._failed.body or b"")

    def _rewrite(self, text: str, is_error: bool) -> Rewrite | None:
        result = self._result(text, is_error=is_error)
        if not self._noted:  # of an answer in words and values the words are kept
            self._noted = True
            self._remember(text)
        new = None if self._dice is None else self._fault.rewrite(result, self._dice)
        if new is not None:
            self._mark(new, result)
        return new

    def _result(self, text: str, *, is_error: bool) -> ToolResult:
        call = self._site.call
        earlier = self.memory.get(call.name)
        return ToolResult(call.id, call.name, call.arguments, text, is_error, (), new=True, earlier=earlier)

    def _remember(self, text: str) -> None:
        name = self._site.call.name
        self.memory.pop(name, None)
        self.memory[name] = text
        while len(self.memory) > KEPT:
            del self.memory[next(iter(self.memory))]

    def _mark(self, new: Rewrite, result: ToolResult) -> None:
        self.canary = self.canary or new.canary
        self.effect = new.effect(result, self._delay_s)
