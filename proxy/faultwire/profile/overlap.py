"""Can one text look like two globs at once? `*` stands for any characters, `?` for one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

ANY = "*"
ONE = "?"
MOST = 250_000
"""Pairs of places in two globs that are looked at; longer ones count as overlapping."""


def overlap(some: Iterable[str], others: Iterable[str]) -> bool:
    """May a text match one glob of each? Exact for globs of usual length, True where that is too dear."""
    each = tuple(others)
    return any(_overlap(one, other) for one in some for other in each)


@lru_cache(maxsize=1024)
def _overlap(one: str, other: str) -> bool:
    """Walks both globs at once, as two automata."""
    if len(one) * len(other) > MOST:
        return True
    seen: set[tuple[int, int]] = set()
    waiting = [(0, 0)]
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        at, by = place
        left, right = one[at : at + 1], other[by : by + 1]
        if not left and not right:
            return True
        if left == ANY:
            waiting.append((at + 1, by))
        if right == ANY:
            waiting.append((at, by + 1))
        if left and right and (left in (ANY, ONE) or right in (ANY, ONE) or left == right):
            waiting.append((at + (left != ANY), by + (right != ANY)))
    return False


def literal(glob: str) -> bool:
    """Does it stand for one text only?"""
    return ANY not in glob and ONE not in glob
