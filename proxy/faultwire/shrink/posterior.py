"""How likely each element of a failing set is part of the cause, from the runs that passed without some.

A run without the elements R passes for sure if one of R is needed, and with probability 1 - rate if none
is. The elements are taken as independent before any run; what the runs say is combined by loopy belief
propagation (Pearl 1988) on the graph of elements and passed runs. ProbDD (Wang et al. 2021, ESEC/FSE) keeps
such probabilities without messages and for failures that always come; messages keep a run that is repeated,
or that shares elements with others, from being counted as fresh evidence about each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SWEEPS = 5
EXPECTED = 1.5
"""Causes that are expected before any run."""
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Posterior:
    """The probabilities of the elements of a set. `removed` holds, for each group of elements that passed
    runs left out, how many runs these were."""

    elements: Sequence[int]
    removed: Mapping[frozenset[int], int]
    rate: float
    needed: frozenset[int] = frozenset()
    """Elements that are known to be needed."""

    def probabilities(self) -> dict[int, float]:
        """The probability of each element to be needed."""
        prior = min(0.5, EXPECTED / max(1, len(self.elements)))
        prior_odds = prior / (1 - prior)
        groups = [(tuple(group), (1 - self.rate) ** count) for group, count in self.removed.items()
                  if not group & self.needed]  # fmt: skip
        messages = [dict.fromkeys(group, 1.0) for group, _ in groups]
        odds = dict.fromkeys(self.elements, prior_odds)
        for at, (group, _) in enumerate(groups):
            for one in group:
                odds[one] *= messages[at][one]
        for _ in range(SWEEPS):
            for at, (group, passes) in enumerate(groups):
                self._send(group, passes, messages[at], odds)
        return {one: 1.0 if one in self.needed else odds[one] / (1 + odds[one]) for one in self.elements}

    @staticmethod
    def _send(group: Sequence[int], passes: float, sent: dict[int, float], odds: dict[int, float]) -> None:
        """Send one group's message to each of its elements anew."""
        without = {one: odds[one] / sent[one] for one in group}
        harmless = 1.0
        for one in group:
            harmless /= 1 + without[one]
        for one in group:
            others = min(1.0, harmless * (1 + without[one]))
            sent[one] = 1 / max(_LEAST, 1 - others * (1 - passes))
            odds[one] = without[one] * sent[one]


def largest_gain(probabilities: Sequence[tuple[int, float]]) -> tuple[int, ...]:
    """The elements to leave out next: as many as promise the largest expected number removed. They come in
    ascending order of probability; ties stay as they are given."""
    best, gain, harmless = 1, 0.0, 1.0
    ordered = sorted(probabilities, key=lambda pair: pair[1])
    for count, (_, probability) in enumerate(ordered, 1):
        harmless *= 1 - probability
        if count * harmless > gain:
            best, gain = count, count * harmless
    return tuple(one for one, _ in ordered[:best])
