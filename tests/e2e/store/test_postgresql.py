"""A team's database: the tables of a file, rows of other projects out of reach, nothing lost by a kill."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from faultwire.errors import FaultwireError
from faultwire.store.database import in_project, open_engine
from faultwire.store.results import Store, StoredRun
from faultwire.store.schema import cells, runs, tables

REPORT = (
    b'{"score": {"number": 1.0}, "cells": [{"invocation": "i", "invariant": "v", "scenario": "calm", '
    b'"severity": "low", "verdict": "pass"}]}'
)


def run(name: str, **more: Any) -> StoredRun:
    about = {
        "command": "run",
        "status": "finished",
        "started_at": "2026-01-01T00:00:00+00:00",
        "version": "1",
    }
    return StoredRun({"id": name, **about, **more}, {"contract": REPORT})


def test_the_steps_make_the_tables_that_the_code_knows_also_when_several_start_at_once(
    postgresql: Any,
) -> None:
    postgresql.run("createdb", "-U", "admin", "-O", "team", "fresh")
    url = postgresql.url("team", "fresh")
    with ThreadPoolExecutor(4) as pool:
        for engine in pool.map(open_engine, [url] * 4):
            engine.dispose()
    engine = open_engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables) == []
    engine.dispose()


def test_rows_of_another_project_are_out_of_reach_even_for_queries_that_ask_for_them(postgresql: Any) -> None:
    with closing(Store.open(postgresql.url("team"), "one")) as one:
        assert one.add(run("r1"))
    engine = open_engine(postgresql.url("team"))
    for project, seen in (("one", 1), ("two", 0), ("", 0), ("one' OR '1'='1", 0)):
        with in_project(engine, project) as connection:
            for table in (runs, cells):
                assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == seen
    with engine.connect() as connection:  # a control: no project at all
        assert connection.scalar(sa.select(sa.func.count()).select_from(runs)) == 0
    row = {**run("forged").about, "project": "one", "content": "x"}

    def forge() -> None:
        with in_project(engine, "two") as connection:
            connection.execute(runs.insert().values(**row))

    with pytest.raises(FaultwireError, match="row-level security"):
        forge()
    engine.dispose()


@pytest.mark.parametrize(
    "statement", ["UPDATE runs SET gate = 'pass'", "DELETE FROM cells", "TRUNCATE runs CASCADE"]
)
def test_rows_are_only_added(postgresql: Any, statement: str) -> None:
    with closing(Store.open(postgresql.url("team"), "kept")) as store:
        store.add(run("r1"))
        engine = open_engine(postgresql.url("team"))

        def change() -> None:
            with in_project(engine, "kept") as connection:
                connection.execute(sa.text(statement))

        with pytest.raises(FaultwireError, match="are only added"):
            change()
        engine.dispose()
        assert [found["id"] for found in store.runs()] == ["r1"]


def test_what_was_acknowledged_before_a_kill_is_there_whole_and_the_rest_can_be_added(
    postgresql: Any,
) -> None:
    acknowledged: list[str] = []
    refused: set[str] = set()
    with closing(Store.open(postgresql.url("team"), "killed")) as store:
        for number in range(60):
            if number == 30:
                postgresql.kill()
            try:
                store.add(run(f"r{number}"))
                acknowledged.append(f"r{number}")
            except FaultwireError as error:
                refused.add(error.code)
    assert (acknowledged, refused) == ([f"r{number}" for number in range(30)], {"store.failed"})
    postgresql.start()
    with closing(Store.open(postgresql.url("team"), "killed")) as store:
        assert sorted(found["id"] for found in store.runs(100)) == sorted(acknowledged)
        assert len(store.history("i", "v")) == 30
        added = [store.add(run(f"r{number}")) for number in range(60)]
    assert added == [False] * 30 + [True] * 30


def test_a_server_that_is_not_there_is_an_error_without_the_password(postgresql: Any) -> None:
    with pytest.raises(FaultwireError) as raised:
        open_engine("postgresql://team:swordfish@127.0.0.1:9/results")
    assert raised.value.code == "store.failed"
    assert "swordfish" not in f"{raised.value.message} {raised.value.hint}"
