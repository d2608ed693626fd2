"""One search for the parts that made a run fail: a design, its trials, and what is known at the end.

Without a socket or a clock: `attempt` runs a trial, and time and cost come with its outcome.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire._core import sha256_hex
from faultwire.blame.design import Design
from faultwire.trials.series import Budget, OutOfBudget, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.blame.parts import Part
    from faultwire.blame.rates import Coalition
    from faultwire.trials.journal import Journal
    from faultwire.trials.model import Outcome

Ended = Literal["found", "budget", "interrupted", "not_reproduced", "no_difference", "undecidable"]


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

    def __post_init__(self) -> None:
        """Start with what the journal holds."""
        self.series = Series(self.journal, self.budget)

    def run(self) -> Ended:
        """All stages; a budget or Ctrl-C ends it with what is known. Raises UsageError if the state file does
        not fit."""
        try:
            while (coalition := self.design.candidate()) is not None:
                self._try(coalition)
        except OutOfBudget:
            self.ended = "budget"
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
        self.design.record(coalition, outcome.failed)
        self.progress(self, coalition, outcome)

    def key(self, coalition: Coalition) -> str:
        """The coalition's name in the state file, which holds no texts."""
        held = [self.parts[at].identity for at in sorted(coalition)]
        return sha256_hex(json.dumps(held).encode())
