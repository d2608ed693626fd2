"""What `push --check` prints of both places, each sentence where it is true; what goes along of blame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.store.test_push import made
from tests.unit.blame.test_document import made as blamed

from faultwire.cli._pushed import compare
from faultwire.cli._pushed_blame import LARGEST, blames_of
from faultwire.errors import UsageError
from faultwire.store.objects import Objects
from faultwire.store.results import Store, StoredRun
from faultwire.store.tapes import push

ABOUT = {"command": "run", "status": "finished", "started_at": "t", "version": "1"}


class Team:
    """Both places, with one run that has its tape."""

    def __init__(self, folder: Path) -> None:
        (folder / "tapes").mkdir()
        self.tapes = str(folder / "tapes")
        self.url = f"sqlite:///{folder}/team.db"
        self.objects = Objects(self.tapes)
        self.first, self.second = made(folder, 2)
        self.digest = push(self.objects, self.first, "shop").digest
        self.add("r1", {"run.tape": self.digest})

    def add(self, name: str, tapes: dict[str, str]) -> None:
        store = Store.open(self.url, "shop")
        store.add(StoredRun({"id": name, **ABOUT}, {"contract": b'{"cells": []}'}, tapes))
        store.close()

    def printed(self, capsys: Any) -> tuple[int, str, str]:
        code = 0
        try:
            compare(self.url, "shop", self.tapes, ())
        except SystemExit as end:
            code = int(str(end.code))
        out = capsys.readouterr()
        return code, out.out, out.err


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_nothing_is_missing(team: Team, capsys: Any) -> None:
    code, out, err = team.printed(capsys)
    assert (code, out) == (0, "")
    assert err.strip() == "1 run, 1 tape: nothing is missing from `shop`"


def test_a_run_without_its_tape(team: Team, capsys: Any) -> None:
    team.add("r2", {"w1.tape": "e" * 64})
    code, out, err = team.printed(capsys)
    assert (code, out) == (1, f"run r2: its tape w1.tape ({'e' * 64}) is not there\n")
    assert err.strip() == "2 runs, 1 tape: 1 thing missing from `shop`"


def test_a_tape_without_its_run(team: Team, capsys: Any) -> None:
    digest = push(team.objects, team.second, "shop").digest
    code, out, _ = team.printed(capsys)
    assert (code, out) == (1, f"tape {digest}: no run in the store has it\n")


def test_a_tape_that_lacks_pieces(team: Team, capsys: Any) -> None:
    for name, _ in list(team.objects.list("blobs/")):
        team.objects.delete(name)
    code, out, _ = team.printed(capsys)
    assert (code, out) == (1, f"tape {team.digest} of run r1: it lacks 2 pieces\n")


def test_a_run_whose_tapes_are_not_known(team: Team, capsys: Any) -> None:
    team.add("r2", {})
    code, out, err = team.printed(capsys)
    assert (code, out) == (0, "")
    assert "note: of 1 run the store does not know the tapes: push them again" in err


def test_results_of_blame_are_those_of_the_run_and_those_that_are_named(tmp_path: Path) -> None:
    run = tmp_path / "r1"
    run.mkdir()
    found = blamed(tmp_path, frozenset({1}))
    found["run"]["tape"] = f"{run}/run.tape"
    for path in (run / "blame-1.json", tmp_path / "blame.json"):
        path.write_text(json.dumps(found))
    paths = [path for path, _ in blames_of(run, [tmp_path / "blame.json"])]
    assert paths == [run / "blame-1.json", tmp_path / "blame.json"]
    for text in ("", "[]", "{", "[" * 5000, "{}", " " * (LARGEST + 1)):
        (tmp_path / "blame.json").write_text(text)
        with pytest.raises(UsageError):
            list(blames_of(run, [tmp_path / "blame.json"]))
