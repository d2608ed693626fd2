"""Earlier runs: what their `run.json` says, and the reports in their folders. All of it is input from a
file, so nothing is trusted to have its shape."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.contract.overall import PHASES
from faultwire.errors import UsageError, nearest
from faultwire.runner.folder import STATE, is_held
from faultwire.runner.run_identity import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.runner.run_identity import RunIdentity

DIGESTS = tuple(WORDS)
MOST = 64 * 1024
"""Bytes of a `run.json` that are read."""


@dataclass(frozen=True, slots=True)
class PastRuns:
    """An earlier run. `score` is 0 to 1; `scores` are by phase. Missing values are None."""

    id: str
    path: Path
    command: str
    status: str
    started_at: str
    seed: int | None = None
    score: float | None = None
    gate: str | None = None
    config: str | None = None
    made_of: Mapping[str, str] = field(default_factory=dict)
    """Digests of its configuration, agent and profiles, as far as `run.json` has them."""
    scores: tuple[tuple[str, float], ...] = ()
    error: str | None = None
    """The code of what made it inconclusive."""
    why: str | None = None
    """The same in words."""
    report_error: str | None = None
    """Why its report could not be written."""

    def as_json(self) -> dict[str, Any]:
        """For programs, and for the trend in a report."""
        return {
            "id": self.id,
            "command": self.command,
            "status": self.status,
            "started_at": self.started_at,
            "seed": self.seed,
            "score": self.score,
            "gate": self.gate,
            "config": self.config,
            "scores": dict(self.scores),
        }


@dataclass(frozen=True, slots=True)
class Trend:
    """Runs that can be compared with one, the oldest first, and how many others there are by what they were
    made of differently."""

    runs: tuple[dict[str, Any], ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def runs(base: Path = STATE) -> list[PastRuns]:
    """Every run whose `run.json` can be read, the oldest first."""
    folder = base / "runs"
    if not folder.is_dir():
        return []
    return sorted(_found(folder), key=lambda run: (run.started_at, run.id))


def trend(base: Path, config: Path, before: str, phases: set[str], same: RunIdentity) -> Trend:
    """The finished runs of the same phases on the same file that came before one and were made of the `same`
    configuration, agent and profiles; scores 0 to 100. The others are counted by what differs."""
    comparable: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for run in runs(base):
        if run.status != "finished" or run.config != str(config) or run.id == before:
            continue
        if {name for name, _ in run.scores} != phases:
            continue
        different = same.differs(run.made_of)
        if different is not None:
            left_out[different] += 1
        else:
            score = None if run.score is None else round(run.score * 100, 2)
            comparable.append(run.as_json() | {"score": score})
    return Trend(tuple(comparable), dict(left_out))


def run_folder(name: str, base: Path = STATE) -> Path:
    """The folder of a run, by its id, by the beginning of one, `last`, or by path. Raises UsageError."""
    path = Path(name)
    if path.is_dir() and (path / "run.json").is_file():
        return path
    known = [run.id for run in runs(base)]
    found = known[-1:] if name == "last" else [one for one in known if one == name or one.startswith(name)]
    if len(found) == 1:
        return base / "runs" / found[0]
    many = f"{len(found)} run ids start with it" if found else f"expected one below `{base / 'runs'}`"
    close = nearest(name, known)
    raise UsageError(
        f"found no single run `{name}`, {many}",
        code="usage.no_run",
        hint=f"did you mean `{close}`?" if close else "`faultwire runs` lists them",
    )


def phases_in(folder: Path) -> list[str]:
    """The phases of a run that has a report for each, in order; none of a run that has but one report."""
    if any(run.path == folder and run.command == "exec" for run in _found(folder.parent)):
        return []  # what `exec --replay` leaves is called as the report of a phase is
    return [name for name in PHASES if (folder / f"{name}.json").is_file()]


def _found(folder: Path) -> Iterator[PastRuns]:
    for path in folder.iterdir():
        try:
            with (path / "run.json").open("rb") as file:
                about = json.loads(file.read(MOST))
        except (OSError, ValueError, RecursionError):
            continue  # a folder without a readable `run.json` is no run of ours
        if isinstance(about, dict):
            yield _read(path, about)


def _read(path: Path, about: dict[str, Any]) -> PastRuns:
    def text(key: str) -> str | None:
        value = about.get(key)
        return value if isinstance(value, str) else None

    status = text("status") or "?"
    if status == "running" and not is_held(path):
        status = "died"
    seed, scores = about.get("seed"), about.get("scores")
    return PastRuns(
        id=path.name,
        path=path,
        command=text("command") or "?",
        status=status,
        started_at=text("started_at") or "",
        seed=seed if isinstance(seed, int) else None,
        score=_share(about.get("score")),
        gate=text("gate"),
        config=text("config"),
        made_of={key: digest for key in DIGESTS if (digest := text(key)) is not None},
        scores=tuple(
            (str(name), value)
            for name, each in (scores.items() if isinstance(scores, dict) else ())
            if (value := _share(each)) is not None
        ),
        error=text("error"),
        why=text("why"),
        report_error=text("report_error"),
    )


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
