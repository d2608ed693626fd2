"""What an engine is to a campaign: it runs commands somewhere, a few at once, and tells how they end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


ERRORS = 4096
"""Characters of a command's standard error that are kept, from the end."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a worker starts: the words of the command, and the folder that it is started in.

    With the words of `series` behind, it takes batch after batch: a line of its input each, and before each
    answer a line with its length in bytes. Empty: it takes one, which is all of its input.
    """

    words: tuple[str, ...]
    folder: str
    series: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command of a batch ended. `lost`: its worker is gone or the engine has given it up, which says
    nothing of its cells where the engine itself was `away`."""

    batch: str
    code: int = 0
    output: bytes = b""
    errors: str = ""
    lost: str = ""
    away: bool = False


class Engine(Protocol):
    """Runs batches. Called from one thread."""

    @property
    def slots(self) -> int:
        """How many batches run beside each other."""

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command on every worker that there is: each worker's name, and how it ended there."""

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch; `text` goes to the command's standard input."""

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended; waits for the first that does, but no longer than this."""

    def stop(self, batch: str) -> None:
        """Ask a batch to end early and answer with what it has; it ends as any other."""

    def drop(self, batch: str) -> None:
        """End a batch of which nothing more is wanted, as far as that can be done."""

    def close(self) -> None:
        """End all that is under way, and let the engine go."""


SERIES = ("--series",)
"""What makes `faultwire worker` take batch after batch."""


def worker_words(python: str | None) -> tuple[str, ...]:
    """The command that a worker starts: `faultwire worker` of the interpreter `python`, by default ours.
    Nothing of the folder that it is started in is imported (`-P`)."""
    return (python or sys.executable, "-P", "-m", "faultwire", "worker")
