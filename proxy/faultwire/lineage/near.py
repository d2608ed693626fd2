"""Overlap of words: fingerprints by winnowing, and the longest run of words that two texts share.

Winnowing (Schleimer, Wilkerson and Aiken 2003, SIGMOD) keeps the least hash of each window: two texts that
share `WORDS + WINDOW - 1` words in a row share a fingerprint, wherever the words stand.
"""

from __future__ import annotations

import re  # noqa: TID251 - a fixed pattern
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

WORDS = 4
"""Words of one shingle."""
WINDOW = 4
"""Neighbouring shingles of which one is kept."""
RUN = 8
"""Words in a row from which on two texts overlap; shorter runs are phrases of the language."""
SHARED = 4
"""Fingerprints that two texts share, from which on they overlap though no run is that long."""
KEPT = 4096
"""Characters of the longest text that is kept taken apart."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """A text as words in lower case, where each stands, and the fingerprints with the word they begin at."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    marks: dict[int, int]

    def between(self, first: int, last: int) -> str:
        """The text from one word to another."""
        return self.text[self.spans[first][0] : self.spans[last][1]]


def words_of(text: str) -> Words:
    """A text taken apart. Conversations repeat their messages, so short texts are kept."""
    return _kept(text) if len(text) <= KEPT else _words_of(text)


def _words_of(text: str) -> Words:
    matches = list(_WORD.finditer(text))
    words = tuple(match[0].lower() for match in matches)
    hashes = [crc32(" ".join(words[at : at + WORDS]).encode()) for at in range(len(words) - WORDS + 1)]
    return Words(text, words, tuple(match.span() for match in matches), _winnowed(hashes))


_kept = lru_cache(maxsize=1024)(_words_of)


def _winnowed(hashes: list[int]) -> dict[int, int]:
    """Of each window its least hash, the last of equal ones; by hash, the first place."""
    kept: dict[int, int] = {}
    for at in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = hashes[at : at + WINDOW]
        least = min(window)
        kept.setdefault(least, at + len(window) - 1 - window[::-1].index(least))
    return kept


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two texts share: the longest run as it stands in the second one, and its number of words."""

    run: str
    words: int
    shared: int
    verbatim: bool
    """Does the run stand in the first text letter by letter?"""


def overlap(one: Words, other: Words, marks: set[int]) -> Overlap | None:
    """The overlap of two texts that share these fingerprints; None where it is but a phrase."""
    best = (0, 0, 0)
    for mark in marks:
        first, second = one.marks[mark], other.marks[mark]
        if one.words[first : first + WORDS] != other.words[second : second + WORDS]:
            continue  # two shingles with one hash
        back = ahead = 0
        while min(first, second) > back and one.words[first - back - 1] == other.words[second - back - 1]:
            back += 1
        left = min(len(one.words) - first, len(other.words) - second)
        while ahead < left and one.words[first + ahead] == other.words[second + ahead]:
            ahead += 1
        best = max(best, (back + ahead, second - back, second + ahead - 1))
    count, start, end = best
    if count < RUN and not (count and len(marks) >= SHARED):
        return None
    run = other.between(start, end)
    return Overlap(run, count, len(marks), run in one.text)
