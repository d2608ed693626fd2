"""Comparing answers: the same, different, or more than the method can decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast

from faultwire import _core
from faultwire.errors import UsageError

ENGINES: Final = ("words", "semantic")
APART: Final = 0.3
"""Cosine under which two texts are about different things."""

Outcome = Literal["same", "different", "unknown"]


class Change(NamedTuple):
    """A place where two JSON documents differ."""

    path: str
    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How alike two texts are and whether they say the same."""

    similarity: float
    """0 to 1: over words of one meaning, or the cosine of sentence embeddings with `semantic`."""
    distance: int
    """Characters to insert, delete or replace."""
    outcome: Outcome
    """`unknown` where the method cannot decide; it is never taken for `same`."""
    reasons: tuple[str, ...]
    """What makes them different or leaves it open: numbers, names, signs, opposites, roles, words, JSON."""
    changes: tuple[Change, ...]
    json: bool

    @property
    def same(self) -> bool:
        """Both say the same, as far as the method can tell for certain."""
        return self.outcome == "same"


def compare(
    a: str,
    b: str,
    *,
    engine: Literal["words", "semantic"] = "words",
    threshold: float | None = None,
) -> Comparison:
    """Compares two texts; under `threshold`, where one is given, they are different.

    `engine="semantic"` has local sentence embeddings (extra `[semantic]`) look at pairs that the words leave
    open and nothing speaks against: they tell subjects apart and never make a pair the same. Two JSON
    documents are compared as JSON with either engine.

    >>> compare("It costs 1,000 dollars.", "The price is $1000.").outcome
    'same'
    >>> compare("It costs 10 dollars.", "It costs 11 dollars.").outcome
    'different'
    >>> compare("It is made of oak.", "It is made of pine.").outcome
    'unknown'
    """
    if engine not in ENGINES:
        raise UsageError(f"engine `{engine}`, expected `words` or `semantic`")
    least = threshold if engine == "words" else None
    similarity, distance, name, reasons, changes, json, undecided, _lone = _core.compare_texts(a, b, least)
    outcome = cast("Outcome", name)
    if engine == "semantic" and not json:
        from faultwire.patterns._semantic import similarity as meaning

        similarity = meaning(a, b)
        # `drops support` and `adds support` have .96: what the words leave open stays open, however close
        if undecided:
            outcome = "different" if similarity < APART else "unknown"
        if threshold is not None and similarity < threshold:
            outcome = "different"
    return Comparison(
        similarity, distance, outcome, tuple(reasons), tuple(Change(*change) for change in changes), json
    )
