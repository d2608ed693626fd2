"""The state file of a fuzzing: what came of each run, one line each, on disk before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from faultwire.errors import UsageError
from faultwire.fuzz import discover
from faultwire.fuzz.crash import KINDS, Crash
from faultwire.fuzz.search import Reached, Seen
from faultwire.trials.state_file import StateFile

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.fuzz.grammar import Source


@dataclass(frozen=True, slots=True)
class Calm:
    """What the runs without generated texts showed: what can be generated, the calls that cannot, and their
    features."""

    sources: tuple[Source, ...]
    unnamed: tuple[str, ...]
    features: frozenset[str]
    runs: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A run: its case, what it showed, what it printed where it crashed, and where it is recorded."""

    case: str
    seen: Seen
    output: str = ""
    answer: str = ""
    tape: str = ""
    session: str = ""


class Journal:
    """An open state file; `earlier` are the runs that it held, by number."""

    def __init__(self, path: Path, about: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on. Raises UsageError where it is
        another search's, is held, or is no state file."""
        self.path = path
        self.earlier: dict[int, Kept] = {}
        self.calm: Calm | None = None
        self.resumed = 0
        """Runs that it held when it was opened."""
        self._file = StateFile(path, "fuzz", about, "command, options, budget and seed")
        try:
            for line in self._file.earlier:
                self._keep(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            self._file.close()
            raise self._file.unreadable() from None
        self.resumed = len(self.earlier)

    def append(self, number: int, kept: Kept) -> None:
        """Write down a run, and wait until it is on disk."""
        self.earlier[number] = kept
        seen = kept.seen
        self._file.append(
            {
                "number": number,
                "case": kept.case,
                "reached": list(seen.reached),
                "features": sorted(seen.features),
                "crash": None if seen.crash is None else list(seen.crash),
                "void": seen.void,
                "sources": [discover.as_json(one) for one in seen.sources],
                "output": kept.output,
                "answer": kept.answer,
                "tape": kept.tape,
                "session": kept.session,
            }
        )

    def append_calm(self, calm: Calm) -> None:
        """Write down what the runs without generated texts showed."""
        self.calm = calm
        self._file.append(
            {
                "calm": [discover.as_json(one) for one in calm.sources],
                "unnamed": list(calm.unnamed),
                "features": sorted(calm.features),
                "runs": calm.runs,
            }
        )

    def taken(self, number: int, case: str) -> Kept | None:
        """The run of that number, where it was made already. Raises UsageError where it was another case's:
        what decided on the cases before it has changed."""
        kept = self.earlier.get(number)
        if kept is not None and kept.case != case:
            raise UsageError(
                f"found another case as run {number} in `{self.path}`, expected what this search makes",
                code="fuzz.state",
                hint="remove it: it is of another version of faultwire",
            )
        return kept

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def _keep(self, line: dict[str, Any]) -> None:
        features = frozenset(map(str, line["features"]))
        if "calm" in line:
            sources = tuple(discover.read(one) for one in line["calm"])
            self.calm = Calm(sources, tuple(map(str, line["unnamed"])), features, int(line["runs"]))
            return
        found = line["crash"]
        crash = None if found is None else Crash(found[0], str(found[1]), str(found[2]), tuple(found[3]))
        reached = tuple(line["reached"])
        if (crash is not None and crash.kind not in KINDS) or set(reached) - set(get_args(Reached)):
            raise ValueError
        sources = tuple(discover.read(one) for one in line["sources"])
        seen = Seen(reached, features, crash, str(line["void"]), sources)
        texts = (str(line[key]) for key in ("output", "answer", "tape", "session"))
        self.earlier[int(line["number"])] = Kept(str(line["case"]), seen, *texts)
