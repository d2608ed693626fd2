"""The state file of a search: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

import fcntl
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

import orjson

from faultwire.attacker.search import Stage
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
_HINT = "name another file with --state, or remove it"


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run showed, and where it is recorded. `exchange` carried the attack, `shown_by` shows that it
    was obeyed; both None where there is none."""

    stage: Stage
    evidence: str
    tape: str
    session: str
    exchange: int | None = None
    shown_by: int | None = None
    seconds: float = 0.0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Calm:
    """What the run without attacks showed: kinds of traffic that can carry one, calls of tools, and words of
    the library that the agent says anyway."""

    seen: tuple[str, ...]
    calls: int
    words: tuple[str, ...]
    tape: str
    session: str


class Journal:
    """An open state file; `earlier` are the attempts that it held, by key, `calm` the run without attacks."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. A last line that was cut off
        is dropped. Raises UsageError where it is another search's, is held, or is no state file."""
        self.path = path
        self.earlier: dict[str, Observed] = {}
        self.calm: Calm | None = None
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._hold()
            self._read(about)
        except BaseException:
            os.close(self._handle)
            raise

    def append(self, key: str, observed: Observed) -> None:
        """Write down an attempt, and wait until it is on disk."""
        self.earlier[key] = observed
        self._write({"key": key, **asdict(observed)})

    def append_calm(self, calm: Calm) -> None:
        """Write down the run without attacks."""
        self.calm = calm
        self._write({"key": "calm", **asdict(calm)})

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)

    def _hold(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"found `{self.path}` in use by another process, expected one search at a time",
                code="attack.state",
            ) from None

    def _read(self, about: str) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        os.ftruncate(self._handle, len(whole))
        os.lseek(self._handle, 0, os.SEEK_END)
        if not whole:
            self._write({"faultwire_attack": VERSION, "about": about})
            return
        first, *lines = whole.splitlines()
        try:
            head = orjson.loads(first)
            if head["faultwire_attack"] != VERSION:
                raise ValueError
            same = head["about"] == about
            for line in map(orjson.loads, lines):
                self._keep(str(line.pop("key")), line)
        except (ValueError, KeyError, TypeError, AttributeError):
            message = f"found `{self.path}`, which is not a state file of `attack`"
            raise UsageError(message, code="attack.state", hint=_HINT) from None
        if not same:
            raise UsageError(
                f"found the state of another search in `{self.path}`, expected one with the same command, "
                "grid, budget and seed",
                code="attack.state",
                hint=_HINT,
            )

    def _keep(self, key: str, line: dict[str, Any]) -> None:
        if key == "calm":
            self.calm = Calm(
                tuple(map(str, line.pop("seen"))), int(line.pop("calls")), tuple(map(str, line.pop("words"))),
                **line,
            )  # fmt: skip
            return
        observed = Observed(**line)
        if observed.stage not in get_args(Stage):
            raise ValueError
        self.earlier[key] = observed

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._handle, orjson.dumps(line) + b"\n")
        os.fsync(self._handle)
