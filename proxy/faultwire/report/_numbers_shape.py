"""The shape of a report's numbers: models of its statistics, mutations, comparison and trend."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from faultwire.report._exchange_shape import Count, Part, Severity, Share, Verdict


class PassK(Part):
    """The chance that k invocations in a row pass: estimated, and what the runs support at least."""

    k: int
    value: Share | None
    at_least: Share


class Compared(Part):
    """A difference of two pass rates. `significant` only if the adjusted p-value is below the level. The
    p-value and the interval are adjusted for a `family` of so many comparisons."""

    difference: float | None
    low: float
    high: float
    p_value: Share | None
    test: Literal["mcnemar", "boschloo", "interval", "none"]
    verdict: Literal["significant", "not significant"]
    pairs: Count
    family: Count = 1


class Rated(Part):
    """A pass rate with its interval."""

    passed: Count
    total: Count
    rate: Share | None
    low: Share
    high: Share
    unknown: Count


class ScenarioRate(Rated):
    """Invocations of a scenario that passed all checks."""

    scenario: str
    pass_k: PassK
    flaky: Count
    against_calm: Compared | None


class SquareRate(Rated):
    """An invariant in a scenario; `listed` if its rate is lower than in calm."""

    invariant: str
    scenario: str
    severity: Severity
    pass_k: PassK
    listed: bool


class Flaky(Part):
    """A cell whose repeats have different verdicts."""

    invariant: str
    scenario: str
    prompt: str
    passed: Count
    failed: Count


class Decided(Part):
    """What the runs of a scenario with a prompt decided on its pass rate; `exhausted`: nothing, after the
    most runs that were allowed."""

    scenario: str
    prompt: str
    decision: Literal["good", "bad", "open", "exhausted"]


class Statistics(Part):
    """The statistics of the pass rates."""

    confidence: Share
    method: str
    k: int
    calm: str | None
    false_share: Share
    scenarios: list[ScenarioRate]
    squares: list[SquareRate]
    flaky: list[Flaky]
    flaky_count: Count
    broken: Annotated[list[Flaky], Field(default_factory=list)]
    broken_count: Count = 0
    decisions: list[Decided]


class MutationType(Rated):
    """What became of prompts that one type of mutation made."""

    type: str
    weight: float


class Mutations(Rated):
    """Results on mutated prompts; robustness is Σ(w passed)/Σ(w)."""

    robustness: Share | None
    types: list[MutationType]
    notes: list[str]


class Side(Part):
    """One of two samples."""

    passed: Count
    total: Count


class Overall(Compared):
    """This run's invocations against those of the earlier one."""

    now: Side
    before: Side


class ScenarioCompared(Overall):
    """The same in one scenario; `profile_changed` if its faults differ."""

    scenario: str
    profile_changed: bool


class Before(Part):
    """The earlier run."""

    id: str
    started_at: str
    seed: int
    ledger: str
    score: float | None
    gate: Verdict


class Turned(Part):
    """A cell with another verdict."""

    invariant: str
    invocation: str


class Comparison(Part):
    """This run compared with an earlier one."""

    before: Before
    same_seed: bool
    confidence: Share
    overall: Overall
    scenarios: list[ScenarioCompared]
    only_now: list[str]
    only_before: list[str]
    worse: list[Turned]
    worse_count: Count
    better: list[Turned]
    better_count: Count


class TrendRun(Part):
    """A run that can be compared."""

    id: str
    started_at: str
    score: float | None
    gate: Verdict
    seed: int | None


class Trend(Part):
    """Runs of the same configuration, agent and profiles, oldest first, and how many others were left out by
    what differs."""

    runs: list[TrendRun]
    runs_not_shown: Count
    left_out: Annotated[dict[str, Count], Field(default_factory=dict)]
