"""Earlier runs are read from files, and files are hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import UsageError
from faultwire.runner.past_runs import run_folder, runs, trend
from faultwire.runner.run_identity import RunIdentity


def kept(base: Path, name: str, **about: Any) -> None:
    folder = base / "runs" / name
    folder.mkdir(parents=True)
    said = {"command": "contract", "status": "finished", "started_at": name, "seed": 42, "score": 0.5} | about
    (folder / "run.json").write_text(json.dumps(said))


def test_runs_come_in_the_order_of_their_start(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        kept(tmp_path, name)
    assert [run.id for run in runs(tmp_path)] == ["a", "b", "c"]


def test_without_any_run_there_is_none(tmp_path: Path) -> None:
    assert runs(tmp_path) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 5000, '"x"', "\x00"])
def test_folders_without_a_run_are_skipped(tmp_path: Path, text: str) -> None:
    kept(tmp_path, "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "run.json").write_text(text)
    (tmp_path / "runs" / "none").mkdir()
    assert [run.id for run in runs(tmp_path)] == ["good"]


def test_fields_of_another_type_say_nothing(tmp_path: Path) -> None:
    kept(tmp_path, "odd", command=7, seed="x", score="high", gate=[], scores={"mutation": "x", "chaos": 1})
    (run,) = runs(tmp_path)
    assert (run.command, run.seed, run.score, run.gate, run.scores) == (
        "?",
        None,
        None,
        None,
        (("chaos", 1.0),),
    )


SAME = RunIdentity("c" * 64, "a" * 64, "p" * 64)


def test_a_trend_is_of_the_same_phases_of_the_same_file_before_this_run(tmp_path: Path) -> None:
    made_of = {"config": "a.yaml", **SAME.as_json()}
    kept(tmp_path, "1", **made_of, score=0.25, scores={"contract": 0.25})
    kept(tmp_path, "2", **made_of | {"config": "b.yaml"}, scores={"contract": 1.0})
    kept(tmp_path, "3", **made_of, scores={"mutation": 1.0})
    kept(tmp_path, "4", **made_of, status="void", scores={"contract": 1.0})
    kept(tmp_path, "5", **made_of, scores={"contract": 1.0})
    kept(tmp_path, "6", **made_of, scores={"contract": 1.0, "chaos": 1.0})
    found = trend(tmp_path, Path("a.yaml"), "5", {"contract"}, SAME)
    assert [(run["id"], run["score"]) for run in found.runs] == [("1", 25.0)]
    assert found.left_out == {}


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("config_digest", "configuration"),
        ("agent_digest", "agent"),
        ("profiles_digest", "profiles"),
        ("score_formula", "score formula"),
    ],
)
def test_a_run_that_was_made_of_something_else_is_counted_and_not_compared(
    tmp_path: Path, key: str, word: str
) -> None:
    made_of = {"config": "a.yaml", "scores": {"contract": 1.0}, **SAME.as_json()}
    kept(tmp_path, "1", **made_of)
    kept(tmp_path, "2", **made_of | {key: "other"})
    kept(tmp_path, "3", **{name: value for name, value in made_of.items() if name != key})
    found = trend(tmp_path, Path("a.yaml"), "9", {"contract"}, SAME)
    assert [run["id"] for run in found.runs] == ["1"]
    assert found.left_out == {word: 2}


def test_a_run_is_named_by_id_its_beginning_last_or_path(tmp_path: Path) -> None:
    kept(tmp_path, "20261122T041751Z-e450fdd9")
    kept(tmp_path, "20261122T051751Z-0a0b0c0d")
    first, last = (run.path for run in runs(tmp_path))
    assert run_folder("20261122T041751Z-e450fdd9", tmp_path) == first
    assert run_folder("20261122T04", tmp_path) == first
    assert run_folder("last", tmp_path) == last
    assert run_folder(str(first), tmp_path / "elsewhere") == first


@pytest.mark.parametrize(("name", "why"), [("2026", "2 run ids start with it"), ("x", "expected one below")])
def test_an_unknown_or_ambiguous_name_is_reported(tmp_path: Path, name: str, why: str) -> None:
    kept(tmp_path, "20261122T041751Z-e450fdd9")
    kept(tmp_path, "20261122T051751Z-0a0b0c0d")
    with pytest.raises(UsageError, match=why):
        run_folder(name, tmp_path)
