"""What pass rates say, and what they do not: the typed face of the core's statistics.

Pure. Subjects of all of this are invocations, or one cell of each, and never several cells of one
invocation: those share its traffic. Sources stand with the formulas in `faultwire._core`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from math import asin, ceil, log, sin, sqrt
from typing import TYPE_CHECKING, Literal

from faultwire import _core
from faultwire.contract.score import CONFIDENCE, Rate
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Method = Literal["jeffreys", "wilson", "clopper_pearson"]
Sample = Mapping[Hashable, bool] | tuple[int, int]
"""Pass or fail by subject, or `(passed, total)`."""
ALPHA = 1 - CONFIDENCE
POWER = 0.8
"""The power: how often a drop that is called detectable must be found."""
LARGEST = 1000
"""Runs of one sample for which Boschloo's test is affordable; beyond, the interval decides."""
MOST_RUNS = 500
"""The upper bound of `--until`, where none is given."""

_INTERVALS = {
    "jeffreys": _core.jeffreys_interval,
    "wilson": _core.wilson_interval,
    "clopper_pearson": _core.clopper_pearson_interval,
}


@dataclass(frozen=True, slots=True)
class Measured(Rate):
    """A rate, and the method by which its interval was found."""

    method: Method = "jeffreys"


def rate(passed: int, total: int, method: Method = "jeffreys", confidence: float = CONFIDENCE) -> Measured:
    """A pass rate with the interval of a method. Raises ValueError for counts that are none."""
    low, high = _INTERVALS[method](passed, total, confidence)
    return Measured(passed, total, low, high, confidence, method)


# ---------------------------------------------------------------- k passes in a row


@dataclass(frozen=True, slots=True)
class Streak:
    """pass^k: the chance that `k` invocations in a row all pass.

    `value` is the unbiased estimate, None for fewer than k runs; `at_least` is what the runs support.
    """

    k: int
    value: float | None
    at_least: float
    confidence: float = CONFIDENCE


def streak(passed: int, total: int, k: int, confidence: float = CONFIDENCE) -> Streak:
    """pass^k of so many runs. Raises ValueError for counts that are none, and k = 0."""
    value = _core.pass_hat(passed, total, k)
    return Streak(k, value, _core.pass_bound(passed, total, k, confidence), confidence)


# ---------------------------------------------------------------- two runs


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pass rate of one run minus that of an earlier one.

    The verdict is `significant` only if the p-value, adjusted for all comparisons made at once, is below
    the level; `not significant` does not mean that there is no difference.
    """

    difference: float | None
    low: float
    high: float
    p_value: float | None
    test: Literal["mcnemar", "boschloo", "interval", "none"]
    verdict: Literal["significant", "not significant"]
    pairs: int = 0
    """Subjects that both runs share; 0 where the samples are independent."""
    family: int = 1
    """How many comparisons the p-value and the interval are adjusted for."""


def compare(now: Sample, before: Sample, confidence: float = CONFIDENCE) -> Comparison:
    """Compare two runs: pass or fail by subject, else `(passed, total)`.

    With the same subjects in both it is McNemar's exact test over those that both judged; otherwise
    Boschloo's. Pairs must be real: what happened to a subject in one run says something of the other. The
    third repeat of a prompt has nothing to do with its third repeat in another run, so several repeats are
    counts. Raises ValueError for counts that are none.
    """
    if not isinstance(now, tuple) and not isinstance(before, tuple):
        shared = now.keys() & before.keys()
        if shared:
            return _paired([(now[subject], before[subject]) for subject in shared], confidence)
    return _independent(_counted(now), _counted(before), confidence)


def compare_all(
    samples: Sequence[tuple[Sample, Sample]], confidence: float = CONFIDENCE
) -> tuple[Comparison, ...]:
    """Compare pairs of runs at once, each `(now, before)` as in `compare`.

    P-values are adjusted (Holm), so that the chance of any false alarm among them is below the level; the
    intervals hold the true differences all at once with the confidence (Bonferroni).
    """
    found = [compare(now, before, confidence) for now, before in samples]
    tested = [(at, one.p_value) for at, one in enumerate(found) if one.p_value is not None]
    family = sum(one.test != "none" for one in found)
    adjusted = dict(zip((at for at, _ in tested), _core.holm([p for _, p in tested]), strict=True))
    wide = found
    if family > 1:
        each = 1 - (1 - confidence) / family
        wide = [compare(now, before, each) for now, before in samples]
    return tuple(
        _in_family(one, broad, adjusted.get(at), family, confidence)
        for at, (one, broad) in enumerate(zip(found, wide, strict=True))
    )


def _in_family(
    one: Comparison, broad: Comparison, p: float | None, family: int, confidence: float
) -> Comparison:
    """A comparison with the interval and p-value that it has among the others."""
    if one.test == "none":
        return one
    shown = p < 1 - confidence if p is not None else broad.verdict == "significant"
    return replace(
        one,
        low=broad.low,
        high=broad.high,
        p_value=p,
        verdict="significant" if shown else "not significant",
        family=family,
    )


def suspects(p_values: Sequence[float], share: float = ALPHA) -> tuple[bool, ...]:
    """Which of many to list, so that about `share` of those listed are false alarms (Benjamini-Hochberg)."""
    return tuple(p <= share for p in _core.benjamini_hochberg(list(p_values)))


def _paired(pairs: Sequence[tuple[bool, bool]], confidence: float) -> Comparison:
    both, first, second = pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True))
    low, high = _core.newcombe_paired_interval(
        both, first, second, len(pairs) - both - first - second, confidence
    )
    p = _core.mcnemar(first, second)
    shown = p < 1 - confidence
    difference = (first - second) / len(pairs)
    return Comparison(
        difference, low, high, p, "mcnemar", "significant" if shown else "not significant", len(pairs)
    )


def _independent(now: tuple[int, int], before: tuple[int, int], confidence: float) -> Comparison:
    low, high = _core.newcombe_interval(now, before, confidence)
    if not now[1] or not before[1]:
        return Comparison(None, low, high, None, "none", "not significant")
    difference = now[0] / now[1] - before[0] / before[1]
    if max(now[1], before[1]) > LARGEST:
        shown = not low <= 0 <= high
        return Comparison(
            difference, low, high, None, "interval", "significant" if shown else "not significant"
        )
    p = _core.boschloo_test(now, before)
    return Comparison(
        difference, low, high, p, "boschloo", "significant" if p < 1 - confidence else "not significant"
    )


def _counted(sample: Mapping[Hashable, bool] | tuple[int, int]) -> tuple[int, int]:
    return sample if isinstance(sample, tuple) else (sum(sample.values()), len(sample))


# ---------------------------------------------------------------- before a run

_REACH = 1.959964 + 0.841621
"""Quantiles of the normal distribution: two-sided at 5 %, and a power of 80 %."""


def findable(rate: float, total: int) -> float:
    """The highest pass rate that so many invocations in each of two runs tell from a `rate`, four times in
    five (arcsine transformation: Cohen 1988, Statistical Power Analysis, 6.2)."""
    angle = asin(sqrt(rate)) - _REACH / sqrt(2 * max(1, total))
    return sin(max(0.0, angle)) ** 2


def needed(rate: float, lower: float) -> int:
    """How many invocations each of two runs needs to tell a `lower` pass rate from a `rate`, four times in
    five; the same approximation."""
    return ceil((_REACH / (asin(sqrt(rate)) - asin(sqrt(lower)))) ** 2 / 2)


# ---------------------------------------------------------------- repeats


def is_flaky(verdicts: Sequence[str]) -> bool:
    """Did repeats of one cell disagree? Unknown ones say nothing."""
    return "pass" in verdicts and "fail" in verdicts


Decision = Literal["good", "bad", "open", "exhausted"]


@dataclass(frozen=True, slots=True)
class Until:
    """When to stop repeating: as soon as the runs decide between a bad and a good pass rate.

    May be asked after every run. `alpha` bounds how often a rate of at most `bad` is called good, `beta`
    how often one of at least `good` is called bad; after `most` runs it is `exhausted`, which is neither.
    Of several cells each must get its share of both: `shared` divides them.
    """

    bad: float = 0.5
    good: float = 0.9
    alpha: float = ALPHA
    beta: float = ALPHA
    most: int = MOST_RUNS

    def __post_init__(self) -> None:
        if not 0 < self.bad < self.good < 1:
            raise UsageError(f"found rates {self.bad:g} and {self.good:g}, expected 0 < bad < good < 1")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise UsageError(
                f"found levels {self.alpha:g} and {self.beta:g}, expected both between 0 and 0.5"
            )
        if self.most < 1:
            raise UsageError(f"found at most {self.most} runs, expected at least 1")

    def shared(self, cells: int) -> Until:
        """The same for each of several cells, so that the chance of any false word stays below the levels."""
        count = max(1, cells)
        return Until(self.bad, self.good, self.alpha / count, self.beta / count, self.most)

    def decide(self, passed: int, total: int) -> Decision:
        """What the runs so far say."""
        decision = _core.sprt(passed, total, self.bad, self.good, self.alpha, self.beta)
        if decision == "good":
            return "good"
        if decision == "bad":
            return "bad"
        return "exhausted" if total >= self.most else "open"


def evidence_against(passed: int, total: int, claimed: float, alpha: float = ALPHA) -> bool:
    """Do the runs refute that the pass rate is `claimed`? Valid however often one looks (e-process)."""
    return _core.ln_evidence(passed, total, claimed) >= -log(alpha)


def running_interval(passed: int, total: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """An interval of the pass rate that holds at all looks at once, for progress lines."""
    return _core.confidence_sequence(passed, total, confidence)
