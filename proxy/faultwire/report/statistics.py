"""The statistics of a report: what its pass rates support, and what they do not.

Pure. Where a rate is about several invariants its subjects are invocations without a failed cell,
among those with a verdict, for cells of one invocation share its traffic; where it is about one
invariant they are that invariant's cells, one an invocation. Unknown cells are no subjects.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultwire._core import pass_bound, pass_hat
from faultwire.contract.score import CONFIDENCE
from faultwire.contract.statistics import (
    ALPHA,
    compare,
    compare_all,
    is_flaky,
    rate,
    running_interval,
    suspects,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from faultwire.contract.cells import Cell
    from faultwire.contract.matrix import Matrix
    from faultwire.contract.statistics import Decision, Sample

FLAKY = 200
"""Flaky cells, and broken ones, that a report lists; the rest are counted."""
BROKEN = 2
"""Repeats that all failed, from which on a cell is broken: it is not by chance that it failed."""
Subjects = dict[tuple[str, int], bool]
"""Did it pass, by prompt and repeat."""
Square = tuple[str, str]
"""An invariant in a scenario."""


def statistics_part(
    matrix: Matrix,
    *,
    repeat: int | None = None,
    decisions: Sequence[tuple[tuple[str, str], Decision]] = (),
) -> dict[str, Any]:
    """What the runs say of every scenario, and of every invariant in every scenario.

    `repeat` is the k of pass^k, by default the greatest number of repeats. A scenario with faults is held
    against the calm one, where there is one, on the prompts and repeats that both judged: its p-value is
    adjusted for all scenarios (Holm). An invariant that does worse than in calm is `listed` so that about
    `false_share` of those listed are false alarms (Benjamini-Hochberg). `decisions` are what the runs of a
    scenario with a prompt decided, where they were repeated until they did.
    """
    k = repeat or max((cell.invocation.repeat for cell in matrix.cells), default=1)
    squares = _squares(matrix.cells)
    calm, repeated = _calm(matrix.cells), _repeated(squares)
    flaky = [row for row, word in repeated if word == "flaky"]
    broken = [row for row, word in repeated if word == "broken"]
    rated = _Rated(k, anytime=bool(decisions))
    return {
        "confidence": CONFIDENCE,
        "method": rated.method,
        "k": k,
        "calm": calm,
        "false_share": round(ALPHA, 6),
        "scenarios": _scenarios(matrix.cells, calm, flaky, rated),
        "squares": _rows(squares, calm, rated),
        "flaky": flaky[:FLAKY],
        "flaky_count": len(flaky),
        "broken": broken[:FLAKY],
        "broken_count": len(broken),
        "decisions": [
            {"scenario": scenario, "prompt": prompt, "decision": decision}
            for (scenario, prompt), decision in decisions
        ],
    }


def _scenarios(
    cells: Iterable[Cell], calm: str | None, flaky: Sequence[Mapping[str, Any]], rated: _Rated
) -> list[dict[str, Any]]:
    clean, unjudged = _clean(cells)
    base = clean.get(calm or "", {})
    others = [name for name, subjects in clean.items() if name != calm and subjects.keys() & base.keys()]
    found = compare_all([samples(clean[name], base) for name in others])
    against = {name: asdict(one) for name, one in zip(others, found, strict=True)}
    return [
        {
            "scenario": name,
            **rated.row(subjects),
            "unknown": unjudged[name],
            "flaky": sum(row["scenario"] == name for row in flaky),
            "against_calm": against.get(name),
        }
        for name, subjects in clean.items()
    ]


def _rows(squares: Mapping[Square, Sequence[Cell]], calm: str | None, rated: _Rated) -> list[dict[str, Any]]:
    judged = {square: _judged(cells) for square, cells in squares.items()}
    listed = _listed(judged, calm)
    return [
        {
            "invariant": invariant,
            "scenario": scenario,
            "severity": cells[0].severity,
            **rated.row(judged[invariant, scenario]),
            "unknown": len(cells) - len(judged[invariant, scenario]),
            "listed": (invariant, scenario) in listed,
        }
        for (invariant, scenario), cells in squares.items()
    ]


def _listed(judged: Mapping[Square, Subjects], calm: str | None) -> set[Square]:
    """Squares that did worse than the same invariant in calm."""
    found: list[tuple[Square, float, bool]] = []
    for (invariant, scenario), subjects in judged.items():
        base = judged.get((invariant, calm or ""), {})
        if scenario == calm or not subjects.keys() & base.keys():
            continue
        one = compare(*samples(subjects, base))
        if one.p_value is not None:
            found.append(((invariant, scenario), one.p_value, (one.difference or 0) < 0))
    picked = suspects([p for _, p, _ in found])
    return {square for (square, _, worse), marked in zip(found, picked, strict=True) if marked and worse}


JEFFREYS = "Jeffreys"
ANYTIME = "confidence sequence"
"""An interval that holds however often one looked before stopping, as `--until` does."""


@dataclass(frozen=True, slots=True)
class _Rated:
    """How rates are shown: with pass^`k`, and with an interval for one look at the end or for `anytime`."""

    k: int
    anytime: bool = False

    @property
    def method(self) -> str:
        return ANYTIME if self.anytime else JEFFREYS

    def row(self, subjects: Subjects) -> dict[str, Any]:
        """A pass rate with its interval and pass^k. The estimate of pass^k is the mean over prompts that have
        k judged repeats; what is supported at least is of all runs together, and holds for that mean, too."""
        found = rate(sum(subjects.values()), len(subjects))
        low, high = interval(found.passed, found.total, anytime=self.anytime)
        by_prompt: dict[str, list[bool]] = {}
        for (prompt, _), passed in subjects.items():
            by_prompt.setdefault(prompt, []).append(passed)
        hats = [pass_hat(sum(runs), len(runs), self.k) for runs in by_prompt.values()]
        each = [hat for hat in hats if hat is not None]
        return {
            "passed": found.passed,
            "total": found.total,
            "rate": found.value,
            "low": low,
            "high": high,
            "pass_k": {
                "k": self.k,
                "value": sum(each) / len(each) if each else None,
                "at_least": pass_bound(found.passed, found.total, self.k),
            },
        }


def interval(passed: int, total: int, *, anytime: bool) -> tuple[float, float]:
    """The interval of a pass rate, by Jeffreys or as a confidence sequence."""
    if anytime:
        return running_interval(passed, total)
    found = rate(passed, total)
    return found.low, found.high


def samples(
    now: Mapping[tuple[Any, ...], bool], before: Mapping[tuple[Any, ...], bool]
) -> tuple[Sample, Sample]:
    """What two runs are compared on; the last part of a subject is the number of its repeat.

    Where each prompt was judged once in both, the prompts are pairs. Otherwise the invocations of the prompts
    that both judged are counted, for a prompt's third repeat has no partner in the other run. Without a
    common prompt all are counted.
    """
    common = {subject[:-1] for subject in now} & {subject[:-1] for subject in before}
    first = {subject: passed for subject, passed in now.items() if not common or subject[:-1] in common}
    second = {subject: passed for subject, passed in before.items() if not common or subject[:-1] in common}
    if common and len(first) == len(second) == len(common):
        return _by_prompt(first), _by_prompt(second)
    return (sum(first.values()), len(first)), (sum(second.values()), len(second))


def _by_prompt(subjects: Mapping[tuple[Any, ...], bool]) -> dict[Hashable, bool]:
    return {subject[:-1]: passed for subject, passed in subjects.items()}


# ---------------------------------------------------------------- what is counted


def _squares(cells: Iterable[Cell]) -> dict[Square, list[Cell]]:
    found: dict[Square, list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.invariant, cell.invocation.scenario.name), []).append(cell)
    return found


def _judged(cells: Iterable[Cell]) -> Subjects:
    return {
        (cell.invocation.prompt.id, cell.invocation.repeat): cell.verdict.verdict == "pass"
        for cell in cells
        if cell.verdict.verdict != "unknown"
    }


def _clean(cells: Iterable[Cell]) -> tuple[dict[str, Subjects], dict[str, int]]:
    """Per scenario: which invocations came through without a failed cell, and how many have no verdict."""
    found: dict[str, Subjects] = {}
    every: dict[str, set[tuple[str, int]]] = {}
    for cell in cells:
        invocation = cell.invocation
        name, subject = invocation.scenario.name, (invocation.prompt.id, invocation.repeat)
        subjects = found.setdefault(name, {})
        every.setdefault(name, set()).add(subject)
        if cell.verdict.verdict != "unknown":
            subjects[subject] = subjects.get(subject, True) and cell.verdict.verdict == "pass"
    return found, {name: len(all_) - len(found[name]) for name, all_ in every.items()}


def _calm(cells: Iterable[Cell]) -> str | None:
    """The first scenario without faults."""
    scenarios = (cell.invocation.scenario for cell in cells)
    return next((scenario.name for scenario in scenarios if not scenario.profile.entries), None)


def _repeated(squares: Mapping[Square, Iterable[Cell]]) -> list[tuple[dict[str, Any], str]]:
    """Cells of the same scenario, prompt and invariant: flaky where their repeats disagree, broken where all
    of several failed."""
    found = []
    for (invariant, scenario), cells in squares.items():
        by_prompt: dict[str, list[str]] = {}
        for cell in cells:
            by_prompt.setdefault(cell.invocation.prompt.id, []).append(cell.verdict.verdict)
        for prompt, verdicts in by_prompt.items():
            passed, failed = verdicts.count("pass"), verdicts.count("fail")
            about = {"invariant": invariant, "scenario": scenario, "prompt": prompt}
            word = "flaky" if is_flaky(verdicts) else "broken" if not passed and failed >= BROKEN else ""
            if word:
                found.append((about | {"passed": passed, "failed": failed}, word))
    return found
