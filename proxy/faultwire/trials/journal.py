"""The state file: what came of each trial, one line each, on disk before the next trial begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.trials.model import Outcome
from faultwire.trials.state_file import StateFile

if TYPE_CHECKING:
    from pathlib import Path

DEPENDS = "run, faults, command, program, environment, folder, oracle and seed"


@dataclass(frozen=True, slots=True)
class Kept:
    """One line: the key of a trial and its outcome."""

    key: str
    outcome: Outcome


class Journal:
    """An open state file. `earlier` are the outcomes that it held, in order."""

    def __init__(self, path: Path, file: StateFile, earlier: tuple[Kept, ...]) -> None:
        self.path = path
        self.earlier = earlier
        self.command = file.command
        self._file = file
        self._any = bool(earlier)

    @classmethod
    def open(cls, path: Path, about: str, command: str = "shrink") -> Journal:
        """Open a file, or start one. `about` is a digest of all that the outcomes depend on, `command` the
        one that makes the trials. Raises UsageError where the file is another search's, is held by another
        process, or is no state file."""
        file = StateFile(path, command, about, DEPENDS)
        try:
            return cls(path, file, tuple(map(_kept, file.earlier)))
        except (ValueError, KeyError, TypeError):
            file.close()
            raise file.unreadable() from None

    def append(self, key: str, outcome: Outcome) -> None:
        """Write down an outcome, and wait until it is on disk."""
        self._any = True
        self._file.append(
            {
                "case": key,
                "failed": outcome.failed,
                "exchanges": outcome.exchanges,
                "cost_usd": outcome.cost_usd,
                "unpriced": outcome.unpriced,
                "seconds": round(outcome.seconds, 3),
                "reason": outcome.reason,
                "digest": outcome.digest,
            }
        )

    def close(self) -> None:
        """Let the file go; one without any outcome is removed."""
        if not self._any:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _kept(line: dict[str, Any]) -> Kept:
    failed = line["failed"]
    if failed not in (True, False, None):
        raise ValueError
    outcome = Outcome(
        failed, int(line["exchanges"]), float(line["cost_usd"]), float(line["seconds"]), str(line["reason"]),
        unpriced=int(line.get("unpriced", 0)), digest=str(line.get("digest", "")),
    )  # fmt: skip
    return Kept(str(line["case"]), outcome)
