"""Results of `explore`, `shrink` and `evolve`, and runs with mutants: which there are, and where each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.clock import iso
from faultwire.report.text import line
from faultwire.runner.past_runs import runs
from faultwire.shrink.repro import ABOUT, TAPE
from faultwire.workbench.explored_view import explored
from faultwire.workbench.mutants_view import evolved, mutants
from faultwire.workbench.shrunk_view import shrunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MOST = 200
"""Results that are listed."""
REPRO = "-repro"
"""How the name of a folder ends that shows a failure."""
EVOLUTION = "evolution.json"
PHASE = "mutation"
"""The part of a run in which mutants are asked, as `run.json` and its report are called there."""


class Analysis(NamedTuple):
    """One result: its kind, its name there, the file or folder that holds it, and when it was written."""

    kind: str
    id: str
    path: Path
    written_s: float


VIEWS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "explore": explored,
    "shrink": shrunk,
    "evolve": evolved,
    "mutations": mutants,
}
"""What is shown of each kind."""


def results(base: Path) -> list[Analysis]:
    """The newest results, the newest first. Nothing that is reached by a link is one."""
    found = [*_explored(base), *_shrunk(base), *_of_runs(base)]
    return sorted(found, key=lambda one: one.written_s, reverse=True)[:MOST]


def listed(base: Path) -> list[dict[str, Any]]:
    """The same for the page."""
    return [
        {"kind": one.kind, "id": line(one.id), "written_at": iso(int(one.written_s * 1000))}
        for one in results(base)
    ]


def result_of(base: Path, kind: str, ident: str) -> Analysis | None:
    """The result of this kind and name; None where there is none."""
    return next((one for one in results(base) if (one.kind, line(one.id)) == (kind, ident)), None)


def tape_of(analysis: Analysis, number: int = 0) -> Path | None:
    """The tape with the evidence: of a run its own, else that of a repro folder, the `number`-th (from 1)
    where a search wrote several. None where there is none."""
    if analysis.kind == "shrink":
        path = analysis.path / TAPE
    elif analysis.kind == "explore":
        path = repros_of(analysis) / str(number) / TAPE
    else:
        path = analysis.path.parent / "run.tape"
    return path if _is_file(path) else None


def repros_of(analysis: Analysis) -> Path:
    """Where a search of faults has put its repro folders, which are numbered as its failures are."""
    return analysis.path.with_name(f"{analysis.path.stem}{REPRO}")


def _explored(base: Path) -> Iterator[Analysis]:
    for path in (base / "explore").glob("*.json"):
        if _is_file(path):
            yield Analysis("explore", path.stem, path, path.stat().st_mtime)


def _shrunk(base: Path) -> Iterator[Analysis]:
    for path in (base / "shrink").glob(f"*{REPRO}/{ABOUT}"):
        if _is_file(path):
            folder = path.parent
            yield Analysis("shrink", folder.name.removesuffix(REPRO), folder, path.stat().st_mtime)


def _of_runs(base: Path) -> Iterator[Analysis]:
    for run in runs(base):
        evolution = run.path / EVOLUTION
        if _is_file(evolution):
            yield Analysis("evolve", run.id, evolution, evolution.stat().st_mtime)
        if any(name == PHASE for name, _ in run.scores):
            reports = (run.path / f"{name}.json" for name in (PHASE, "report"))
            path = next(filter(_is_file, reports), None)
            if path is not None:
                yield Analysis("mutations", run.id, path, path.stat().st_mtime)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
