"""Simpler values of a fault's settings: as by default, a smaller number, fewer items, less text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.shrink.pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.shrink.search import Candidate

NAMES = frozenset({"code", "status"})
"""Settings whose numbers are names: a smaller one is no simpler."""
PRECISION = 0.1
"""How near the smallest number that still fails a number is brought, as a share of it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers between one that passes (`low`, None where none is known) and one that fails (`high`)."""

    high: float
    low: float | None = None
    whole: bool = True

    def middle(self) -> float | None:
        """The next number to try, None where it is near enough."""
        if self.low is None:
            return 0 if self.high > 0 else None
        gap = self.high - self.low
        if self.whole:
            wide = gap > max(1, PRECISION * self.high)
            return int(self.low + gap // 2) if wide else None
        return round(self.low + gap / 2, 6) if gap > PRECISION * self.high else None

    def tried(self, number: float, *, failed: bool) -> Numbers:
        """What is left after a trial."""
        return Numbers(number, self.low, self.whole) if failed else Numbers(self.high, number, self.whole)


@dataclass(frozen=True, slots=True)
class Items:
    """A value that is made of pieces: `value` gives it with some of them."""

    size: int
    value: Callable[[Candidate], Any]


def items(value: Any) -> Items | None:
    """The pieces of a text or a list; None where there is nothing to take out."""
    if isinstance(value, list) and len(value) > 1:
        return Items(len(value), lambda kept: [one for at, one in enumerate(value) if at in kept])
    if isinstance(value, str) and len(value) > 1:
        found = pieces(value)
        return Items(len(found), found.text) if len(found) > 1 else None
    return None


def without(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings with one as by default."""
    return {key: value for key, value in settings.items() if key != name}


def numbers(value: Any) -> Numbers | None:
    """The range of a number above 0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return Numbers(value, None, isinstance(value, int))
