"""An intervention on a running engine, and one exchange that its guardrail watches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from faultwire.events import FaultFired
    from faultwire.exchange.intervention import BlastRadius, Intervention
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.settings import InterventionSettings

BAD = frozenset({"cut", "reset", "closed", "refused", "upstream_aborted"})
"""Endings that are failures for the agent."""


@dataclass(eq=False)
class Armed:
    """An intervention of a controller. `owner` is the connection that it holds."""

    work: Intervention
    settings: InterventionSettings
    owner: object
    renewed: float
    """The instant of the last sign of its controller."""
    live: dict[int, RecordedExchange] = field(default_factory=dict)
    """The exchanges under way that it touches."""
    fired: int = 0
    """Calls on which a fault of it fired."""


class Control(Protocol):
    """What a watched exchange tells."""

    limit: BlastRadius

    @property
    def armed(self) -> list[Armed]:
        """What is armed now."""

    def now(self) -> float:
        """The present instant."""

    def judge(self) -> None:
        """Look whether a threshold is passed."""


class WatchedExchange:
    """One exchange, for the guardrails of all that was armed when it began; `taken` touch it."""

    def __init__(self, control: Control, call: int, recorded: RecordedExchange, taken: list[Armed]) -> None:
        self._control, self._call, self._taken = control, call, taken
        self._all = control.armed
        self._status = 0
        now = control.now()
        for one in self._all:
            one.work.guardrail.begin(call, now)
        for one in taken:
            one.live[call] = recorded

    def answered(self, status: int) -> None:
        """The head of a response goes to the agent."""
        self._status = status
        now = self._control.now()
        for one in self._all:
            one.work.guardrail.answer(self._call, now)

    def over(self, ending: str, faults: tuple[FaultFired, ...]) -> None:
        """The exchange has ended."""
        gave_up = ending == "client_aborted" and not self._status
        failed = gave_up or ending in BAD or self._status == 429 or self._status >= 500
        now = self._control.now()
        for one in self._all:
            one.work.guardrail.end(self._call, now, failed=failed)
        for one in self._taken:
            one.live.pop(self._call, None)
            if any(f.outcome == "fired" and f.id.startswith(f"{one.work.ident}/") for f in faults):
                one.fired += 1
            else:
                one.work.radius.give_back()
                self._control.limit.give_back()
        self._control.judge()
