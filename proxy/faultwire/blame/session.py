"""One search for the parts that made a run fail: a design, its trials, and what is known at the end.

Without a socket or a clock: `attempt` runs a trial, and time and cost come with its outcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from faultwire._core import sha256_hex
from faultwire.blame.design import Design, usual_runs
from faultwire.blame.findings import findings, ranked
from faultwire.blame.inside import GROUPS, Inside
from faultwire.trials.series import Budget, Limit, OutOfBudget, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.blame.parts import Part
    from faultwire.blame.pieces import Pieces
    from faultwire.blame.rates import Coalition
    from faultwire.trials.journal import Journal
    from faultwire.trials.model import Outcome

TAKEN_APART = 3
"""Blamed parts whose answers are taken apart, the first ones."""
Ended = Literal["found", "budget", "interrupted", "not_reproduced", "no_difference", "undecidable"]


@dataclass(frozen=True, slots=True)
class Splitting:
    """How the answer of a part is taken apart: its `pieces`, or why it is one; and `attempt`, which runs the
    agent with these pieces of it as in the failed run, and the other parts as in the failed run or not.
    `free`: its runs do not count against the budget of the parts."""

    pieces: Callable[[int], Pieces | str]
    attempt: Callable[[Inside, frozenset[int]], Outcome]
    free: bool = True


@dataclass
class Blaming:
    """`attempt` runs the agent with these parts as in the failed run. `progress` is called after each
    trial."""

    parts: Sequence[Part]
    attempt: Callable[[Coalition], Outcome]
    journal: Journal
    budget: Budget
    design: Design
    progress: Callable[[Blaming, Coalition, Outcome], None] = lambda *_: None
    ended: Ended = "found"
    limit: Limit = "runs"
    """What of the budget ended it, where one did."""
    splitting: Splitting | None = None
    inside: dict[int, Inside] = field(default_factory=dict)
    """What was found in the answers of blamed parts."""
    taken_apart: Inside | None = None
    """The last one of these."""
    whole: dict[int, str] = field(default_factory=dict)
    """Why the answers of other blamed parts were not taken apart."""

    def __post_init__(self) -> None:
        """Start with what the journal holds."""
        self.series = Series(self.journal, self.budget)

    def run(self) -> Ended:
        """All stages; a budget or Ctrl-C ends it with what is known. Raises UsageError if the state file does
        not fit."""
        try:
            while (coalition := self.design.candidate()) is not None:
                self._try(coalition)
            self._take_apart()
        except OutOfBudget as out:
            self.ended, self.limit = "budget", out.limit
            return self.ended
        except KeyboardInterrupt:
            self.ended = "interrupted"
            return self.ended
        state = self.design.state
        assert state != "running"
        self.ended = state
        return self.ended

    def _try(self, coalition: Coalition) -> None:
        outcome = self.series.outcome(self.key(coalition), lambda: self.attempt(coalition))
        self.design.record(coalition, outcome.failed, outcome.digest)
        self.progress(self, coalition, outcome)

    def _take_apart(self) -> None:
        if self.splitting is None or self.design.state != "found":
            return
        blamed = ranked(findings(self.design))
        for one in blamed[TAKEN_APART:]:
            self.whole[one.part] = f"only the first {TAKEN_APART} are taken apart"
        for one in blamed[:TAKEN_APART]:
            pieces = self.splitting.pieces(one.part)
            if isinstance(pieces, str):
                self.whole[one.part] = pieces
                continue
            made = Inside(one.part, pieces, one.verdict, self.design.error, self.design.seed)
            self.inside[one.part] = made
            self._inside(made, self.splitting)

    def _inside(self, made: Inside, splitting: Splitting) -> None:
        if splitting.free:
            runs = self.series.runs + 4 * usual_runs(min(GROUPS, len(made.pieces.pieces)))
            self.series.budget = replace(self.series.budget, runs=runs)
        self.taken_apart = made
        while (pieces := made.candidate()) is not None:
            key = sha256_hex(json.dumps([self.parts[made.part].identity, sorted(pieces)]).encode())
            outcome = self.series.outcome(key, lambda held=pieces: splitting.attempt(made, held))  # type: ignore[misc]
            made.record(outcome.failed, outcome.digest)
            self.progress(self, pieces, outcome)

    def runs_left(self) -> int:
        """About how many runs the rest takes; a planning figure, no promise."""
        return self.design.runs_left() + sum(one.runs_left() for one in self.inside.values())

    def key(self, coalition: Coalition) -> str:
        """The coalition's name in the state file, which holds no texts."""
        held = [self.parts[at].identity for at in sorted(coalition)]
        return sha256_hex(json.dumps(held).encode())
