"""The state file of a search: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from faultwire.attacker.search import Stage
from faultwire.trials.state_file import StateFile

if TYPE_CHECKING:
    from pathlib import Path


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


@dataclass(frozen=True, slots=True)
class Written:
    """What a model made of a text: the new one, or None where it is of no use; and where that is recorded."""

    text: str | None
    tokens: int | None
    tape: str
    session: str


class Journal:
    """An open state file; `earlier` are the attempts that it held, by key, `calm` the run without attacks,
    `written` the texts of a model."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. Raises UsageError where it is
        another search's, is held, or is no state file."""
        self.path = path
        self.earlier: dict[str, Observed] = {}
        self.calm: Calm | None = None
        self.written: dict[str, Written] = {}
        self._file = StateFile(path, "attack", about, "command, grid, budget and seed")
        try:
            for line in self._file.earlier:
                self._keep(str(line.pop("key")), line)
        except (ValueError, KeyError, TypeError, AttributeError):
            self._file.close()
            raise self._file.unreadable() from None

    def append(self, key: str, observed: Observed) -> None:
        """Write down an attempt, and wait until it is on disk."""
        self.earlier[key] = observed
        self._file.append({"key": key, **asdict(observed)})

    def append_calm(self, calm: Calm) -> None:
        """Write down the run without attacks."""
        self.calm = calm
        self._file.append({"key": "calm", **asdict(calm)})

    def append_written(self, key: str, written: Written) -> None:
        """Write down a text of a model."""
        self.written[key] = written
        self._file.append({"key": key, **asdict(written)})

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def _keep(self, key: str, line: dict[str, Any]) -> None:
        if key == "calm":
            self.calm = Calm(
                tuple(map(str, line.pop("seen"))), int(line.pop("calls")), tuple(map(str, line.pop("words"))),
                **line,
            )  # fmt: skip
            return
        if key.startswith("model/"):
            self.written[key] = Written(**line)
            return
        observed = Observed(**line)
        if observed.stage not in get_args(Stage):
            raise ValueError
        self.earlier[key] = observed
