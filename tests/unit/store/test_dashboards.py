"""Counts and changing cells are those of the rows, and of one project and one agent alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from faultwire.errors import UsageError
from faultwire.store import team
from faultwire.store.dashboards import ChangingCell, changing, counts, phase_names, project_names
from faultwire.store.database import open_engine
from faultwire.store.results import Store, StoredRun


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(f"sqlite:///{tmp_path}/results.db")
    yield made
    made.dispose()


def add(engine: Engine, run: str, verdicts: str, project: str = "shop", **more: Any) -> None:
    """A run whose cells are `p`, `f` or `u`; odd ones are of the scenario `down`."""
    words = {"p": "pass", "f": "fail", "u": "unknown"}
    cells = [
        {"invocation": f"i{n}", "invariant": "v", "scenario": "down" if n % 2 else "calm", "severity": "low",
         "verdict": words[letter]}
        for n, letter in enumerate(verdicts)
    ]  # fmt: skip
    about = {"id": run, "command": "ci", "status": "finished", "started_at": f"2026-{run}", "version": "1",
             "agent_digest": "g", "config_digest": "c", "profiles_digest": "p", **more}  # fmt: skip
    Store(engine, project).add(
        StoredRun(about, {"contract": json.dumps({"score": {}, "cells": cells}).encode()})
    )


def test_runs_have_their_counts_the_latest_of_them_the_oldest_first(engine: Engine) -> None:
    for run, verdicts in (("r1", "ppfu"), ("r2", "pp"), ("r3", "")):
        add(engine, run, verdicts)
    add(engine, "r9", "ffff", project="other")
    found = counts(engine, "shop")
    assert [run["id"] for run in found] == ["r1", "r2", "r3"]
    assert found[0]["verdicts"] == {"pass": 2, "fail": 1, "unknown": 1}
    assert found[0]["scenarios"] == {
        "calm": {"pass": 1, "fail": 1, "unknown": 0}, "down": {"pass": 1, "fail": 0, "unknown": 1}
    }  # fmt: skip
    assert found[2]["verdicts"] == {"pass": 0, "fail": 0, "unknown": 0}
    assert [run["id"] for run in counts(engine, "shop", 2)] == ["r2", "r3"]
    assert (project_names(engine), phase_names(engine, "shop", "r1")) == (["other", "shop"], ["contract"])
    assert phase_names(engine, "other", "r1") == []


def test_cells_change_where_the_same_agent_passed_and_failed(engine: Engine) -> None:
    for run, verdicts in (("r1", "pppu"), ("r2", "pfpu"), ("r3", "pffu")):
        add(engine, run, verdicts)
    add(engine, "r4", "ffff", agent_digest="another")
    add(engine, "r5", "ffff", config_digest="another")
    add(engine, "r6", "ffff", agent_digest=None)
    assert changing(engine, "shop", "r1") == [
        ChangingCell("i1", "v", "down", 1, 3), ChangingCell("i2", "v", "calm", 2, 3)
    ]  # fmt: skip
    for run in ("r4", "r5", "r6", "r9"):
        assert changing(engine, "shop", run) == [], run
    assert changing(engine, "other", "r1") == []


def test_comments_and_baselines_are_added_to_runs_of_the_project_only(engine: Engine) -> None:
    add(engine, "r1", "p")
    add(engine, "r2", "p")
    team.comment(engine, "shop", "r1", "ann", "one")
    team.comment(engine, "shop", "r1", "bob", "two")
    assert [(one["author"], one["text"]) for one in team.comments_on(engine, "shop", "r1")] == [
        ("ann", "one"), ("bob", "two")
    ]  # fmt: skip
    assert team.comments_on(engine, "shop", "r2") == team.comments_on(engine, "other", "r1") == []
    assert team.baseline(engine, "shop") is None
    for number, run in enumerate(("r1", "r2", "r1"), 1):
        assert team.promote(engine, "shop", run, "ann", "good")["number"] == number
    kept = team.baseline(engine, "shop")
    assert kept is not None
    assert (kept["run"], kept["number"]) == ("r1", 3)
    for text in ("", "  ", "x" * 4001, "a\0b"):
        with pytest.raises(UsageError):
            team.comment(engine, "shop", "r1", "ann", text)
    with pytest.raises(UsageError):
        team.comment(engine, "other", "r1", "ann", "x")
    with pytest.raises(UsageError):
        team.promote(engine, "other", "r1", "ann", "x")


def test_what_was_added_stays(engine: Engine) -> None:
    import sqlalchemy as sa

    add(engine, "r1", "p")
    team.comment(engine, "shop", "r1", "ann", "one")
    team.promote(engine, "shop", "r1", "ann", "good")
    for table in ("comments", "baselines"):
        for query in (f"DELETE FROM {table}", f"UPDATE {table} SET run = 'x'"):
            with pytest.raises(sa.exc.DatabaseError, match="only added"), engine.begin() as connection:
                connection.execute(sa.text(query))
