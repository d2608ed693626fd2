"""Calls with the same key, and which of them a request repeats."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

OPEN = 64
"""How many identical calls are kept to distinguish their retries."""

UNDECLARED = 3
"""Retries that are taken for an SDK's where it does not count them itself; no SDK makes more. What
comes after them is the agent's own new call."""


@dataclass(slots=True)
class LogicalCall:
    """All calls with one key: `n` is the latest; `attempts` counts the retries of the open ones, `stated` has
    the SDK's own count of the last one, and `broken` those that a fault failed: did anybody look at them?"""

    n: int = -1
    attempts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    stated: dict[int, int | None] = field(default_factory=dict)
    broken: dict[int, bool] = field(default_factory=dict)

    def begin(self) -> int:
        """The number of a new call; of the open ones the oldest is forgotten where there are too many."""
        self.n += 1
        self.attempts[self.n] = 0
        while len(self.attempts) > OPEN:
            old, _ = self.attempts.popitem(last=False)
            self.stated.pop(old, None)
            self.broken.pop(old, None)
        return self.n

    def retried(self, declared: int | None) -> int | None:
        """The call that a request repeats, None where it is a new one.

        Of several identical calls at once, the one that a fault failed and that was tried as often as
        the SDK says: which of them arrives first then changes nothing.
        """
        if declared is None:
            if not self.broken:
                return None
            return min((n for n in self.broken if self.attempts[n] < UNDECLARED), default=None)
        unseen = (n for n, seen in self.broken.items() if not seen and self.attempts[n] < UNDECLARED)
        if again := [n for n in unseen if self.stated[n] == declared]:
            return min(again)
        if declared == 0:
            return None
        like = [n for n, count in self.stated.items() if (count or 0) + 1 == declared]
        broken = [n for n in like if n in self.broken]
        return min(broken) if broken else max(like or self.attempts, default=None)
