"""Results of blame, and which tapes a run has, so that a database and a place for tapes can be compared."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from faultwire.store.migrations.versions.v0001_runs import only_added

revision = "0004"
down_revision = "0003"

APPENDED = ("blames", "run_tapes")


def upgrade() -> None:
    """Make the tables, and what keeps their rows."""
    op.create_table(
        "blames",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("pushed_by", sa.String(200), nullable=False),
        sa.Column("pushed_at", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("project", "run", "id", name="pk_blames"),
        sa.ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"], name="fk_blames_runs"),
    )
    op.create_table(
        "run_tapes",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("project", "run", "name", "number", name="pk_run_tapes"),
        sa.ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"], name="fk_run_tapes_runs"),
    )
    for table in APPENDED:
        only_added(table)
