"""The facts that a text states, as far as their form tells: numbers, names, quotes, URLs."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed and linear
from dataclasses import dataclass

LONGEST = 1 << 20
"""Characters of an answer whose facts are looked up."""
SMALL = 10
"""Whole numbers up to this one count steps and list items, and state nothing."""

_URL = re.compile(r"https?://[^\s<>\"')\]}]{1,2000}", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]{0,40}(?:\.\d{1,20})?(?!\w)")
_QUOTE = re.compile(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]")
_NAME = re.compile(r"[^\W\d_a-z][\w'\u2019-]{1,40}(?: [^\W\d_a-z][\w'\u2019-]{1,40}){1,5}")
_BEFORE = '.!?:\n#*-•"“'


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text states; `text` is all of it, folded, for looking things up."""

    numbers: frozenset[str]
    names: tuple[str, ...]
    quotes: tuple[str, ...]
    urls: tuple[str, ...]
    text: str


def facts(text: str, *, whole: bool = False) -> Facts:
    """The facts of an answer; with `whole`, of all that it is held against, small numbers too."""
    text = text if whole else text[:LONGEST]
    urls = tuple(dict.fromkeys(found.rstrip(".,;:!?") for found in _URL.findall(text)))
    prose = _URL.sub(" ", text) if not whole else text
    numbers = {_plain(found) for found in _NUMBER.findall(prose)}
    if not whole:
        numbers = {number for number in numbers if not _is_small(number)}
    return Facts(
        numbers=frozenset(numbers),
        names=() if whole else tuple(dict.fromkeys(_names(prose))),
        quotes=() if whole else tuple(dict.fromkeys(_QUOTE.findall(prose))),
        urls=urls,
        text=" ".join(text.casefold().split()),
    )


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
            found.append(" ".join(words))
    return found
