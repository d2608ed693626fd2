"""What is left of runs: which there are, their reports, and two of them call by call."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern is fixed
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from faultwire.clock import iso
from faultwire.report.text import line
from faultwire.runner.past_runs import runs
from faultwire.tape.files.find import find
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.row import short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from faultwire.events import Recorded

MOST_RUNS = 200
MOST_CALLS = 5_000
"""Calls of one tape that are compared."""
REPORT = re.compile(r"[a-z][a-z0-9_-]{0,40}\.html")
ANALYSES = ("blame",)
"""Folders below the project's own with a folder for each analysis, which holds its page."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""Reports hold no script, and their styles stand in the page itself."""


def past(base: Path, shown: Path | None = None) -> list[dict[str, Any]]:
    """The newest runs, the newest first, with the names of their reports; `shown` is the tape of the page,
    and the run that it is of has nothing to be compared with."""
    found = []
    for run in runs(base)[: -MOST_RUNS - 1 : -1]:
        about = {name: line(one) if isinstance(one, str) else one for name, one in run.as_json().items()}
        reports = sorted(path.name for path in run.path.iterdir() if REPORT.fullmatch(path.name))
        tapes = list(run.path.glob("*.tape"))
        here = shown is not None and any(_is_same(shown, tape) for tape in tapes)
        found.append({**about, "id": run.id, "reports": reports, "tape": bool(tapes), "here": here})
    return found


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # pruned meanwhile
        return False


def analyses(base: Path) -> list[dict[str, Any]]:
    """The pages of the newest analyses, the newest first."""
    found = [
        (path.stat().st_mtime, kind, path)
        for kind in ANALYSES
        for path in (base / kind).glob("*/*.html")
        if _is_page(path)
    ]
    newest = sorted(found, key=lambda one: one[0], reverse=True)[:MOST_RUNS]
    return [
        {
            "kind": kind, "id": line(path.parent.name), "name": path.name,
            "written_at": iso(int(when * 1000)),
        }
        for when, kind, path in newest
    ]  # fmt: skip


def analysis_of(base: Path, kind: str, ident: str, name: str) -> bytes | None:
    """The page of an analysis; None where there is none of that name."""
    if kind not in ANALYSES:
        return None
    pages = (base / kind).glob("*/*.html")
    path = next((one for one in pages if (one.parent.name, one.name) == (ident, name)), None)
    return path.read_bytes() if path is not None and _is_page(path) else None


def _is_page(path: Path) -> bool:
    return bool(REPORT.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def report_of(base: Path, ident: str, name: str) -> bytes | None:
    """A report of a run; None where there is none of that name."""
    run = next((one for one in runs(base) if one.id == ident), None)
    if run is None or not REPORT.fullmatch(name):
        return None
    path = run.path / name
    return path.read_bytes() if _is_page(path) else None


def compared(one: Iterable[Recorded], ident: str) -> dict[str, Any]:
    """A tape's exchanges beside those of a run. Raises TapeError."""
    with TapeReader.open(find(ident)) as reader:
        other = [found for session in reader.sessions() for found in reader.exchanges(session.name)]
        lines = list(pairs(list(islice(one, MOST_CALLS)), other[:MOST_CALLS]))
    same = sum(found["difference"] is None for found in lines)
    return {"with": line(ident), "lines": lines, "same": same, "different": len(lines) - same}


def pairs(one: list[Recorded], other: list[Recorded]) -> Iterator[dict[str, Any]]:
    """Call by call: an exchange and the one in which the same was asked, in the session of the same name
    where there is one, else in any: phases and repeats name their sessions differently."""
    left = {id(found): found for found in other}
    partners = dict(_paired(one, left, lambda found: (found.session, *_asked(found))))
    rest = [mine for mine in one if id(mine) not in partners]
    partners |= dict(_paired(rest, left, _asked))
    for mine in one:
        theirs = partners.get(id(mine))
        difference = "only here" if theirs is None else _difference(mine, theirs)
        yield {"one": short(mine), "other": theirs and short(theirs), "difference": difference}
    for theirs in left.values():
        yield {"one": None, "other": short(theirs), "difference": "only in the other"}


def _paired(
    one: list[Recorded], left: dict[int, Recorded], same: Callable[[Recorded], tuple[Any, ...]]
) -> Iterator[tuple[int, Recorded]]:
    """Partners by the id of an exchange; they are taken out of `left`."""
    waiting: dict[tuple[Any, ...], list[Recorded]] = defaultdict(list)
    for found in left.values():
        waiting[same(found)].append(found)
    for mine in one:
        found_here = waiting[same(mine)]
        if found_here:
            yield id(mine), left.pop(id(found_here.pop(0)))


def _asked(recorded: Recorded) -> tuple[Any, ...]:
    return (recorded.key, recorded.n, recorded.attempt)


def _difference(mine: Recorded, theirs: Recorded) -> str | None:
    got, gotten = mine.delivered, theirs.delivered
    if mine.ending != theirs.ending:
        return "another ending"
    if (got.status if got else None) != (gotten.status if gotten else None):
        return "another status"
    if got is not None and gotten is not None and got.body != gotten.body:
        return "another answer"
    return None
