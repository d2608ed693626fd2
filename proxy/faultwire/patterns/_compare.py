"""Comparing answers: a score over words or meanings, and a guard that has the last word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from faultwire import _core
from faultwire.errors import UsageError

ALIKE: Final = {"words": 0.7, "semantic": 0.75}


class Change(NamedTuple):
    """A place where two JSON documents differ."""

    path: str
    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How alike two texts are and whether they say the same."""

    similarity: float
    distance: int
    """Characters to insert, delete or replace."""
    same: bool
    """Alike enough, and no objection of the guard."""
    reasons: tuple[str, ...]
    """What makes them different whatever the score: numbers, units, names, negations, antonyms, JSON."""
    changes: tuple[Change, ...]
    json: bool


def compare(
    a: str,
    b: str,
    *,
    engine: Literal["words", "semantic"] = "words",
    threshold: float | None = None,
) -> Comparison:
    """Compares two texts.

    `engine="semantic"` scores with local sentence embeddings (extra `[semantic]`); the guard is the
    same. Two JSON documents are compared as JSON with either engine.

    >>> compare("It costs 1,000 dollars.", "It costs 1000 dollars.").same
    True
    >>> compare("It costs 10 dollars.", "It costs 11 dollars.").same
    False
    """
    if engine not in ALIKE:
        raise UsageError(f"engine `{engine}`, expected `words` or `semantic`")
    least = ALIKE[engine] if threshold is None else threshold
    similarity, distance, same, reasons, changes, json = _core.compare_texts(a, b, least)
    if engine == "semantic" and not json:
        from faultwire.patterns._semantic import similarity as meaning

        similarity = meaning(a, b)
        same = similarity >= least and not reasons
    return Comparison(
        similarity, distance, same, tuple(reasons), tuple(Change(*change) for change in changes), json
    )
