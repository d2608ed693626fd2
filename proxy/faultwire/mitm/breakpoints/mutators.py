"""What a breakpoint does to one exchange: it holds it, and goes on as was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Cut, Send, Wait
from faultwire.exchange.request_out import with_body
from faultwire.faults._mutator import Mutator
from faultwire.mitm.breakpoints import edits
from faultwire.mitm.breakpoints.held import ALIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from faultwire.events import Action, Exchange, Request, Response, ToolResult
    from faultwire.mitm.breakpoints.desk import Desk
    from faultwire.mitm.breakpoints.held import Held
    from faultwire.mitm.settings import DecisionSettings


class Holding(Mutator):
    """Holds an exchange once. `breakpoint` is the id of what holds it."""

    def __init__(self, desk: Desk, breakpoint_: str, at: str, exchange: Exchange) -> None:
        self.desk, self.at, self.exchange = desk, at, exchange
        self._breakpoint = breakpoint_

    def hold(
        self,
        shown: dict[str, Any],
        may: tuple[str, ...],
        apply: Callable[[DecisionSettings], str],
        *,
        alive: bool = False,
        what: str = "",
    ) -> Iterator[Action]:
        """Wait until somebody has decided; `effect` says what."""
        names = ("body", "texts", "results", "calls", "event", "text", "head")
        editable = tuple(name for name in names if name in shown)
        place = self.at.replace("_", " ") + what
        held = self.desk.hold(self._breakpoint, self.exchange, self.at, shown, editable, may, apply, alive)
        self.effect = f"held at the {place}; the exchange ended before anything was decided"
        yield from self._waiting(held)
        self.effect = f"held at the {place}, then {held.done}"
        if held.do == "cut":
            yield Cut()

    def _waiting(self, held: Held) -> Iterator[Action]:
        while not held.decided:
            before = self.desk.now()
            yield Wait(self.desk.alive_s)
            yield from self._still(held, self.desk.now() - before)

    def _still(self, held: Held, waited_s: float) -> Iterator[Action]:
        """So long was waited: is nothing decided yet?"""
        if held.decided:
            return
        if waited_s < self.desk.alive_s / 2:  # where faults were disarmed, waits are over at once
            self.desk.let_go(held, "resume", "no fault makes it wait any longer")
        elif held.alive:
            held.last_sent = self.desk.now()
            yield Send(ALIVE)


class HeldRequest(Holding):
    """Holds a request before it is forwarded. With `results` only these tool results may be edited."""

    def __init__(
        self,
        desk: Desk,
        breakpoint_: str,
        at: str,
        exchange: Exchange,
        results: Sequence[ToolResult] | None = None,
    ) -> None:
        super().__init__(desk, breakpoint_, at, exchange)
        self._results = results
        self._body: bytes | None = None
        self._answer: Response | None = None

    def before(self) -> Iterable[Action]:
        """The wait."""
        shown = edits.request_shown(self.exchange, self.desk.veil, self._results)
        yield from self.hold(shown, ("resume", "answer", "cut", "retry"), self._apply)

    def answer(self) -> Response | None:
        """The answer by hand."""
        return self._answer

    def outbound(self, request: Request) -> Request:
        """The request as it was edited."""
        return request if self._body is None else with_body(request, self._body)

    def _apply(self, asked: DecisionSettings) -> str:
        if asked.do == "answer":
            self._answer = edits.answered(asked, self.desk.veil)
        elif asked.do == "retry":
            self._answer = edits.to_be_retried(self.exchange)
        elif asked.do == "resume":
            self._body, words = edits.request_edited(self.exchange, asked, self.desk.veil, self._results)
            return words
        return ""


class HeldHead(Holding):
    """Holds a response before its first byte is delivered."""

    def __init__(self, desk: Desk, breakpoint_: str, at: str, exchange: Exchange) -> None:
        super().__init__(desk, breakpoint_, at, exchange)
        self._answer: Response | None = None
        self._head: Response | None = None

    def before(self) -> Iterable[Action]:
        """The wait; the head is there."""
        response = self.exchange.response
        if response is None:
            return
        shown = {
            "head": {"status": response.status, "headers": self.desk.veil.headers(response.headers)},
            "asked": edits.request_shown(self.exchange, self.desk.veil, None),
        }
        yield from self.hold(shown, ("resume", "answer", "cut", "retry"), self._apply)

    def answer(self) -> Response | None:
        """The answer by hand."""
        return self._answer

    def head(self, response: Response) -> Response:
        """The head as it was edited."""
        return response if self._head is None else self._head

    def _apply(self, asked: DecisionSettings) -> str:
        response = self.exchange.response
        if asked.do == "answer":
            self._answer = edits.answered(asked, self.desk.veil)
        elif asked.do == "retry":
            self._answer = edits.to_be_retried(self.exchange)
        elif asked.do == "resume" and response is not None:
            self._head, words = edits.head_edited(response, asked, self.desk.veil)
            return words
        return ""
