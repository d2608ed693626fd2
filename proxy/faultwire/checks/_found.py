"""What a scan for personal data or secrets found, in words that do not repeat it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.patterns import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.patterns import Hit

MARK = "redacted:v1:"
"""How the tape marks a secret that it took out of what was sent."""


def by_kind(ids: Iterable[str]) -> str:
    """For example `2 email, 1 iban`."""
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(ids).items()))


def secrets(text: str) -> list[str]:
    """The ids of the secrets in a text, those among them that the tape took out."""
    found = ["redacted secret"] * text.count(MARK)
    return found + [hit.id for hit in scan(text, kinds=("secrets",)) if not _is_mark(hit, text)]


def _is_mark(hit: Hit, text: str) -> bool:
    return MARK in text[max(0, hit.start - len(MARK)) : hit.end]
