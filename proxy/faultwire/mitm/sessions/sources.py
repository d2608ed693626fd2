"""How many connections each source has: an address and, on this machine, the user whose process it is.

One program that opens connections without end, or a neighbour, takes no descriptors from the others.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Source = tuple[str, int | None]

logger = logging.getLogger(__name__)

PER_SOURCE = 4096
"""Connections that one source may have, unless a setting states another number."""
SOURCES_KEPT = 100
"""Sources whose refused connections are counted one by one."""


class Sources:
    """The open connections of each source, and those that were refused."""

    def __init__(self, limit: int = PER_SOURCE) -> None:
        self.limit = limit
        self._open: Counter[Source] = Counter()
        self._refused: Counter[Source] = Counter()

    def enter(self, source: Source) -> bool:
        """A connection comes from there; False where it is one too many, and is not counted as open.

        The first one of a source that is refused is logged; what follows is only counted.
        """
        if self._open[source] < self.limit:
            self._open[source] += 1
            return True
        if source not in self._refused:
            logger.error("%s has %d connections, and may have no more", self.name(source), self.limit)
        if source in self._refused or len(self._refused) < SOURCES_KEPT:
            self._refused[source] += 1
        return False

    def leave(self, source: Source) -> None:
        """A connection that was taken is over."""
        self._open[source] -= 1
        if not self._open[source]:
            del self._open[source]

    @staticmethod
    def name(source: Source) -> str:
        """A source in words."""
        address, user = source
        return f"`{address}`" if user is None else f"user {user} at `{address}`"

    @property
    def notes(self) -> Iterator[str]:
        """What was refused, in words."""
        for source, count in sorted(self._refused.items(), key=str):
            some = "1 connection" if count == 1 else f"{count} connections"
            yield f"{some} of {self.name(source)} over the limit of {self.limit} at once went unserved (503)"
