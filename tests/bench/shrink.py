"""`python -m tests.bench.shrink [--cases N] [--seed N]`: planted causes among faults, found by `shrink`.

A simulated agent fails with probability `rate` where all culprits fire, and never without. Beside it: ddmin,
and leaving out one fault after the other, each with every candidate repeated until it is decided.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log
from statistics import median

from faultwire.dice import unit
from faultwire.shrink.search import Candidate, Search

SIZES = (12, 24, 40, 64)
CULPRITS = (1, 2, 3)
RATES = (0.5, 0.7, 0.85, 1.0)
LIMITS = {0.5: 160}
LIMIT = 110
"""Runs within which the exact set must be found."""
TARGETS = {0.5: 0.95}
TARGET = 0.98


class OutOfRuns(Exception):
    """The budget is spent."""


@dataclass
class Agent:
    """The simulated one: what it does depends on the seed and on how often it was run."""

    seed: int
    size: int
    rate: float
    culprits: Candidate
    limit: int
    runs: int = 0

    @classmethod
    def planted(cls, seed: int, size: int, count: int, rate: float, limit: int) -> Agent:
        by_chance = sorted(range(size), key=lambda one: unit(seed, "bench", "plant", str(one), count))
        return cls(seed, size, rate, frozenset(by_chance[:count]), limit)

    def fails(self, candidate: Candidate) -> bool:
        if self.runs >= self.limit:
            raise OutOfRuns
        self.runs += 1
        rolled = unit(self.seed, "bench", "run", str(self.runs), self.size) < self.rate
        return rolled and self.culprits <= candidate


def shrink(agent: Agent) -> Candidate:
    search = Search(agent.size, seed=agent.seed)
    while (candidate := search.candidate()) is not None:
        search.record(candidate, agent.fails(candidate))
    return search.smallest


def repeated(agent: Agent, candidate: Candidate) -> bool:
    """For the baselines, which are told the rate: run until it fails, or a failure of it is 5 % likely."""
    tries = 1 if agent.rate == 1 else ceil(log(0.05) / log(1 - agent.rate))
    return any(agent.fails(candidate) for _ in range(tries))


def ddmin(agent: Agent) -> Candidate:
    """Zeller and Hildebrandt 2002, figure 4."""
    left, parts = list(range(agent.size)), 2
    while len(left) > 1:
        step = ceil(len(left) / parts)
        pieces = [left[at : at + step] for at in range(0, len(left), step)]
        rests = [[one for one in left if one not in piece] for piece in pieces] if parts > 2 else []
        for smaller, then in [
            *((piece, 2) for piece in pieces),
            *((rest, max(parts - 1, 2)) for rest in rests),
        ]:
            if repeated(agent, frozenset(smaller)):
                left, parts = list(smaller), then
                break
        else:
            if parts >= len(left):
                break
            parts = min(len(left), parts * 2)
    return frozenset(left)


def one_by_one(agent: Agent) -> Candidate:
    left = frozenset(range(agent.size))
    for one in range(agent.size):
        if repeated(agent, left - {one}):
            left -= {one}
    return left


WAYS: dict[str, Callable[[Agent], Candidate]] = {"shrink": shrink, "ddmin": ddmin, "one by one": one_by_one}


@dataclass(frozen=True)
class Found:
    """What one way did on the cases of one rate."""

    way: str
    rate: float
    exact: float
    runs: float
    most: int


def measured(way: str, rate: float, cases: int, seed: int) -> Found:
    limit, exact, runs = LIMITS.get(rate, LIMIT), 0, []
    for case in range(cases):
        size, count = SIZES[case % len(SIZES)], CULPRITS[case // len(SIZES) % len(CULPRITS)]
        agent = Agent.planted(seed * 1_000_003 + case, size, count, rate, limit)
        with suppress(OutOfRuns):
            exact += WAYS[way](agent) == agent.culprits
        runs.append(agent.runs)
    return Found(way, rate, exact / cases, median(runs), max(runs))


def table(cases: int, seed: int) -> Iterator[Found]:
    for rate in RATES:
        for way in WAYS:
            yield measured(way, rate, cases, seed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shrink")
    parser.add_argument("--cases", type=int, default=240, help="cases of each rate")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| rate | way | exact | runs, median | runs, most |\n|---|---|---|---|---|")
    missed = False
    for one in table(given.cases, given.seed):
        print(f"| {one.rate:g} | {one.way} | {one.exact:.1%} | {one.runs:g} | {one.most} |", flush=True)
        missed |= one.way == "shrink" and one.exact < TARGETS.get(one.rate, TARGET)
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
