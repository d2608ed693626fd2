"""What a search found, in the words in which the command says it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from faultwire.cli import _explored_report as command
from faultwire.errors import UsageError
from faultwire.explore import claim as claims
from faultwire.explore.found import Find
from faultwire.explore.search import Result
from faultwire.explore.space import Call, Point
from faultwire.workbench import explored_view as tested
from faultwire.workbench.explored_view import explored

PAIR = frozenset([Point(Call("GET x/a", 1), "status"), Point(Call("GET x/b", 1), "status")])
FIND = Find(PAIR, 2, 2, "the agent exited with 1")
DOCUMENT: dict[str, Any] = {
    "ended": "done", "runs": 5, "seconds": 9.25, "cost_usd": 0.0, "failing": "the agent's exit code is not 0",
    "failures": [{
        "cause": ["GET x/a, call 1", "GET x/b, call 1"], "failed": 2, "runs": 2, "reason": "it exited with 1",
        "faults": [{"entry": "status", "place": "GET x/a", "call": 1, "calls": 1}],
        "repro": {"folder": "elsewhere", "failed_there": True},
    }],
    "flaky": [["status on GET x/c, call 1"]],
    "claim": {
        "holds": False, "why_not": "1 set was not run", "depth": 2, "faults": 2,
        "sets": {"run": 2, "open": 1},
        "excluded": [{"faults": ["status on GET x/a, call 1"], "reason": "open"}],
    },
}  # fmt: skip


def at(folder: Path, **changes: object) -> Path:
    path = folder / "0a1b.json"
    path.write_text(json.dumps({**DOCUMENT, **changes}))
    return path


@pytest.mark.parametrize(
    ("depth", "faults", "found", "holds"), [*product((1, 2), (1, 4), (False, True), (False, True))]
)
def test_the_claim_is_the_sentence_that_the_command_prints(
    depth: int, faults: int, found: bool, holds: bool, tmp_path: Path
) -> None:
    counts = Counter({"run": 7, "same call": 2, **({} if holds else {"open": 1, "undecided": 3})})
    why = "" if holds else "1 set was not run and is not excluded"
    result = Result("done", (FIND,) if found else (), 4, claims.Claim(depth, faults, counts, (), holds, why))

    def shown(**changes: object) -> str:
        mine = {"holds": holds, "why_not": why or None, "depth": depth, "faults": faults, "sets": counts}
        claim = {**mine, "excluded": [], **changes}
        failures = DOCUMENT["failures"] if found else []
        return str(explored(at(tmp_path, claim=claim, failures=failures))["claim"]["sentence"])

    printed = list(command.lines(result, depth, "it exits with 1"))
    assert shown() in printed
    assert shown(holds=not holds, why_not="x") not in printed


def test_failures_and_reasons_are_listed_and_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    found = explored(at(tmp_path))
    (failure,) = found["failures"]
    assert failure["cause"] == "GET x/a, call 1 and GET x/b, call 1"
    assert failure["faults"] == [{"entry": "status", "call": "GET x/a, call 1"}]
    assert "repro.json" in failure["repro"]["problem"]
    assert str(tmp_path / "0a1b-repro" / "1") == failure["repro"]["folder"], "the file names no other folder"
    (reason,) = found["claim"]["reasons"]
    assert (reason["count"], reason["words"], reason["sets"]) == (
        1,
        "1 set was not run",
        ["status on GET x/a, call 1"],
    )
    assert found["flaky"] == ["status on GET x/c, call 1"]


def test_without_a_failure_or_a_claim_there_is_none(tmp_path: Path) -> None:
    found = explored(at(tmp_path, failures=[], claim=None, flaky=[]))
    assert (found["failures"], found["claim"], found["flaky"]) == ([], None, [])


def test_what_is_left_out_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "FINDS", 1)
    found = explored(at(tmp_path, failures=DOCUMENT["failures"] * 3))
    assert (len(found["failures"]), found["failures_not_shown"]) == (1, 2)


def test_hostile_texts_are_spelled_out(tmp_path: Path) -> None:
    found = json.dumps(
        explored(at(tmp_path, failing="\x1b[2J\u202e", flaky=[["a\x00b"]])), ensure_ascii=False
    )
    assert not {"\x1b", "\u202e", "\x00"} & set(found)
    assert "\\u0000" not in found


def test_a_file_of_another_command_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected what `faultwire explore` writes"):
        explored(at(tmp_path, runs="many"))
