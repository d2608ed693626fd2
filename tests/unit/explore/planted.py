"""Runs of a search over an agent that is generated with planted failures, made by whoever a test likes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.bench import explore as bench

from faultwire.explore.execute import Executor
from faultwire.explore.journal import Journal
from faultwire.explore.made import Ask, Made
from faultwire.explore.players import Player
from faultwire.explore.search import Explorer, Result
from faultwire.profile.load import parse
from faultwire.profile.model import Profile
from faultwire.trials.model import Tokens
from faultwire.trials.series import Budget

ENTRY = parse("faults: [{status: {code: 503}}]", "p.yaml").entries[0]
PROFILE = Profile(name="p", entries=tuple(ENTRY.model_copy(update={"id": one}) for one in bench.FAULTS))


def maker(agent: bench.Agent) -> Callable[[Ask], Made]:
    """Runs of an agent: 10 tokens and a cent for each call."""

    def make(ask: Ask) -> Made:
        seen = agent.run(ask.faults, record=ask.lineage).observed(lineage=ask.lineage)
        calls = len(seen.calls)
        run = replace(seen, tokens=Tokens(10 * calls), cost_usd=calls / 100)
        return Made(run, {point: point.call.number for point in run.points})

    return make


@dataclass
class Eager:
    """A player that makes up to so many runs ahead, in any order."""

    make: Callable[[Ask], Made]
    window: int
    chance: random.Random
    made: dict[str, Made] = field(default_factory=dict)

    def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Callable[[Ask, Made], None]) -> Made:
        asks = [wanted, *ahead[: self.window - 1]]
        self.chance.shuffle(asks)
        for ask in asks:
            if ask.key not in self.made:
                self.made[ask.key] = self.make(ask)
                arrived(ask, self.made[ask.key])
        return self.made[wanted.key]

    def close(self) -> None:
        pass

    @property
    def tokens(self) -> list[int]:
        return [made.run.tokens.count for made in self.made.values()]


def search(path: Path, player: Player, budget: Budget) -> tuple[Result, Executor]:
    journal = Journal(path, "about")
    executor = Executor(PROFILE, 7, budget, journal, player)
    try:
        return Explorer(executor.run_many, seed=7).explore(), executor
    finally:
        journal.close()
        player.close()
