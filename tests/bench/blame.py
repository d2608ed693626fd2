"""`python -m tests.bench.blame [--cases N] [--seed N] [--kind K] [--steps FROM TO]`: planted causes.

They are found by `blame`. An agent of 8 to 50 steps fails in .7 to 1 of its runs with the cause and in 0 to
.1 without. Kinds: a *single* step; a *pair* that is needed together; *either* of two; a *late* symptom, whose
cause lies in the first third and whose effect shows at the end, where all that happens in between goes wrong
as well; and *clean* agents without a cause among their steps, which fail hardly ever or in any case. Beside
it: what simple rules name.

All intervals of one agent rest on the same runs of the whole and of the calm run, and so they miss together:
the coverage of a few agents says little, and its standard error is that of the agents' own shares.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import sqrt
from statistics import median, stdev

from faultwire.blame.design import Design
from faultwire.blame.findings import blame_weights, findings, ranked
from faultwire.blame.rates import Coalition, estimate
from faultwire.dice import unit

KINDS = ("single", "pair", "late", "either", "clean")
TARGETS = {"single": 0.95, "late": 0.95, "pair": 0.90, "either": 0.90, "clean": 0.95}
"""Share of agents of which exactly the planted steps are named (of single and late ones, first)."""
COVERAGE = (0.93, 0.97)
RUNS_A_STEP = 15
STEPS = (8, 50)
"""Of the agents, from and to."""


@dataclass
class Agent:
    """The simulated one: what it does depends on the seed and on how often it was run."""

    seed: int
    kind: str
    size: int
    causes: Coalition
    with_cause: float
    without: float
    runs: int = 0
    first_fault: int = 0

    @classmethod
    def planted(cls, seed: int, kind: str, steps: tuple[int, int] = STEPS) -> Agent:
        def drawn(name: str, n: int = 0) -> float:
            return unit(seed, "bench", kind, name, n)

        size = steps[0] + int(drawn("size") * (steps[1] - steps[0] + 1))
        order = sorted(range(size), key=lambda one: drawn("plant", one))
        early = [one for one in order if one < max(1, size // 3)]
        causes = {"single": order[:1], "late": early[:1], "pair": order[:2], "either": order[:2], "clean": []}
        rate, noise = 0.7 + 0.3 * drawn("rate"), 0.1 * drawn("noise")
        if kind == "clean":
            rate = noise = noise if drawn("how") < 0.5 else rate
        # Something went wrong in many steps, and mostly without an effect.
        wrong = [one for one in range(size) if one in causes[kind] or drawn("wrong", one) < 0.4]
        return cls(seed, kind, size, frozenset(causes[kind]), rate, noise, first_fault=min(wrong, default=0))

    def rate(self, coalition: Coalition) -> float:
        """How often a run with these steps as in the failed run fails."""
        either = self.kind == "either"
        reached = bool(self.causes & coalition) if either else self.causes <= coalition
        return self.with_cause if reached else self.without

    def fails(self, coalition: Coalition) -> bool:
        self.runs += 1
        return unit(self.seed, "bench", self.kind, "run", self.runs) < self.rate(coalition)


@dataclass
class Found:
    """What came of the agents of one kind."""

    kind: str
    agents: int = 0
    right: int = 0
    top: int = 0
    falsely: int = 0
    covered: list[bool] = field(default_factory=list)
    covered_causes: list[bool] = field(default_factory=list)
    covered_of_agents: list[float] = field(default_factory=list)
    """The share of each agent."""
    runs_a_step: list[float] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)

    @property
    def exact(self) -> float:
        return self.right / self.agents

    def coverage(self, values: list[bool]) -> float | None:
        return sum(values) / len(values) if values else None

    @property
    def coverage_error(self) -> float | None:
        """The standard error of the coverage, by agents."""
        shares = self.covered_of_agents
        return stdev(shares) / sqrt(len(shares)) if len(shares) > 1 else None

    @property
    def missed(self) -> bool:
        """Is a target missed?"""
        share = self.top / self.agents if self.kind in ("single", "late") else self.exact
        covered = self.coverage(self.covered)
        outside = covered is not None and not COVERAGE[0] <= covered <= COVERAGE[1]
        return share < TARGETS[self.kind] or outside or median(self.runs_a_step) > RUNS_A_STEP


RULES: dict[str, Callable[[Agent], Callable[[int], bool]]] = {
    "first step": lambda agent: lambda step: step == 0,
    "last step": lambda agent: lambda step: step == agent.size - 1,
    "first fault": lambda agent: lambda step: step == agent.first_fault,
}


def judged(agent: Agent, found: Found) -> None:
    """Run blame on an agent, and count what it says."""
    design = Design(agent.size, seed=agent.seed)
    while (coalition := design.candidate()) is not None:
        design.record(coalition, agent.fails(coalition))
    blamed = [one.part for one in ranked(findings(design))]
    found.agents += 1
    found.right += frozenset(blamed) == agent.causes
    found.top += bool(blamed) and blamed[0] in agent.causes
    found.falsely += bool(frozenset(blamed) - agent.causes)
    found.runs_a_step.append(design.trials / agent.size)
    if design.state == "found":
        before = len(found.covered)
        for part in range(agent.size):
            weights = blame_weights(design, part)
            truth = sum(weight * agent.rate(one) for one, weight in weights.items())
            covers = estimate(weights, design.counts).covers(truth)
            found.covered.append(covers)
            if part in agent.causes:
                found.covered_causes.append(covers)
        found.covered_of_agents.append(sum(found.covered[before:]) / agent.size)


def measured(kind: str, cases: int, seed: int, steps: tuple[int, int] = STEPS) -> Found:
    """All agents of one kind."""
    found = Found(kind)
    agents = [Agent.planted(seed * 1_000_003 + case, kind, steps) for case in range(cases)]
    for agent in agents:
        judged(agent, found)
    if kind != "clean":
        found.baselines = {
            name: sum(any(rule(agent)(one) for one in agent.causes) for agent in agents) / cases
            for name, rule in RULES.items()
        }
        found.baselines["random"] = sum(len(agent.causes) / agent.size for agent in agents) / cases
    return found


def table(
    cases: int, seed: int, kinds: tuple[str, ...] = KINDS, steps: tuple[int, int] = STEPS
) -> Iterator[Found]:
    for kind in kinds:
        yield measured(kind, cases, seed, steps)


def row(one: Found) -> str:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.1%}"

    named = one.top / one.agents if one.kind != "clean" else None
    error = "" if one.coverage_error is None else f" ± {one.coverage_error:.1%}"
    covered = share(one.coverage(one.covered)) + error, share(one.coverage(one.covered_causes))
    rules = [share(one.baselines.get(name)) for name in ("random", "first step", "last step", "first fault")]
    cells = [one.kind, share(named), share(one.exact), share(one.falsely / one.agents), *covered]
    return f"| {' | '.join([*cells, f'{median(one.runs_a_step):.1f}', *rules])} |"


HEAD = (
    "| planted | a cause comes first | exactly these | false blame | coverage | of the causes | runs a step, "
    "median | random | first step | last step | first fault |\n" + "|---" * 11 + "|"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.blame")
    parser.add_argument("--cases", type=int, default=200, help="agents of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="of these only")
    parser.add_argument(
        "--steps", type=int, nargs=2, default=STEPS, metavar=("FROM", "TO"), help="of an agent"
    )
    given = parser.parse_args()
    print(HEAD)
    missed = False
    for one in table(given.cases, given.seed, tuple(given.kind or KINDS), tuple(given.steps)):
        print(row(one), flush=True)
        missed |= one.missed
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
