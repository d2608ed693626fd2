"""Text that came from somewhere else, made short before anyone sees it."""

from __future__ import annotations

from faultwire.text import safe


def clip(text: str, limit: int) -> str:
    """The first `limit` characters; says how many are missing."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… [{left:,} more character{'s' * (left != 1)}]"


def line(text: str, limit: int = 200) -> str:
    """One harmless line."""
    return safe(clip(" ".join(text[: limit * 4].split()), limit))
