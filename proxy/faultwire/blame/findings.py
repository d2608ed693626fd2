"""What a design says of each part: two answers, a bar between them with its interval, and a verdict in
words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from faultwire.blame.rates import Counts, Estimate, estimate, merged
from faultwire.blame.shapley import pair_weights, value_weights

if TYPE_CHECKING:
    from faultwire.blame.design import Design
    from faultwire.blame.rates import Coalition

Verdict = Literal["cause", "needed", "enough", "none", "open", "untestable"]
WORDS: dict[Verdict, str] = {
    "cause": "makes the failure: it passes without this, and fails with this alone",
    "needed": "needed, together with something else: it passes without this, and also with this alone",
    "enough": "enough, and not the only one: it fails with this alone, and also without this",
    "none": "no part in it",
    "open": "not decided",
    "untestable": "cannot be judged",
}
PAIRED = 0.2
"""Interactions of less than this are not named."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Of one part. `necessity` is by how much less a run fails without it, `sufficiency` by how much more the
    calm run fails with it alone; `blame` is the mean of both, which is the Shapley value where parts
    interact in no more than pairs. `without` and `alone` are the runs behind them."""

    part: int
    verdict: Verdict
    blame: Estimate
    necessity: Estimate
    sufficiency: Estimate
    without: Counts
    alone: Counts


@dataclass(frozen=True, slots=True)
class Pair:
    """Two parts that act together: positive where both are needed, negative where either is enough."""

    first: int
    second: int
    interaction: Estimate


def blame_weights(design: Design, part: int) -> dict[Coalition, float]:
    """The bar of a part as a sum of rates."""
    return merged(
        {design.whole: 0.5, design.necessity(part): -0.5}, {design.sufficiency(part): 0.5, design.calm: -0.5}
    )


def findings(design: Design) -> list[Finding]:
    """Of all parts, in their order."""
    return [_finding(design, part) for part in range(design.size)]


def _finding(design: Design, part: int) -> Finding:
    without, alone = design.necessity(part), design.sufficiency(part)
    return Finding(
        part,
        _verdict(design, part),
        estimate(blame_weights(design, part), design.counts),
        estimate(merged({design.whole: 1.0}, {without: -1.0}), design.counts),
        estimate(merged({alone: 1.0}, {design.calm: -1.0}), design.counts),
        design.of(without),
        design.of(alone),
    )


def _verdict(design: Design, part: int) -> Verdict:
    necessary, sufficient = design.is_necessary(part), design.is_sufficient(part)
    if necessary and sufficient:
        return "cause"
    if necessary:
        return "needed"
    if sufficient:
        return "enough"
    if design.is_untestable(part):
        return "untestable"
    return "none" if necessary is False and sufficient is False else "open"


def ranked(found: list[Finding]) -> list[Finding]:
    """Those that are blamed, the largest bar first, among equals the earliest."""
    blamed = [one for one in found if one.verdict in ("cause", "needed", "enough")]
    return sorted(blamed, key=lambda one: (-one.blame.value, one.part))


def shapley(design: Design) -> dict[int, Estimate]:
    """The Shapley values of the survivors, where there are several."""
    blamed = design.blamed()
    if len(blamed) < 2:
        return {}
    if design.walks is not None:
        return dict(design.walks.values())
    return {one: estimate(value_weights(one, blamed), design.counts) for one in blamed}


def pairs(design: Design) -> list[Pair]:
    """The interactions of the survivors that are told from none, the strongest first."""
    blamed = design.blamed()
    among = blamed if design.walks is None else None
    found = []
    for first, second in combinations(blamed, 2):
        weights = pair_weights(first, second, among or [first, second])
        if not all(design.of(one).runs for one in weights):
            continue
        interaction = estimate(weights, design.counts)
        if not interaction.covers(0.0) and abs(interaction.value) >= PAIRED:
            found.append(Pair(first, second, interaction))
    return sorted(found, key=lambda one: -abs(one.interaction.value))


def explained(design: Design) -> Estimate | None:
    """How often runs with the blamed parts alone fail, less the calm runs; None where nothing is blamed.
    Where that is clearly less than for the whole, something else is needed, too."""
    blamed = frozenset(design.blamed())
    if not blamed or not design.of(blamed).runs:
        return None
    return estimate(merged({blamed: 1.0}, {design.calm: -1.0}), design.counts)
