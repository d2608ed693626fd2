"""What is missing between the two places of a team: runs in the database, and tapes in the object store.

Each is kept by itself, so that a restore of one without the other, or a push that was cut between the two,
leaves a run without its tape or a tape without its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import sqlalchemy as sa

from faultwire.store.database import in_project
from faultwire.store.schema import run_tapes, runs
from faultwire.store.tapes import kept, lacking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from faultwire.store.objects import Objects

Kind = Literal["tape", "pieces", "run"]


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that is not there: the `tape` of a `run`, `pieces` of a tape, or the `run` of a tape.

    `run` is None where none is known, `name` that of the tape's file in the run's folder.
    """

    kind: Kind
    digest: str
    run: str | None = None
    name: str | None = None
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """How much was compared: `unknown` are runs of which the database does not know their tapes, since an
    earlier faultwire stored them."""

    runs: int
    tapes: int
    unknown: int
    missing: tuple[Missing, ...]


def compare(engine: Engine, objects: Objects, project: str) -> Found:
    """Compare the two for one project. Raises what reading them raises."""
    with in_project(engine, project) as connection:
        total = sa.select(sa.func.count()).select_from(runs).where(runs.c.project == project)
        count = connection.scalar(total) or 0
        mine = sa.select(run_tapes).where(run_tapes.c.project == project)
        rows = connection.execute(mine.order_by(run_tapes.c.number)).mappings()
        # Of a tape that was sealed or erased anew the last one counts.
        latest = {(row["run"], row["name"]): row["digest"] for row in rows}
    there = set(kept(objects, project))
    damaged = dict(lacking(objects, project, there))
    missing = [Missing("tape", digest, *key) for key, digest in latest.items() if digest not in there]
    missing += _of_tapes(there, latest, damaged)
    known = len({run for run, _ in latest})
    return Found(count, len(there), count - known, tuple(missing))


def _of_tapes(
    there: set[str], latest: dict[tuple[str, str], str], damaged: dict[str, int]
) -> Iterator[Missing]:
    runs_of = {digest: key for key, digest in latest.items()}
    for digest in sorted(there):
        run, name = runs_of.get(digest, (None, None))
        if digest in damaged:
            yield Missing("pieces", digest, run, name, damaged[digest])
        if run is None:
            yield Missing("run", digest)
