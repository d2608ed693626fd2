"""Small changes of texts that several mutations share."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed and linear
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.dice import FaultDice

WORD = re.compile(r"[^\W\d_]+")
WORDS = re.compile(r"\S+")


def replaced(text: str, table: Mapping[str, Sequence[str]], dice: FaultDice) -> tuple[str, int]:
    """The text with some of the table's phrases swapped, whole words only, and how many were."""
    count = 0
    for phrase, options in table.items():
        found = re.search(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE)
        if found is None or dice.unit(f"swap {phrase}") < 0.3:
            continue
        new = dice.choice(options, f"word for {phrase}")
        if found.group()[:1].isupper():
            new = new[:1].upper() + new[1:]
        text = text[: found.start()] + new + text[found.end() :]
        count += 1
    return text, count


def uncapitalised(text: str) -> str:
    """With a small first letter, unless the first word is a name or an abbreviation."""
    first = WORDS.search(text)
    plain = first is not None and first.group()[1:].islower() and first.group().lower() in _COMMON
    return text[:1].lower() + text[1:] if plain else text


_COMMON = frozenset(
    (
        "what", "who", "where", "when", "why", "how", "which", "is", "are", "was", "were", "do", "does",
        "did", "can", "could", "will", "would", "should", "please", "tell", "find", "show", "list", "write",
        "create", "explain", "give", "make", "book", "buy", "cancel", "calculate", "compute", "summarize",
        "send", "help", "the", "a", "an", "my", "our", "in", "on", "at", "for", "if",
    )
)  # fmt: skip


def spans(text: str, least: int = 1) -> list[tuple[int, int]]:
    """Where the words of at least so many letters are."""
    return [m.span() for m in WORD.finditer(text) if m.end() - m.start() >= least]


def some(count: int, wanted: int, dice: FaultDice, purpose: str) -> list[int]:
    """`wanted` different indexes below `count` in order, by the dice."""
    ranked = sorted(range(count), key=lambda at: (dice.unit(f"{purpose} {at}"), at))
    return sorted(ranked[:wanted])
