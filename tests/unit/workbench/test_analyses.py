"""Which results of searches there are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from faultwire.workbench.analyses import VIEWS, listed, result_of, tape_of

RUN = "20261128T000000Z-aaaaaaaa"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """One result of each kind, with their tapes."""
    for name in ("explore/0a1b-repro/1", "shrink/0c2d-repro", f"runs/{RUN}"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "explore" / "0a1b.json").write_text("{}")
    (tmp_path / "explore" / "0a1b.jsonl").write_text("")
    (tmp_path / "shrink" / "0c2d-repro" / "repro.json").write_text("{}")
    (tmp_path / "shrink" / "0c2d.jsonl").write_text("")
    run = tmp_path / "runs" / RUN
    about = {"command": "run", "status": "finished", "scores": {"mutation": 0.5}}
    (run / "run.json").write_text(json.dumps(about))
    for name in ("evolution.json", "report.json", "run.tape"):
        (run / name).write_text("{}")
    for name in ("explore/0a1b-repro/1", "shrink/0c2d-repro"):
        (tmp_path / name / "repro.tape").write_text("")
    for at, path in enumerate(("explore/0a1b.json", "shrink/0c2d-repro/repro.json")):
        os.utime(tmp_path / path, (2_000_000_000 + at, 2_000_000_000 + at))
    return tmp_path


def kinds(base: Path) -> list[tuple[str, str]]:
    return [(one["kind"], one["id"]) for one in listed(base)]


def test_each_kind_is_listed_the_newest_first(base: Path) -> None:
    assert kinds(base)[:2] == [("shrink", "0c2d"), ("explore", "0a1b")]
    assert set(kinds(base)[2:]) == {("evolve", RUN), ("mutations", RUN)}
    assert listed(base)[0]["written_at"].startswith("2033-05-18")
    assert {kind for kind, _ in kinds(base)} == set(VIEWS)
    assert listed(base / "elsewhere") == []


def test_a_run_that_asked_no_mutants_is_not_listed_with_them(base: Path) -> None:
    (base / "runs" / RUN / "run.json").write_text(json.dumps({"command": "run", "scores": {"chaos": 0.5}}))
    assert ("mutations", RUN) not in kinds(base)


def test_of_a_run_with_several_phases_the_one_with_mutants_is_read(base: Path) -> None:
    (base / "runs" / RUN / "mutation.json").write_text("{}")
    found = result_of(base, "mutations", RUN)
    assert found is not None
    assert found.path.name == "mutation.json"


def test_the_tape_of_each(base: Path) -> None:
    def tape(kind: str, ident: str, number: int = 0) -> Path | None:
        found = result_of(base, kind, ident)
        assert found is not None
        return tape_of(found, number)

    assert tape("shrink", "0c2d") == base / "shrink" / "0c2d-repro" / "repro.tape"
    assert tape("explore", "0a1b", 1) == base / "explore" / "0a1b-repro" / "1" / "repro.tape"
    assert tape("explore", "0a1b", 2) is None
    assert tape("evolve", RUN) == base / "runs" / RUN / "run.tape"


@pytest.mark.parametrize(
    ("kind", "ident"),
    [("explore", ".."), ("explore", "../runs"), ("shrink", "0a1b"), ("keys", "seal"), ("evolve", "last")],
)
def test_nothing_else_is_given(base: Path, kind: str, ident: str) -> None:
    assert result_of(base, kind, ident) is None


def test_what_is_reached_by_a_link_is_no_result(base: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "repro.json").write_text("{}")
    (base / "explore" / "ffff.json").symlink_to(outside / "repro.json")
    (base / "shrink" / "ffff-repro").symlink_to(outside)
    assert not any(ident == "ffff" for _, ident in kinds(base))
    tape = base / "shrink" / "0c2d-repro" / "repro.tape"
    tape.unlink()
    tape.symlink_to(outside / "repro.json")
    found = result_of(base, "shrink", "0c2d")
    assert found is not None
    assert tape_of(found) is None
