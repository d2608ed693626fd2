"""When to look again for an engine that is away: soon at first, less often later, not for ever. Pure."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_S, MOST_S = 0.1, 2.0
"""Seconds between two tries: at first, and at most; each time twice as many."""


@dataclass
class Reconnect:
    """The tries since an engine was found to be away. Moments are seconds of the caller's clock."""

    began: float
    limit_s: float
    """After so many seconds it does not come back."""
    _pause_s: float = FIRST_S
    _next: float = 0.0

    def __post_init__(self) -> None:
        self._next = self.began

    def over(self, now: float) -> bool:
        """Has it been away for too long?"""
        return now - self.began >= self.limit_s

    def due(self, now: float) -> float:
        """Seconds until the next try; 0: now. It counts as made."""
        if now < self._next:
            return self._next - now
        self._next = now + self._pause_s
        self._pause_s = min(MOST_S, 2 * self._pause_s)
        return 0.0
