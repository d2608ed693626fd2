"""A database has the schema of this faultwire, or is refused before anything is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine

from faultwire.errors import FaultwireError, UsageError
from faultwire.store.database import in_project, open_engine, unreachable
from faultwire.store.migrations.versions import (
    v0001_runs,
    v0002_history,
    v0003_team,
    v0004_operations,
)
from faultwire.store.schema import ADDED_LATER, SEPARATED, TEAM_APPENDED, TEAM_CHANGED, runs, tables

RUN = {"project": "p", "id": "r", "content": "c", "command": "run", "status": "finished", "started_at": "t",
       "version": "1"}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(f"sqlite:///{tmp_path}/results.db")
    yield made
    made.dispose()


def test_the_steps_make_the_tables_that_the_code_knows(engine: Engine) -> None:
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables) == []
    assert (v0001_runs.down_revision, v0002_history.down_revision) == (None, v0001_runs.revision)
    assert v0001_runs.SEPARATED == SEPARATED
    assert (v0003_team.down_revision, v0003_team.APPENDED) == (v0002_history.revision, TEAM_APPENDED)
    assert v0003_team.CHANGED == TEAM_CHANGED
    assert (v0004_operations.revision, v0004_operations.APPENDED) == ("0004", ADDED_LATER)


def test_an_older_schema_is_brought_forward_with_what_it_holds(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO projects VALUES ('p')"))
        connection.execute(runs.insert().values(**RUN))
        later = ("ix_cells_project_invocation_invariant", "ix_cells_project_run_scenario_verdict")
        for index in ("ix_runs_project_started_at", *later):
            connection.execute(sa.text(f"DROP INDEX {index}"))
        for table in (*TEAM_APPENDED, *TEAM_CHANGED, *ADDED_LATER):
            connection.execute(sa.text(f"DROP TABLE {table}"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    again = open_engine(f"sqlite:///{tmp_path}/results.db")
    with again.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables) == []
        assert connection.scalar(sa.select(runs.c.id)) == "r"
    again.dispose()


def test_the_steps_only_add_so_that_a_service_of_an_earlier_version_goes_on_beside_a_later_one() -> None:
    folder = Path(v0001_runs.__file__).parent
    for path in sorted(folder.glob("v*.py")):
        assert set(changes(path.read_text())) <= {"create_table", "create_index", "execute", "get_bind"}
    bad = "def upgrade():\n    op.drop_column('runs', 'seed')\n    op.execute('DROP TABLE runs')"
    assert changes(bad) == ["drop_column", "DROP"], "the control"


def changes(source: str) -> list[str]:
    """What a step does to a schema: the names of Alembic's operations, and verbs of SQL that take away."""
    calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]
    names = [one.func.attr for one in calls if isinstance(one.func, ast.Attribute)
             and isinstance(one.func.value, ast.Name) and one.func.value.id == "op"]  # fmt: skip
    texts = [one.value for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant)]
    verbs = [word for text in texts if isinstance(text, str) for word in ("DROP", "RENAME") if word in text]
    return [one for one in names if one != "execute" or not verbs] + verbs


def test_a_newer_schema_is_refused_and_left_alone(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UsageError, match="found the schema `9999`") as raised:
        open_engine(f"sqlite:///{tmp_path}/results.db")
    assert raised.value.code == "store.newer"
    assert "pip install --upgrade faultwire" in str(raised.value.hint)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "9999"


@pytest.mark.parametrize("statement", ["UPDATE runs SET score = 1", "DELETE FROM runs"])
def test_the_database_itself_refuses_to_change_a_run(engine: Engine, statement: str) -> None:
    with in_project(engine, "p") as connection:
        connection.execute(sa.text("INSERT INTO projects VALUES ('p')"))
        connection.execute(runs.insert().values(**RUN))
    with (
        pytest.raises(FaultwireError, match="rows of runs are only added"),
        in_project(engine, "p") as connection,
    ):
        connection.execute(sa.text(statement))


def test_a_transaction_that_fails_leaves_nothing(engine: Engine) -> None:
    def add() -> None:
        with in_project(engine, "p") as connection:
            connection.execute(sa.text("INSERT INTO projects VALUES ('p')"))
            connection.execute(runs.insert().values(**{**RUN, "project": "no such project"}))

    with pytest.raises(FaultwireError):
        add()
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM projects")) == 0


@pytest.mark.parametrize(
    "url", ["results.db", "sqlite://", "mysql://h/d", "postgresql://h", "", "sqlite:////none/there/x.db"]
)
def test_what_is_no_database_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        open_engine(url)
    assert raised.value.code == "usage.store"


def test_a_password_stands_in_no_message() -> None:
    with pytest.raises(UsageError) as refused:
        open_engine("mysql://me:swordfish@h/d")
    assert "swordfish" not in str(refused.value)
    engine = sa.create_engine("postgresql+psycopg://me:swordfish@127.0.0.1:1/d")
    assert "swordfish" not in unreachable(engine, OSError("down")).message


def test_a_file_that_is_no_database_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database at all, but a text that is long enough")
    with pytest.raises(FaultwireError, match=r"x\.db` failed"):
        open_engine(f"sqlite:///{tmp_path}/x.db")
