"""What a team adds to runs: comments, and which run the others are compared with. Rows are only added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from faultwire import dice
from faultwire.clock import iso, wall_ms
from faultwire.errors import UsageError, printable
from faultwire.store.database import in_project
from faultwire.store.schema import baselines, comments, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Engine

LONGEST = 4000
"""Characters of a comment."""


def comment(engine: Engine, project: str, run: str, author: str, text: str) -> Mapping[str, Any]:
    """Add a comment. Raises UsageError for an unknown run, and for a text that is empty or too long."""
    if not text.strip() or len(text) > LONGEST or "\0" in text:
        raise UsageError(
            f"found a comment of {len(text)} characters, expected 1 to {LONGEST} without NUL",
            code="usage.comment",
        )
    row = {
        "project": project, "id": dice.token(8), "run": run, "author": author[:200], "text": text,
        "written_at": iso(wall_ms()),
    }  # fmt: skip
    with in_project(engine, project) as connection:
        _known(connection, project, run)
        connection.execute(comments.insert().values(**row))
    return row


def comments_on(engine: Engine, project: str, run: str) -> Sequence[Mapping[str, Any]]:
    """All comments on a run, the oldest first."""
    query = sa.select(comments).where(comments.c.project == project, comments.c.run == run)
    with in_project(engine, project) as connection:
        found = connection.execute(query.order_by(comments.c.written_at, comments.c.id)).mappings()
        return [dict(row) for row in found]


def promote(engine: Engine, project: str, run: str, by: str, reason: str) -> Mapping[str, Any]:
    """Compare later runs with this one. Raises UsageError for an unknown run."""
    with in_project(engine, project) as connection:
        _known(connection, project, run)
        last = connection.scalar(
            sa.select(sa.func.max(baselines.c.number)).where(baselines.c.project == project)
        )
        row = {
            "project": project, "number": (last or 0) + 1, "run": run, "promoted_by": by[:200],
            "reason": reason[:400], "promoted_at": iso(wall_ms()),
        }  # fmt: skip
        connection.execute(baselines.insert().values(**row))
    return row


def baseline(engine: Engine, project: str) -> Mapping[str, Any] | None:
    """What runs are compared with now; None where nothing was promoted."""
    query = sa.select(baselines).where(baselines.c.project == project)
    with in_project(engine, project) as connection:
        found = connection.execute(query.order_by(baselines.c.number.desc()).limit(1)).mappings().first()
    return None if found is None else dict(found)


def _known(connection: Connection, project: str, run: str) -> None:
    query = sa.select(runs.c.id).where(runs.c.project == project, runs.c.id == run)
    if connection.scalar(query) is None:
        raise UsageError(f"the store has no run `{printable(run)[:64]}`", code="store.no_run")
