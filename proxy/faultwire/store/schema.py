"""The tables of a store of results. `migrations/` makes them; a test holds both to be the same."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
}
tables = MetaData(naming_convention=NAMES)

projects = Table("projects", tables, Column("name", String(100), primary_key=True))
"""Whose rows are whose: every other table has the project in its key."""

runs = Table(
    "runs",
    tables,
    Column("project", String(100), ForeignKey("projects.name"), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("content", String(64), nullable=False),
    Column("command", String(40), nullable=False),
    Column("status", String(20), nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("ended_at", String(40)),
    Column("seed", Integer),
    Column("score", Float),
    Column("gate", String(20)),
    Column("ledger", String(64)),
    Column("config_digest", String(64)),
    Column("agent_digest", String(64)),
    Column("profiles_digest", String(64)),
    Column("commit_id", String(64)),
    Column("version", String(40), nullable=False),
    Index("ix_runs_project_started_at", "project", "started_at"),
)
"""A run that has ended. `content` is a hash of all that is kept of it; instants are RFC 3339 texts in UTC."""

phases = Table(
    "phases",
    tables,
    Column("project", String(100), primary_key=True),
    Column("run", String(64), primary_key=True),
    Column("name", String(40), primary_key=True),
    Column("score", Float),
    Column("report", LargeBinary, nullable=False),
    ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"]),
)
"""`report` is the phase's report as JSON, compressed (Zstandard)."""

cells = Table(
    "cells",
    tables,
    Column("project", String(100), primary_key=True),
    Column("run", String(64), primary_key=True),
    Column("phase", String(40), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("invocation", String(400), nullable=False),
    Column("invariant", String(200), nullable=False),
    Column("scenario", String(200), nullable=False),
    Column("severity", String(20), nullable=False),
    Column("verdict", String(20), nullable=False),
    ForeignKeyConstraint(["project", "run", "phase"], ["phases.project", "phases.run", "phases.name"]),
    Index("ix_cells_project_invocation_invariant", "project", "invocation", "invariant"),
    Index("ix_cells_project_run_scenario_verdict", "project", "run", "scenario", "verdict"),
)

comments = Table(
    "comments",
    tables,
    Column("project", String(100), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("run", String(64), nullable=False),
    Column("author", String(200), nullable=False),
    Column("text", String(4000), nullable=False),
    Column("written_at", String(40), nullable=False),
    ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"]),
    Index("ix_comments_project_run", "project", "run"),
)

baselines = Table(
    "baselines",
    tables,
    Column("project", String(100), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("run", String(64), nullable=False),
    Column("promoted_by", String(200), nullable=False),
    Column("reason", String(400), nullable=False),
    Column("promoted_at", String(40), nullable=False),
    ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"]),
)
"""What runs are compared with: the row with the largest `number` counts, the others are earlier ones."""

tokens = Table(
    "tokens",
    tables,
    Column("project", String(100), ForeignKey("projects.name"), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("role", String(20), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("run", String(64)),
    Column("made_by", String(200), nullable=False),
    Column("made_at", String(40), nullable=False),
    Column("expires_at", String(40), nullable=False),
    Column("revoked_at", String(40)),
)
"""Who may come in: `digest` is the SHA-256 of the secret. One that names a `run` is a link to share, which
shows that run and nothing else."""

blames = Table(
    "blames",
    tables,
    Column("project", String(100), primary_key=True),
    Column("run", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("pushed_by", String(200), nullable=False),
    Column("pushed_at", String(40), nullable=False),
    ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"]),
)
"""What `faultwire blame` found of a run: `document` is its `blame.json`, compressed (Zstandard), `id` its
hash."""

run_tapes = Table(
    "run_tapes",
    tables,
    Column("project", String(100), primary_key=True),
    Column("run", String(64), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    ForeignKeyConstraint(["project", "run"], ["runs.project", "runs.id"]),
)
"""The tapes of a run by the name in its folder and the SHA-256 of the file; of several with one name the row
with the largest `number` counts."""

SEPARATED = ("runs", "phases", "cells")
"""Tables that are append-only, and whose rows are seen from within their project alone."""
TEAM_APPENDED = ("comments", "baselines")
"""The same, of what a team adds."""
ADDED_LATER = ("blames", "run_tapes")
"""The same, of what is pushed beside a run."""
TEAM_CHANGED = ("tokens",)
"""Seen from within their project alone; a row may be changed."""
