"""Makes one run of a search: the agent with exactly these faults, and what a search sees of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.explore.made import Made
from faultwire.explore.observe import observe
from faultwire.explore.space import Observation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.events import History
    from faultwire.explore.made import Ask
    from faultwire.explore.space import Point
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Oracle
    from faultwire.trials.shared import SharedTrials


@dataclass
class Watching:
    """An oracle that also reads what the run did."""

    oracle: Oracle
    read: Callable[[History], None]

    @property
    def description(self) -> str:
        """That of the oracle."""
        return self.oracle.description

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """As the oracle does."""
        self.read(history)
        return self.oracle.judge(history, tape)


@dataclass(frozen=True)
class Attempts:
    """How runs are made; `trials` are those that share an engine, without them each has one of its own."""

    runner: TrialRunner
    redact: Callable[[str], str]
    trials: SharedTrials | None = None

    def make(self, ask: Ask) -> Made:
        """Run the agent once. Raises as `TrialRunner.run` does. Used from several threads."""
        about = Observation(None)
        counts: dict[Point, int] = {}
        watched = {entry.id for entry in self.runner.profile.entries}

        def read(history: History) -> None:
            nonlocal about
            seen = observe(history, watched, lineage=ask.lineage)
            counts.update(seen.points)
            agent = history.agent
            printed = f"{agent.exit_code}\n{agent.answer}" if agent is not None else ""
            acted = {
                line.id
                for exchange in history.exchanges
                for line in exchange.faults
                if line.outcome == "fired"
            }
            # The points whose entry fired and whose call came.
            fired = frozenset(one for one in ask.faults if ask.ids[one] in acted and one in counts)
            about = Observation(
                None, "", seen.calls, fired, frozenset(counts), seen.edges, seen.unread,
                output=sha256_hex(printed.encode("utf-8", "replace")),
            )  # fmt: skip

        watching = replace(self.runner, oracle=Watching(self.runner.oracle, read))
        outcome = watching.run(ask.trial) if self.trials is None else self.trials.run(ask.trial, watching)
        run = replace(
            about, failed=outcome.failed, reason=self.redact(outcome.reason), seconds=outcome.seconds,
            cost_usd=outcome.cost_usd, unpriced=outcome.unpriced, tokens=outcome.tokens,
        )  # fmt: skip
        return Made(run, counts)
