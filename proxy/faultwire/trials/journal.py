"""The state file: what came of each trial, one line each, on disk before the next trial begins."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.errors import UsageError
from faultwire.trials.model import Outcome

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """One line: the key of a trial and its outcome."""

    key: str
    outcome: Outcome


class Journal:
    """An open state file. `earlier` are the outcomes that it held, in order."""

    def __init__(self, path: Path, handle: int, earlier: tuple[Kept, ...], command: str) -> None:
        self.path = path
        self.earlier = earlier
        self.command = command
        self._handle = handle
        self._any = bool(earlier)

    @classmethod
    def open(cls, path: Path, about: str, command: str = "shrink") -> Journal:
        """Open a file, or start one. `about` is a digest of all that the outcomes depend on, `command` the
        one that makes the trials.

        A last line that was cut off is dropped. Raises UsageError where the file is another search's, is
        held by another process, or is no state file.
        """
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _lock(handle, path, command)
            with os.fdopen(os.dup(handle), "rb") as file:
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            lines = whole.splitlines()
            if not lines:
                os.truncate(handle, 0)
                os.lseek(handle, 0, os.SEEK_END)
                made = cls(path, handle, (), command)
                made._append({f"faultwire_{command}": VERSION, "about": about})
                return made
            earlier = _read(lines, about, path, command)
            os.truncate(handle, len(whole))
            os.lseek(handle, 0, os.SEEK_END)
            return cls(path, handle, earlier, command)
        except BaseException:
            os.close(handle)
            raise

    def append(self, key: str, outcome: Outcome) -> None:
        """Write down an outcome, and wait until it is on disk."""
        self._any = True
        self._append(
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
        os.close(self._handle)

    def _append(self, line: dict[str, Any]) -> None:
        os.write(self._handle, orjson.dumps(line) + b"\n")
        os.fsync(self._handle)


def _lock(handle: int, path: Path, command: str) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"found `{path}` in use by another process, expected one search at a time",
            code=f"{command}.state",
        ) from None


def _read(lines: list[bytes], about: str, path: Path, command: str) -> tuple[Kept, ...]:
    hint = "name another file with --state, or remove it"
    try:
        first = orjson.loads(lines[0])
        if first[f"faultwire_{command}"] != VERSION:
            raise ValueError
        if first["about"] != about:
            raise UsageError(
                f"found the state of another search in `{path}`, expected one with the same run, faults, "
                "command, program, environment, folder, oracle and seed",
                code=f"{command}.state",
                hint=hint,
            )
        return tuple(_kept(orjson.loads(line)) for line in lines[1:])
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"found `{path}`, which is not a state file of `{command}`", code=f"{command}.state", hint=hint
        ) from None


def _kept(line: dict[str, Any]) -> Kept:
    failed = line["failed"]
    if failed not in (True, False, None):
        raise ValueError
    outcome = Outcome(
        failed, int(line["exchanges"]), float(line["cost_usd"]), float(line["seconds"]), str(line["reason"]),
        unpriced=int(line.get("unpriced", 0)), digest=str(line.get("digest", "")),
    )  # fmt: skip
    return Kept(str(line["case"]), outcome)
