"""Runs the steps on a connection that is open already: `faultwire.store.database` hands it over."""

from __future__ import annotations

from alembic import context

from faultwire.store.schema import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables,
    transactional_ddl=True,
)
context.run_migrations()
