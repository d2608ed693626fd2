"""Projects, runs, phases and cells; rows are added, and never changed or removed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

SEPARATED = ("runs", "phases", "cells")


def upgrade() -> None:
    """Make the tables, and what keeps their rows."""
    op.create_table(
        "projects", sa.Column("name", sa.String(100)), sa.PrimaryKeyConstraint("name", name="pk_projects")
    )
    _runs()
    op.create_table(
        "phases",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("score", sa.Float()),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project", "run", "name", name="pk_phases"),
        sa.ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"], name="fk_phases_runs"),
    )
    op.create_table(
        "cells",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("phase", sa.String(40), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        *(
            sa.Column(name, sa.String(size), nullable=False)
            for name, size in (
                ("invocation", 400), ("invariant", 200), ("scenario", 200), ("severity", 20), ("verdict", 20),
            )
        ),
        sa.PrimaryKeyConstraint("project", "run", "phase", "number", name="pk_cells"),
        sa.ForeignKeyConstraint(
            ["project", "run", "phase"], ["phases.project", "phases.run", "phases.name"],
            name="fk_cells_phases",
        ),
    )  # fmt: skip
    for table in SEPARATED:
        only_added(table)


def _runs() -> None:
    optional = (
        ("gate", 20),
        ("ledger", 64),
        ("config_digest", 64),
        ("agent_digest", 64),
        ("profiles_digest", 64),
    )
    op.create_table(
        "runs",
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("command", sa.String(40), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("ended_at", sa.String(40)),
        sa.Column("seed", sa.Integer()),
        sa.Column("score", sa.Float()),
        *(sa.Column(name, sa.String(size)) for name, size in optional),
        sa.Column("commit_id", sa.String(64)),
        sa.Column("version", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("project", "id", name="pk_runs"),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name="fk_runs_projects"),
    )


def only_added(table: str) -> None:
    """Refuse changes and removals in the database itself, and on PostgreSQL rows of other projects."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are only added'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}only_added() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'rows of {table} are only added'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}only_added()"
    )
    separated(table)


def separated(table: str) -> None:
    """Have PostgreSQL keep rows of other projects away."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    here = "project = current_setting('faultwire.project', true)"
    op.execute(f"CREATE POLICY {table}_project ON {table} USING ({here}) WITH CHECK ({here})")
