"""Short texts that stand whole in a later one: the title of a document, a sentence of a model.

They are looked for by their first two words, so that one pass over a text finds all of them. Pairs of words
that the agent's own texts hold are no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.lineage.model import Part

Pair = tuple[str, str]
LETTERS = 8
"""Characters of the shortest phrase; it has at least two words."""
LONGEST = 400
"""Characters of the longest; longer texts are compared by runs of words (`near`)."""


@lru_cache(maxsize=2048)
def pairs_of(text: str) -> tuple[Pair, ...]:
    """Neighbouring words."""
    words = text.split()
    return tuple(pairwise(words))


def phrase_of(leaf: str) -> str | None:
    """A text as a phrase, its blanks made one; None where it is too short, or too long."""
    if not LETTERS <= len(leaf) <= LONGEST:
        return None
    whole = " ".join(leaf.split())
    return whole if len(whole) >= LETTERS and " " in whole else None


@dataclass(slots=True)
class Phrases:
    """The phrases that answers brought, each with its sources, and the pairs that are the agent's own."""

    own: set[Pair] = field(default_factory=set)
    _by_start: dict[Pair, dict[str, list[Part]]] = field(default_factory=dict)

    def bring(self, phrase: str, source: Part, *, only_new: bool = False) -> None:
        """A phrase stands in an answer."""
        sources = self._by_start.setdefault(pairs_of(phrase)[0], {}).setdefault(phrase, [])
        if source not in sources and not (sources and only_new):
            sources.append(source)

    def is_own(self, phrase: str) -> bool:
        """Has the agent said all of it itself, pair by pair?"""
        return self.own.issuperset(pairs_of(phrase))

    def found_in(self, leaf: str) -> Iterator[tuple[str, list[Part]]]:
        """The phrases that stand whole in a text, with their sources."""
        whole = " ".join(leaf.split())
        for pair in dict.fromkeys(pairs_of(whole)):
            for phrase, sources in self._by_start.get(pair, {}).items():
                if phrase in whole:
                    yield phrase, sources

    def add_own(self, leaves: Iterable[str], except_for: Iterable[str]) -> None:
        """The agent's own words, but for the phrases that it has from elsewhere."""
        taken = {pair for phrase in except_for for pair in pairs_of(phrase)}
        for leaf in leaves:
            self.own.update(pair for pair in pairs_of(" ".join(leaf.split())) if pair not in taken)
