"""The facts that a text states, as far as their form tells: numbers, names, quotes, URLs."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed and linear
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 1 << 20
"""Characters of an answer whose facts are looked up."""
SMALL = 10
"""Whole numbers up to this one count steps and list items, and state nothing."""

_URL = re.compile(r"https?://[^\s<>\"')\]}]{1,2000}", re.IGNORECASE)
_NUMBER = re.compile(r"\d(?<![\w.]\d)[\d,]{0,40}(?:\.\d{1,20})?(?!\w)")
"""No letter, digit or point stands before it: looked for behind the first digit, as digits are rare."""
_QUOTE = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]")
_NAME = re.compile(r"[^\W\d_a-z][\w'\u2019-]{1,40}(?: [^\W\d_a-z][\w'\u2019-]{1,40}){1,5}")
_BEFORE = '.!?:\n#*-•"“'


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text states."""

    numbers: frozenset[str]
    names: tuple[str, ...]
    quotes: tuple[str, ...]
    urls: tuple[str, ...]


def facts(text: str) -> Facts:
    """The facts of an answer."""
    text = text[:LONGEST]
    found = _URL.findall(text) if "://" in text else ()
    urls = tuple(dict.fromkeys(one.rstrip(".,;:!?") for one in found))
    prose = _URL.sub(" ", text) if found else text
    numbers = map(_plain, _NUMBER.findall(prose))
    return Facts(
        numbers=frozenset(number for number in numbers if not _is_small(number)),
        names=tuple(dict.fromkeys(_names(prose))),
        quotes=tuple(dict.fromkeys(_QUOTE.findall(prose))),
        urls=urls,
    )


class Sources:
    """All that an answer is compared with. The same text is read once, however often it was sent."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._each = tuple(dict.fromkeys(self._texts))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number, small ones too."""
        return frozenset(_plain(found) for text in self._each for found in _NUMBER.findall(text))

    def hold(self, fact: str) -> bool:
        """Does it stand there, in upper or lower case?"""
        wanted = fact.casefold()
        if any(wanted in text for text in self._folded):
            return True
        # from the end of one text into the next one's beginning
        return " " in wanted and wanted in self._whole

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(map(_folded, self._each))

    @cached_property
    def _whole(self) -> str:
        return _folded("\n".join(self._texts))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _plain(number: str) -> str:
    """`1,250.50` as `1250.5`: how a number is grouped says nothing."""
    bare = number.replace(",", "")
    whole, dot, rest = bare.partition(".")
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (dot + rest if rest else "")


def _is_small(number: str) -> bool:
    return number.isdigit() and len(number) < 3 and int(number) <= SMALL


def _names(text: str) -> list[str]:
    """Two or more words with capitals in a row. The first word of a sentence has one in any case."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        words = match.group().split(" ")
        before = text[: match.start()].rstrip(" ")[-1:]
        if not before or before in _BEFORE:
            words = words[1:]
        if len(words) > 1 and all(word[0].isupper() for word in words):
            found.append(" ".join(words).rstrip("'\u2019-"))
    return found
