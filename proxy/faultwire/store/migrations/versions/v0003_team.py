"""Comments, baselines and tokens of a team, and an index for the counts of a run's verdicts."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from faultwire.store.migrations.versions.v0001_runs import only_added, separated

revision = "0003"
down_revision = "0002"

APPENDED = ("comments", "baselines")
CHANGED = ("tokens",)


def upgrade() -> None:
    """Make the tables, and what keeps their rows."""
    op.create_index(
        "ix_cells_project_run_scenario_verdict", "cells", ["project", "run", "scenario", "verdict"]
    )
    _of_a_run("comments", ("id", sa.String(32)), ("author", 200), ("text", 4000), ("written_at", 40))
    op.create_index("ix_comments_project_run", "comments", ["project", "run"])
    _of_a_run(
        "baselines", ("number", sa.Integer()), ("promoted_by", 200), ("reason", 400), ("promoted_at", 40)
    )
    _tokens()
    for table in APPENDED:
        only_added(table)
    if op.get_bind().dialect.name != "sqlite":
        for table in CHANGED:
            separated(table)


def _of_a_run(name: str, key: tuple[str, Any], *texts: tuple[str, int]) -> None:
    column, kind = key
    op.create_table(
        name,
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column(column, kind, autoincrement=False, nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        *(sa.Column(text, sa.String(size), nullable=False) for text, size in texts),
        sa.PrimaryKeyConstraint("project", column, name=f"pk_{name}"),
        sa.ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"], name=f"fk_{name}_runs"),
    )


def _tokens() -> None:
    needed = (("name", 100), ("role", 20), ("digest", 64))
    made = (("made_by", 200), ("made_at", 40), ("expires_at", 40))
    op.create_table(
        "tokens",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        *(sa.Column(name, sa.String(size), nullable=False) for name, size in needed),
        sa.Column("run", sa.String(64)),
        *(sa.Column(name, sa.String(size), nullable=False) for name, size in made),
        sa.Column("revoked_at", sa.String(40)),
        sa.PrimaryKeyConstraint("project", "id", name="pk_tokens"),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name="fk_tokens_projects"),
    )
