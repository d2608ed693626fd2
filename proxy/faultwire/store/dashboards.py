"""Questions over many runs of a project, answered by indexes: counts of verdicts, and changing cells."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from faultwire.store.database import in_project
from faultwire.store.schema import cells, phases, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

MOST = 50
"""Runs that a question looks at."""
LISTED = 100
"""Cells that are listed."""
VERDICTS = ("pass", "fail", "unknown")
DIGESTS = ("config_digest", "profiles_digest")
"""What two runs must have in common for their cells to be the same question."""


@dataclass(frozen=True, slots=True)
class ChangingCell:
    """A cell with both passes and failures over runs of one agent: `passed` of `judged`, in `runs` runs."""

    invocation: str
    invariant: str
    scenario: str
    passed: int
    judged: int


def counts(engine: Engine, project: str, most: int = MOST) -> Sequence[Mapping[str, Any]]:
    """The latest runs of a project, the oldest first, each with its counts by verdict and by scenario."""
    latest = sa.select(runs).where(runs.c.project == project)
    latest = latest.order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(most)
    with in_project(engine, project) as connection:
        found = [dict(row) for row in connection.execute(latest).mappings()][::-1]
        by_run: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
        columns = (cells.c.run, cells.c.scenario, cells.c.verdict)
        query = sa.select(*columns, sa.func.count().label("count")).where(
            cells.c.project == project, cells.c.run.in_([run["id"] for run in found])
        )
        for run, scenario, verdict, count in connection.execute(query.group_by(*columns)):
            by_run[run].setdefault(scenario, dict.fromkeys(VERDICTS, 0))[verdict] = count
    return [{**run, "scenarios": by_run[run["id"]], "verdicts": _summed(by_run[run["id"]])} for run in found]


def _summed(scenarios: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {verdict: sum(one[verdict] for one in scenarios.values()) for verdict in VERDICTS}


def changing(engine: Engine, project: str, run: str, most: int = 20) -> Sequence[ChangingCell]:
    """Cells that passed and failed over the latest runs of the agent, the configuration and the profiles of
    this run, the evenest first: with nothing changed, their verdicts are a matter of chance."""
    same = (runs.c.agent_digest, *(runs.c[name] for name in DIGESTS))
    with in_project(engine, project) as connection:
        mine = connection.execute(sa.select(*same).where(runs.c.project == project, runs.c.id == run)).first()
        if mine is None or mine[0] is None:
            return []
        alike = sa.select(runs.c.id).where(
            runs.c.project == project,
            *(column.is_not_distinct_from(value) for column, value in zip(same, mine, strict=True)),
        )
        alike = alike.order_by(runs.c.started_at.desc()).limit(most)
        names = list(connection.scalars(alike))
        passed = sa.func.sum(sa.case((cells.c.verdict == "pass", 1), else_=0))
        judged = sa.func.count()
        # As an expression, since SQLite would else walk the index by invocation, over the cells of all runs.
        keys = (cells.c.invocation + "", cells.c.invariant, cells.c.scenario)
        query = (
            sa.select(*keys, passed.label("passed"), judged.label("judged"))
            .where(cells.c.project == project, cells.c.run.in_(names), cells.c.verdict != "unknown")
            .group_by(*keys)
            .having(passed > 0, passed < judged)
            .order_by(sa.func.abs(2 * passed - judged), *keys)
            .limit(LISTED)
        )
        return [ChangingCell(*row) for row in connection.execute(query)]


def phase_names(engine: Engine, project: str, run: str) -> Sequence[str]:
    """The phases of a run, by name."""
    query = sa.select(phases.c.name).where(phases.c.project == project, phases.c.run == run)
    with in_project(engine, project) as connection:
        return sorted(connection.scalars(query))


def project_names(engine: Engine) -> Sequence[str]:
    """All projects that there are."""
    from faultwire.store.schema import projects

    with engine.connect() as connection:
        return sorted(connection.scalars(sa.select(projects.c.name)))
