"""A database of results: opened by its URL, brought to the version of this faultwire, and no newer one.

`sqlite:///PATH` (SQLAlchemy's form: three slashes and a relative path, four and an absolute one) or
`postgresql://USER@HOST/NAME`. PostgreSQL itself keeps rows of other projects away (row-level security); a
superuser is above that, so that a team's users should have a role that is none.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    Database = Engine
    """For those who hand one on and ask it nothing."""

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
HINT = "`sqlite:///results.db`, or `postgresql://USER@HOST/NAME`"
LOCK = 0x46575354
"""The advisory lock of PostgreSQL under which the schema is changed: `FWST`."""


def open_engine(url: str) -> Engine:
    """A database that has the newest schema of this faultwire.

    Raises UsageError for what is no URL, for a missing package, and for a schema of a later faultwire;
    FaultwireError where the database cannot be reached.
    """
    engine = _engine(url)
    from sqlalchemy.exc import SQLAlchemyError

    try:
        _upgrade(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise unreachable(engine, error) from error
    except UsageError:
        engine.dispose()
        raise
    return engine


def _engine(url: str) -> Engine:
    try:
        import sqlalchemy as sa
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise _missing("sqlalchemy", "store") from error
    try:
        parsed = sa.make_url(url)
    except ArgumentError as error:
        raise UsageError("found no URL for --store", code="usage.store", hint=HINT) from error
    driver = DRIVERS.get(parsed.drivername)
    if driver is None or not parsed.database:
        raise UsageError(
            f"found `{parsed.render_as_string(hide_password=True)}` for --store, expected a database",
            code="usage.store",
            hint=HINT,
        )
    if driver == "sqlite" and not Path(parsed.database).parent.is_dir():
        folder = Path(parsed.database).parent
        raise UsageError(f"found no folder `{folder}`, expected one for --store", code="usage.store")
    try:
        engine = sa.create_engine(parsed.set(drivername=driver), hide_parameters=True)
    except ImportError as error:
        raise _missing("psycopg", "postgresql") from error
    if driver == "sqlite":
        _for_sqlite(engine)
    return engine


def _missing(package: str, extra: str) -> UsageError:
    return UsageError(
        f"found no `{package}`, expected it for --store",
        code="usage.store",
        hint=f"pip install 'faultwire[{extra}]'",
    )


def _for_sqlite(engine: Engine) -> None:
    """Several processes may write: each transaction takes the lock at its beginning and waits for it, where
    Python's own driver would begin one only at the first change."""
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "foreign_keys = ON",
            "busy_timeout = 30000",
            "journal_mode = WAL",
            "synchronous = FULL",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _upgrade(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from sqlalchemy import text

    settings = Config()
    settings.set_main_option("script_location", str(resources.files("faultwire.store") / "migrations"))
    known = ScriptDirectory.from_config(settings)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        now = MigrationContext.configure(connection).get_current_revision()
        if now is not None and now not in {step.revision for step in known.walk_revisions()}:
            raise UsageError(
                f"found the schema `{now[:40]}` in the store, expected at most `{known.get_current_head()}`",
                code="store.newer",
                hint="a later faultwire made it: `pip install --upgrade faultwire` here, or start its newer "
                "image; a schema never goes back",
            )
        if now != known.get_current_head():
            settings.attributes["connection"] = connection
            command.upgrade(settings, "head")


def answers(engine: Engine) -> None:
    """Ask the database for nothing. Raises FaultwireError where it does not answer."""
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        raise unreachable(engine, error) from error


@contextmanager
def in_project(engine: Engine, project: str) -> Iterator[Connection]:
    """A transaction that sees one project. Raises FaultwireError where the database fails."""
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                query = text("SELECT set_config('faultwire.project', :name, true)")
                connection.execute(query, {"name": project})
            yield connection
    except SQLAlchemyError as error:
        raise unreachable(engine, error) from error


def unreachable(engine: Engine, error: Exception) -> FaultwireError:
    """The error for a database that does not do what it should, without its password."""
    place = engine.url.render_as_string(hide_password=True)
    why = str(getattr(error, "orig", None) or error).strip().splitlines()
    return FaultwireError(
        f"the store `{place}` failed: {why[0][:200] if why else type(error).__name__}",
        code="store.failed",
        hint="nothing of the run was stored; `faultwire push RUN --store …` stores it later",
    )
