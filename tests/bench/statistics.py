"""`python -m tests.bench.statistics [--quick] [--seed N]`: do the statistics keep what they promise?

Coverage of the intervals and the level of single tests are sums over all outcomes, exact to rounding.
What depends on the order of runs, or on many cells at once, is simulated; the share of false alarms then
has an interval of its own (Clopper-Pearson). Every null matrix has cells without any effect, so whatever is
called an effect in it is a false alarm.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import comb, exp

import numpy as np

from faultwire import _core
from faultwire.contract import statistics as ours

LEVEL = 0.05
GRID = tuple(at / 100 for at in range(1, 100))
SIZES = (5, 10, 20, 50, 100)
METHODS: tuple[ours.Method, ...] = ("jeffreys", "wilson", "clopper_pearson")
CELLS = 20
"""Of a null matrix: five invariants in four scenarios."""
MATRICES = {False: 20_000, True: 320}
LOOKS = 60


@dataclass(frozen=True)
class Row:
    """A figure: what, in which case, the value, its interval where it is simulated, and what it may be."""

    what: str
    case: str
    value: float
    low: float | None = None
    high: float | None = None
    bound: str = ""
    holds: bool = True

    def __str__(self) -> str:
        between = "" if self.low is None else f"{self.low:.4f}–{self.high:.4f}"
        word = "" if not self.bound else "holds" if self.holds else "SHORT"
        return f"| {self.what} | {self.case} | {self.value:.4f} | {between} | {self.bound} | {word} |"


# ---------------------------------------------------------------- intervals: exact


def chance(passed: int, total: int, rate: float) -> float:
    return comb(total, passed) * rate**passed * (1 - rate) ** (total - passed)


def covered(method: ours.Method, total: int, rate: float) -> float:
    """How often the interval of `total` runs holds the true rate: summed over all outcomes."""
    return sum(
        chance(passed, total, rate)
        for passed in range(total + 1)
        if (found := ours.rate(passed, total, method)).low <= rate <= found.high
    )


def coverage() -> Iterator[Row]:
    for method in METHODS:
        for total in SIZES:
            shares = [covered(method, total, rate) for rate in GRID]
            exact = method == "clopper_pearson"
            mean = sum(shares) / len(shares)
            case = f"{method}, {total} runs"
            yield Row("coverage, mean over rates", case, mean, bound="≥ 0.94", holds=mean >= 0.94)
            yield Row(
                "coverage, worst rate",
                case,
                min(shares),
                bound="≥ 0.95" if exact else "",
                holds=not exact or min(shares) >= 0.95,
            )


# ---------------------------------------------------------------- comparisons: exact


@cache
def alarms_of(total: int) -> tuple[tuple[bool, ...], ...]:
    """For all outcomes of two samples of `total` runs: is a difference called real?"""
    outcomes = range(total + 1)
    return tuple(
        tuple(ours.compare((one, total), (two, total)).verdict == "significant" for two in outcomes)
        for one in outcomes
    )


def comparisons(sizes: tuple[int, ...] = (10, 20, 40)) -> Iterator[Row]:
    for total in sizes:
        alarms = alarms_of(total)
        worst = max(
            sum(
                chance(one, total, rate) * chance(two, total, rate)
                for one in range(total + 1)
                for two in range(total + 1)
                if alarms[one][two]
            )
            for rate in GRID
        )
        yield level("Boschloo, worst rate", f"{total} runs against {total}", worst)
    for total in (10, 20, 40, 100):
        # of pairs without a difference either side is as likely to be the one that passed
        worst = max(
            sum(
                chance(pairs, total, share)
                * sum(
                    chance(first, pairs, 0.5)
                    for first in range(pairs + 1)
                    if _core.mcnemar(first, pairs - first) < LEVEL
                )
                for pairs in range(total + 1)
            )
            for share in (0.05, 0.1, 0.2, 0.4, 0.8)
        )
        yield level("McNemar, worst share of differing pairs", f"{total} pairs", worst)


def level(what: str, case: str, value: float) -> Row:
    return Row(f"false alarms: {what}", case, value, bound="≤ 0.05", holds=value <= LEVEL + 1e-9)


# ---------------------------------------------------------------- families: simulated

Alarm = Callable[[np.ndarray], bool]
"""Does a matrix of runs (cells × runs, true where it passed) raise any false alarm?"""


def share(
    what: str, case: str, matrices: Iterator[np.ndarray], alarm: Alarm, *, control: bool = False
) -> Row:
    """How many matrices raise one. A control must raise far more than the level."""
    raised = [alarm(runs) for runs in matrices]
    low, high = _core.clopper_pearson_interval(sum(raised), len(raised), 0.95)
    value = sum(raised) / len(raised)
    if control:
        return Row(what, f"{case}, {len(raised)} matrices", value, low, high, "> 0.05", low > LEVEL)
    return Row(what, f"{case}, {len(raised)} matrices", value, low, high, "≤ 0.05", value <= LEVEL)


def nulls(seed: int, count: int, rate: float, looks: int = LOOKS, tied: float = 0.0) -> Iterator[np.ndarray]:
    """Matrices whose cells all have the same rate; `tied` is the chance that a cell shares the fate of its
    invocation, as cells of one invocation do."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        runs = rng.random((CELLS, looks))
        if tied:
            fate = rng.random(looks)
            runs = np.where(rng.random((CELLS, looks)) < tied, fate, runs)
        yield runs < rate


def until_says(word: ours.Decision, *, corrected: bool = True) -> Alarm:
    """`--until`, asked after every run: does any cell get this word before the runs are exhausted?"""
    until = ours.Until(most=LOOKS)
    each = until.shared(CELLS) if corrected else until

    def alarm(runs: np.ndarray) -> bool:
        return any(_first(each, np.cumsum(cell)) == word for cell in runs)

    return alarm


def _first(until: ours.Until, passed: np.ndarray) -> ours.Decision:
    for total, count in enumerate(passed.tolist(), 1):
        said = until.decide(count, total)
        if said != "open":
            return said
    return "open"


def refuted(claimed: float) -> Alarm:
    """The e-process after every run: the best p-value of each cell so far, by Holm over all cells."""

    def alarm(runs: np.ndarray) -> bool:
        best = []
        for cell in np.cumsum(runs, axis=1):
            most = max(_core.ln_evidence(count, at, claimed) for at, count in enumerate(cell.tolist(), 1))
            best.append(min(1.0, exp(-most)))
        return min(_core.holm(best)) <= LEVEL

    return alarm


def naive(claimed: float) -> Alarm:
    """What is often done: an interval after every run, and a look whether the rate is still in it."""
    found = [
        [not low <= claimed <= high for count in range(at + 1) for low, high in [_interval(count, at)]]
        for at in range(1, LOOKS + 1)
    ]

    def alarm(runs: np.ndarray) -> bool:
        return any(
            found[at - 1][count]
            for cell in np.cumsum(runs, axis=1)
            for at, count in enumerate(cell.tolist(), 1)
        )

    return alarm


def _interval(passed: int, total: int) -> tuple[float, float]:
    return _core.clopper_pearson_interval(passed, total, 0.95)


def compared(runs_each: int = 10, *, corrected: bool = True) -> Alarm:
    """A run against an earlier one of the same agent, cell by cell on the same subjects."""

    def alarm(runs: np.ndarray) -> bool:
        now, before = runs[:, :runs_each], runs[:, runs_each : 2 * runs_each]
        samples = [
            (dict(enumerate(one.tolist())), dict(enumerate(two.tolist())))
            for one, two in zip(now, before, strict=True)
        ]
        made = ours.compare_all(samples) if corrected else [ours.compare(*pair) for pair in samples]
        return any(one.verdict == "significant" for one in made)

    return alarm


def escapes(rate: float) -> Alarm:
    """Does the running interval of the first cell ever lose the true rate?"""

    def alarm(runs: np.ndarray) -> bool:
        for at, count in enumerate(np.cumsum(runs[0]).tolist(), 1):
            low, high = ours.running_interval(count, at)
            if not low <= rate <= high:
                return True
        return False

    return alarm


def families(seed: int, count: int) -> Iterator[Row]:
    until = ours.Until()
    for tied in (0.0, 0.7):
        case = f"{CELLS} cells" + (", tied" if tied else "")
        bad, good = nulls(seed, count, until.bad, tied=tied), nulls(seed + 1, count, until.good, tied=tied)
        yield share("--until: a bad cell called good", case, bad, until_says("good"))
        yield share("--until: a good cell called bad", case, good, until_says("bad"))
        yield share(
            "e-process and Holm, every look", case, nulls(seed + 2, count, 0.8, tied=tied), refuted(0.8)
        )
        pairs = nulls(seed + 3, count, 0.8, 60, tied)
        yield share("--baseline: McNemar and Holm", case, pairs, compared(30))
    one = nulls(seed + 4, count, 0.8)
    yield share("running interval loses the rate", "1 cell", one, escapes(0.8))
    peeking = nulls(seed + 5, count, 0.8)
    yield share("control: an interval after every run", f"{CELLS} cells", peeking, naive(0.8), control=True)
    alone = nulls(seed + 6, count, until.bad)
    yield share(
        "control: --until without its share of the level",
        f"{CELLS} cells",
        alone,
        until_says("good", corrected=False),
        control=True,
    )


def lengths(seed: int, count: int) -> Iterator[Row]:
    """How many runs `--until` takes for one cell, in the mean, and how often it then errs."""
    until = ours.Until()
    rng = np.random.default_rng(seed + 7)
    for rate in (0.3, 0.5, 0.7, 0.9, 0.97):
        taken = []
        for _ in range(count):
            passed = np.cumsum(rng.random(ours.MOST_RUNS) < rate).tolist()
            taken.append(
                next(
                    (n for n, c in enumerate(passed, 1) if until.decide(c, n) in ("good", "bad")), until.most
                )
            )
        yield Row("--until: runs until decided", f"1 cell, true rate {rate}", sum(taken) / len(taken))


def rows(seed: int, count: int) -> Iterator[Row]:
    yield from coverage()
    yield from comparisons()
    yield from families(seed, count)
    yield from lengths(seed, count)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.statistics")
    parser.add_argument("--quick", action="store_true", help=f"{MATRICES[True]} matrices")
    parser.add_argument("--seed", type=int, default=42)
    given = parser.parse_args()
    print("| what | case | value | 95 % interval | bound | |\n|---|---|---|---|---|---|")
    held = True
    for row in rows(given.seed, MATRICES[given.quick]):
        print(row, flush=True)
        held &= row.holds
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
