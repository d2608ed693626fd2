"""What an audit tries, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.audit.compare_runs import Difference

Class = Literal["clock", "random", "order", "model", "code", "environment", "fault", "unknown"]
Condition = Literal[
    "plain",
    "frozen clock",
    "fixed hashes",
    "fixed chance",
    "fixed order",
    "replayed answers",
    "fresh folder",
]
Word = Literal["agree", "differ", "untried"]


@dataclass(frozen=True, slots=True)
class Tried:
    """A condition, how many runs were made under it, and what came of it."""

    condition: Condition
    runs: int
    word: Word
    why: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why two runs differ. `cause` is None where they do not; `runs` counts all."""

    cause: Class | None
    first: Difference | None = None
    tried: tuple[Tried, ...] = ()
    runs: int = 0
    rate: float = 0.0
    """How often two runs differ, of those that were made with nothing fixed."""
    source: int = 0
    """Of answers: the exchange that was answered otherwise."""
    behind: Difference | None = None
    """Another difference, which shows once the first one is held fixed."""
    missing: tuple[str, ...] = ()
    """What would have to be known where the cause is unknown."""
    code: int = 0
    """With what the last run with nothing fixed exited."""
    interrupted: bool = False
    """Was it ended before it was done? The cause is then not known, nor that there is none."""
    settled: bool = False
    """Did runs with nothing fixed differ at first only?"""
