"""Plays a ramp on the wire: cells alone, then more and more of them at once, then suspects alone again."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from faultwire import clock
from faultwire.agents._process import Processes
from faultwire.events import AgentResult
from faultwire.load.measure import Invocation
from faultwire.load.pressure import pressed
from faultwire.load.races import suspected
from faultwire.runner.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.events import History
    from faultwire.load.measure import Verdict
    from faultwire.load.pressure import Pressure
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run
    from faultwire.trials.model import Oracle

Ended = Literal["levels", "runs", "time"]
AGAIN = 5
"""Runs alone of each suspect."""
SUSPECTS = 3
"""Suspects that are run again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play: `cells` prompts with faults, each `serial` times alone, then at each of `levels` as
    many invocations as `per_level` says, twice the level at least. Nothing is begun after `max_runs` or
    `max_s`."""

    levels: tuple[int, ...]
    cells: int
    serial: int
    per_level: int
    max_runs: int
    max_s: float

    def work(self, level: int) -> list[int]:
        """The cells of a level, in order."""
        count = self.cells * self.serial if level == 1 else max(self.per_level, 2 * level)
        return [at % self.cells for at in range(count)]


@dataclass
class Ramp:
    """One ramp. `notify` is called after each invocation."""

    run: Run
    profile: Profile
    command: tuple[str, ...]
    prompts: tuple[str, ...]
    oracle: Oracle
    timeout_s: float
    seed: int
    plan: Plan
    notify: Callable[[Invocation], None]
    ended: Ended = "levels"
    made: int = 0
    _again: Counter[tuple[str, int]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _began: float = field(default_factory=clock.monotonic)

    def levels(self) -> dict[int, list[Invocation]]:
        """The invocations of each level, the first one alone. Raises AgentError, FaultError."""
        return {level: self._play(level, self.plan.work(level), "level") for level in self.plan.levels}

    def again(self, found: dict[int, list[Invocation]]) -> list[Invocation]:
        """Suspects alone once more."""
        beside = [one for level, some in found.items() if level > 1 for one in some]
        cells = suspected(found.get(1, ()), beside)[:SUSPECTS]
        return self._play(1, [cell for cell in cells for _ in range(AGAIN)], "again")

    def under(self, pressure: Pressure) -> list[Invocation]:
        """Every cell alone, under a limit. Raises UsageError where that cannot be set."""
        with pressed(pressure, self.command) as command:
            return self._play(1, self.plan.work(1), pressure.kind, command, limited=True)

    def _play(
        self,
        level: int,
        cells: Sequence[int],
        name: str,
        command: tuple[str, ...] | None = None,
        *,
        limited: bool = False,
    ) -> list[Invocation]:
        processes = Processes()

        def one(cell: int) -> Invocation | None:
            again = self._taken(name, cell)
            if again is None:
                return None
            session = f"{name}-{level:03}-cell-{cell:02}-{again:03}"
            made = self._invoke(processes, level, cell, again, session, command or self.command, limited)
            self.notify(made)
            return made

        with Workers(cells, one, most=level, stop=processes.stop) as workers:
            return [made for made in workers if made is not None]

    def _taken(self, name: str, cell: int) -> int | None:
        """How often the cell was played before under this name; None where nothing more may begin."""
        with self._lock:
            if self.made >= self.plan.max_runs:
                self.ended = "runs"
                return None
            if clock.monotonic() - self._began >= self.plan.max_s:
                self.ended = "time"
                return None
            self.made += 1
            self._again[name, cell] += 1
            return self._again[name, cell]

    def _invoke(
        self,
        processes: Processes,
        level: int,
        cell: int,
        again: int,
        session: str,
        command: tuple[str, ...],
        limited: bool,
    ) -> Invocation:
        prompt = self.prompts[cell % len(self.prompts)] if self.prompts else ""
        words = [word.replace("{prompt}", prompt) for word in command]
        environment = self.run.open_session(session, self.profile, self.seed, f"cell-{cell}")
        started = clock.monotonic() - self._began
        try:
            ended = processes.run(words, environment, timeout_s=self.timeout_s)
        finally:
            stopped = clock.monotonic() - self._began
            closed = self.run.close_session(session)
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        history = replace(self.run.history(session), agent=result, voids=closed.voids)
        verdict, why = self._judged(history, limited=limited)
        return Invocation(level, cell, again, session, started, stopped, verdict, why)

    def _judged(self, history: History, *, limited: bool) -> tuple[Verdict, str]:
        """The verdict on an invocation. Under a limit an agent may end before it calls anything: that it did
        without the limit is known."""
        agent = history.agent
        if agent is not None and agent.timed_out:
            return "timeout", f"it was stopped after {self.timeout_s:g} s"
        if history.voids:
            return "unknown", history.voids[0]
        if not history.exchanges:
            if limited and agent is not None and agent.exit_code:
                return "fail", f"it exited with {agent.exit_code} before it called anything"
            return "unknown", "no traffic came through the proxy"
        failed, why = self.oracle.judge(history, self.run.tape)
        return ("unknown" if failed is None else "fail" if failed else "pass"), why
