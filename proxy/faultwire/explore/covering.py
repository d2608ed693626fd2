"""Covering arrays: few rows in which every two (or three) levels of different factors stand together.

Greedy, one row at a time (Cohen et al. 1997, IEEE TSE 23, AETG): a row starts with an uncovered combination,
and each further factor takes the level that covers most. What is covered is counted, never assumed.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

from faultwire.dice import unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = tuple[int, ...]
"""The level of each factor."""
Combination = tuple[tuple[int, int], ...]
"""Factors with a level each, in order."""
TRIES = 8
"""Rows that are made for each one that is kept: the one that covers most."""


def combinations_of(levels: Sequence[int], strength: int) -> Iterator[Combination]:
    """All that must stand together; `levels` is how many each factor has."""
    for factors in combinations(range(len(levels)), strength):
        for chosen in product(*(range(levels[factor]) for factor in factors)):
            yield tuple(zip(factors, chosen, strict=True))


def covered_by(row: Row, strength: int) -> Iterator[Combination]:
    """The combinations in a row."""
    for factors in combinations(range(len(row)), strength):
        yield tuple((factor, row[factor]) for factor in factors)


def uncovered(rows: Sequence[Row], levels: Sequence[int], strength: int) -> set[Combination]:
    """The combinations that stand in no row."""
    left = set(combinations_of(levels, strength))
    for row in rows:
        left.difference_update(covered_by(row, strength))
    return left


def covering_array(levels: Sequence[int], strength: int = 2, seed: int = 0) -> list[Row]:
    """Rows that cover every combination. Raises ValueError for fewer factors than `strength`."""
    if strength < 1 or len(levels) < strength or min(levels) < 1:
        raise ValueError(f"found {len(levels)} factors, expected at least {strength}, each with a level")
    left = set(combinations_of(levels, strength))
    rows: list[Row] = []
    while left:
        made = [_row(levels, strength, left, seed, len(rows) * TRIES + at) for at in range(TRIES)]
        best = max(made, key=lambda row: sum(one in left for one in covered_by(row, strength)))
        left.difference_update(covered_by(best, strength))
        rows.append(best)
    return rows


def _row(levels: Sequence[int], strength: int, left: set[Combination], seed: int, number: int) -> Row:
    first = min(left, key=lambda one: unit(seed, "explore", "first", str(one), number))
    chosen = dict(first)
    rest = [factor for factor in range(len(levels)) if factor not in chosen]
    rest.sort(key=lambda factor: unit(seed, "explore", "factor", str(factor), number))
    for factor in rest:
        others = sorted(chosen)

        def gain(level: int, factor: int = factor, others: list[int] = others) -> int:
            return sum(
                tuple(sorted((*((one, chosen[one]) for one in some), (factor, level)))) in left
                for some in combinations(others, strength - 1)
            )

        order = sorted(
            range(levels[factor]),
            key=lambda level: unit(seed, "explore", f"level {factor}", str(level), number),
        )
        chosen[factor] = max(order, key=gain)
    return tuple(chosen[factor] for factor in range(len(levels)))
