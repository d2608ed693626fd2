"""What a scan for personal data or secrets found, in words that do not repeat it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.patterns import Hit

MARK = "redacted:v1:"
"""How the tape marks a secret that it took out of what was sent."""


def counted(ids: Iterable[str]) -> str:
    """For example `2 email, 1 iban`."""
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(ids).items()))


def unmarked(hits: Iterable[Hit], text: str) -> list[Hit]:
    """The hits that are no marks of the tape itself."""
    return [hit for hit in hits if MARK not in text[max(0, hit.start - len(MARK)) : hit.end]]
