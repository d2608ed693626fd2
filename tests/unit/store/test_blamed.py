"""Results of blame are kept once, for a run that is there, and so many of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from faultwire.errors import FaultwireError, TapeError, UsageError
from faultwire.store.blamed import MOST, add, blame_of
from faultwire.store.database import in_project, open_engine
from faultwire.store.schema import blames, projects, runs

RUN = {"project": "p", "id": "r", "content": "c", "command": "run", "status": "finished", "started_at": "t",
       "version": "1"}  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(f"sqlite:///{tmp_path}/results.db")
    with in_project(made, "p") as connection:
        connection.execute(projects.insert().values(name="p"))
        connection.execute(runs.insert().values(**RUN))
    yield made
    made.dispose()


def test_a_result_is_kept_once_and_read_as_it_was(engine: Engine) -> None:
    assert add(engine, "p", "r", {"a": 1}, "ann")
    assert not add(engine, "p", "r", {"a": 1}, "bob")
    assert add(engine, "p", "r", {"a": 2}, "bob")
    assert [(one.document, one.pushed_by) for one in blame_of(engine, "p", "r")] == [
        ({"a": 1}, "ann"),
        ({"a": 2}, "bob"),
    ]
    assert blame_of(engine, "q", "r") == []


def test_a_run_that_is_not_there_and_one_result_too_many_are_refused(engine: Engine) -> None:
    with pytest.raises(UsageError, match="no run `x`"):
        add(engine, "p", "x", {}, "ann")
    for number in range(MOST):
        assert add(engine, "p", "r", {"a": number}, "ann")
    with pytest.raises(UsageError) as raised:
        add(engine, "p", "r", {"a": MOST}, "ann")
    assert raised.value.code == "store.full"
    assert not add(engine, "p", "r", {"a": 0}, "ann"), "one that is there is none more"


@pytest.mark.parametrize("statement", ["UPDATE blames SET pushed_by = 'x'", "DELETE FROM run_tapes"])
def test_the_database_itself_refuses_to_change_them(engine: Engine, statement: str) -> None:
    add(engine, "p", "r", {}, "ann")
    with in_project(engine, "p") as connection:
        row = "('p', 'r', 'run.tape', 1, 'd')"
        connection.execute(
            sa.text(f"INSERT INTO run_tapes (project, run, name, number, digest) VALUES {row}")
        )
    with pytest.raises(FaultwireError, match="are only added"), in_project(engine, "p") as connection:
        connection.execute(sa.text(statement))


def test_a_row_that_is_damaged_is_an_error_that_names_it(engine: Engine) -> None:
    row = {"project": "p", "run": "r", "id": "i", "document": b"x", "pushed_by": "a", "pushed_at": "t"}
    with in_project(engine, "p") as connection:
        connection.execute(blames.insert().values(**row))
    with pytest.raises(TapeError, match="damaged"):
        blame_of(engine, "p", "r")
