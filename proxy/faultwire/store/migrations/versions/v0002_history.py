"""Indexes for a project's latest runs, and for the history of one cell over them."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the indexes."""
    op.create_index("ix_runs_project_started_at", "runs", ["project", "started_at"])
    op.create_index("ix_cells_project_invocation_invariant", "cells", ["project", "invocation", "invariant"])
