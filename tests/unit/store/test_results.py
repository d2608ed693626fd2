"""Runs are added once, whole, and seen from within their project alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import UsageError
from faultwire.store.results import Store, StoredRun, run_of

REPORT = {
    "score": {"number": 50.0},
    "cells": [
        {"invocation": "contract/calm/p1/r1", "invariant": "completes", "scenario": "calm",
         "severity": "high", "verdict": "pass"},
        {"invocation": "contract/down/p1/r1", "invariant": "completes", "scenario": "down",
         "severity": "high", "verdict": "fail"},
    ],
}  # fmt: skip


def folder(base: Path, name: str = "r1", **more: Any) -> Path:
    run = base / name
    run.mkdir()
    said = {"id": name, "command": "contract", "status": "finished", "seed": 7, "score": 0.5, "gate": "fail",
            "started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:09+00:00",
            "ledger": "a" * 64, "config_digest": "c" * 64, "agent_digest": "b" * 64,
            "profiles_digest": "d" * 64, "commit": None,
            "scores": {"contract": 0.5}, **more}  # fmt: skip
    (run / "run.json").write_text(json.dumps(said))
    (run / "report.json").write_text(json.dumps(REPORT))
    return run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(f"sqlite:///{tmp_path}/results.db", "shop")
    yield made
    made.close()


def test_a_run_comes_back_as_it_was(store: Store, tmp_path: Path) -> None:
    run = run_of(folder(tmp_path))
    assert store.add(run)
    (found,) = store.runs()
    assert {key: found[key] for key in run.about} == run.about
    assert (found["id"], found["gate"], found["content"]) == ("r1", "fail", run.content)
    assert store.report("r1", "contract") == REPORT
    assert store.history("contract/down/p1/r1", "completes") == [("r1", "fail")]


def test_the_same_run_is_added_once_and_another_of_its_name_not_at_all(store: Store, tmp_path: Path) -> None:
    run = run_of(folder(tmp_path))
    assert [store.add(run), store.add(run)] == [True, False]
    changed = replace(run, about={**run.about, "gate": "pass"})
    with pytest.raises(UsageError, match="with another content") as raised:
        store.add(changed)
    assert raised.value.code == "store.changed"
    assert [found["gate"] for found in store.runs()] == ["fail"]


def test_another_project_sees_nothing_of_it(store: Store, tmp_path: Path) -> None:
    store.add(run_of(folder(tmp_path)))
    other = Store.open(f"sqlite:///{tmp_path}/results.db", "other")
    assert other.runs() == []
    assert other.history("contract/down/p1/r1", "completes") == []
    with pytest.raises(UsageError, match="has no phase"):
        other.report("r1", "contract")
    assert other.add(run_of(folder(tmp_path, "r2")))
    assert [run["id"] for run in store.runs()] == ["r1"]
    other.close()


def test_runs_come_oldest_first_and_the_latest_of_many(store: Store, tmp_path: Path) -> None:
    for number in (3, 1, 2):
        at = f"2026-01-0{number}T00:00:00+00:00"
        store.add(run_of(folder(tmp_path, f"r{number}", started_at=at)))
    assert [run["id"] for run in store.runs()] == ["r1", "r2", "r3"]
    assert [run["id"] for run in store.runs(2)] == ["r2", "r3"]
    assert store.history("contract/calm/p1/r1", "completes", most=2) == [("r2", "pass"), ("r3", "pass")]


def test_a_report_of_several_phases_is_kept_by_phase(store: Store, tmp_path: Path) -> None:
    run = folder(tmp_path, scores={"contract": 0.5, "chaos": None})
    for phase in ("contract", "chaos"):
        (run / f"{phase}.json").write_text(json.dumps({**REPORT, "phase": phase}))
    store.add(run_of(run))
    assert [store.report("r1", phase)["phase"] for phase in ("contract", "chaos")] == ["contract", "chaos"]


@pytest.mark.parametrize(
    "said", ["", "[]", "{}", '{"status": "running", "scores": {"contract": 1}}', '{"status": "finished"}']
)
def test_what_is_no_run_that_has_ended_is_refused(tmp_path: Path, said: str) -> None:
    run = folder(tmp_path)
    (run / "run.json").write_text(said)
    with pytest.raises(UsageError) as raised:
        run_of(run)
    assert raised.value.code == "store.no_run"


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "x" * 101, "-x", "a\n"])
def test_what_is_no_name_of_a_project_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as raised:
        Store.open(f"sqlite:///{tmp_path}/results.db", name)
    assert raised.value.code == "usage.project"


def test_the_content_covers_every_field_and_report() -> None:
    run = StoredRun({"id": "r", "seed": 1}, {"contract": b"{}"})
    others = (
        replace(run, about={"id": "r", "seed": 2}),
        replace(run, reports={"contract": b"{ }"}),
        replace(run, reports={"chaos": b"{}"}),
    )
    assert len({one.content for one in (run, *others)}) == 4
