"""Causes that are planted on purpose, and how well a search finds them again.

A planted oracle knows the truth: it says `fails` of a run in which the planted decisions reached the agent,
in a share of `rate` of these runs, and of other runs in a share of `noise`. What is examined is everything
between: that decisions fire on this agent where they are pinned, that its calls are told apart, and what the
statistics make of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from faultwire.blame.findings import blame_weights, findings, ranked
from faultwire.blame.rates import estimate
from faultwire.dice import unit
from faultwire.trials.pins import pins_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.blame.design import Design
    from faultwire.blame.rates import Coalition
    from faultwire.events import History
    from faultwire.trials.model import Pin

PlantKind = Literal["single", "pair", "late", "none"]
KINDS: tuple[PlantKind, ...] = ("single", "pair", "late", "none")


@dataclass(frozen=True, slots=True)
class Plant:
    """One planted truth: the parts that are needed together, and how often a run fails with them and without.
    `late`: the cause is in the first third, and everything after it is broken as well."""

    kind: PlantKind
    causes: Coalition
    rate: float
    noise: float
    seed: int

    def chance(self, coalition: Coalition) -> float:
        """How often a run with these parts as in the failed run fails."""
        return self.rate if self.kind != "none" and self.causes <= coalition else self.noise


def plants(size: int, cases: int, seed: int) -> list[Plant]:
    """`cases` of each kind among the parts of a run; pairs only where there are two."""
    found: list[Plant] = []
    for kind in KINDS:
        for case in range(cases if kind != "pair" or size > 1 else 0):
            chosen = sorted(range(size), key=lambda one: unit(seed, "validate", kind, str(one), case))
            early = [one for one in chosen if one < max(1, size // 3)]
            causes = {"single": chosen[:1], "pair": chosen[:2], "late": early[:1], "none": []}[kind]
            rate, noise = (unit(seed, "validate", kind, name, case) for name in ("rate", "noise"))
            truth = 0.7 + 0.3 * rate, 0.1 * noise
            found.append(Plant(kind, frozenset(causes), *truth, seed=seed * 1_000 + len(found)))
    return found


def simple_rules(plant: Plant, exchanges: Sequence[int], calls: int) -> dict[str, float]:
    """How often rules that run nothing name a planted part: `exchanges` are those of the parts, by number, of
    a run of so many `calls`."""
    causes = {exchanges[part] for part in plant.causes}
    return {
        "random": len(causes) / calls,
        "first step": float(1 in causes),
        "last step": float(calls in causes),
        "first fault": float(min(exchanges) in causes),
    }


@dataclass
class PlantedOracle:
    """Judges runs by what is planted; each run has a roll of its own."""

    plant: Plant
    pins: tuple[Pin, ...]
    judged: int = 0

    @property
    def description(self) -> str:
        """In words."""
        return f"a planted cause ({self.plant.kind})"

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Did the planted decisions reach the agent, and does it fail of that this time?"""
        fired = frozenset(pins_of(history.exchanges))
        held = frozenset(at for at, pin in enumerate(self.pins) if pin in fired)
        self.judged += 1
        rolled = unit(self.plant.seed, "validate", "run", self.plant.kind, self.judged)
        return rolled < self.plant.chance(held), "the planted cause"


@dataclass
class Found:
    """What a search made of all plants of one kind."""

    kind: PlantKind
    cases: int = 0
    first: int = 0
    """Plants of which the first that is blamed is a cause."""
    exact: int = 0
    falsely: int = 0
    covered: list[bool] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    shrunk: int = 0
    shrink_runs: list[int] = field(default_factory=list)
    simple: list[dict[str, float]] = field(default_factory=list)
    """What `simple_rules` says of each plant that has a cause."""

    def add(self, plant: Plant, design: Design) -> None:
        """Count what blame says of a plant."""
        blamed = [one.part for one in ranked(findings(design))]
        self.cases += 1
        self.first += bool(blamed) and blamed[0] in plant.causes
        self.exact += frozenset(blamed) == plant.causes
        self.falsely += bool(frozenset(blamed) - plant.causes)
        self.runs.append(design.trials)
        if design.state == "found":
            for part in range(design.size):
                weights = blame_weights(design, part)
                truth = sum(weight * plant.chance(one) for one, weight in weights.items())
                self.covered.append(estimate(weights, design.counts).covers(truth))

    def add_shrunk(self, plant: Plant, smallest: Coalition, runs: int) -> None:
        """Count what shrink says of it."""
        self.shrunk += smallest == plant.causes
        self.shrink_runs.append(runs)


@dataclass(frozen=True, slots=True)
class Bars:
    """What `--check` asks for: shares of 0 to 1."""

    first: float = 0.95
    pair: float = 0.90
    coverage: float = 0.90
    falsely: float = 0.05

    def missed(self, found: Sequence[Found]) -> list[str]:
        """Each bar that is missed, in words; a kind without a case misses none."""
        out = []
        for one in found:
            if one.cases and one.kind in ("single", "late") and one.first < self.first * one.cases:
                out.append(f"{one.kind}: the cause came first in {one.first} of {one.cases}")
            if one.cases and one.kind == "pair" and one.exact < self.pair * one.cases:
                out.append(f"pair: both were found in {one.exact} of {one.cases}")
        cases, falsely = sum(one.cases for one in found), sum(one.falsely for one in found)
        if falsely > self.falsely * cases:
            out.append(f"something else was blamed in {falsely} of {cases}")
        covered = [one for kind in found for one in kind.covered]
        if covered and sum(covered) < self.coverage * len(covered):
            out.append(f"{sum(covered)} of {len(covered)} intervals cover the truth")
        return out
