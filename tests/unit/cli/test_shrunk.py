"""What `shrink` refuses before it runs anything, and what it prints of a result."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result as Printed

from faultwire.cli import main
from faultwire.cli._shrunk import affordable
from faultwire.cli._shrunk_report import explain, report
from faultwire.cli._shrunk_repro import Written, findings
from faultwire.cli._shrunk_subject import Subject
from faultwire.cli._trial_options import as_seconds
from faultwire.errors import FaultError, UsageError
from faultwire.profile.load import parse
from faultwire.shrink.case import Case
from faultwire.shrink.session import Result
from faultwire.tape.read.metadata import SessionInfo
from faultwire.tape.record.writer import TapeWriter
from faultwire.trials.execute import NOT_ON_TAPE
from faultwire.trials.model import Outcome, Pin
from faultwire.trials.series import Budget

PROFILE = parse("faults: [{status: {code: 503}}]", "p.yaml")
PINS = (Pin("status", 1, 1), Pin("status", 2, 4))
INFO = SessionInfo("exec", "p", "", 7, "", 0, 1, 9)
SUBJECT = Subject(Path("run.tape"), INFO, PROFILE, PINS, 9)


@pytest.fixture
def tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tape on which nothing fired."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".faultwire" / "tapes" / "calm.tape"
    writer = TapeWriter.create(path, origin="shop/t", settings={}, key=b"k" * 32, signer=None)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    writer.close_session("s")
    writer.close()
    return path


def faultwire(*arguments: str) -> Printed:
    return CliRunner().invoke(main, ["shrink", *arguments, "--", "true"])


def test_a_run_without_a_fault(tape: Path) -> None:
    done = faultwire("calm", "--mock", "--fault", "status: {code: 503}")
    assert done.exit_code == 2
    assert "found no fault that fired" in done.stderr
    assert "0 runs can help" in done.stderr
    assert not (Path(".faultwire") / "shrink").exists()


def test_a_tape_that_was_cut_or_changed(tape: Path) -> None:
    data = bytearray(tape.read_bytes())
    tape.chmod(0o600)
    at = data.index(b'"seed":"7"') if b'"seed":"7"' in data else data.index(b"session_start")
    data[at + 8] ^= 1
    tape.write_bytes(data)
    done = faultwire("calm", "--mock", "--fault", "status: {code: 503}")
    assert done.exit_code in (2, 3)
    assert "tape" in done.stderr
    tape.write_bytes(data[: len(data) // 3])
    assert faultwire("calm", "--mock", "--fault", "status: {code: 503}").exit_code in (2, 3)
    assert not (Path(".faultwire") / "shrink").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-runs", "3"], "expected at least"),
        (["--max-time", "soon"], "found `soon`"),
        (["--state", "../state"], "output.outside"),
        (["--session", "other"], "expected one"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(tape: Path, options: list[str], words: str) -> None:
    done = faultwire("calm", "--mock", "--fault", "status: {code: 503}", *options)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (Path(".faultwire") / "shrink").exists()


def test_a_run_and_a_command_are_needed() -> None:
    assert "found no run and command" in CliRunner().invoke(main, ["shrink"]).stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("10m", 600.0), ("2h", 7200.0), ("1.5", 1.5), (None, None)]
)
def test_times(text: str | None, seconds: float | None) -> None:
    assert as_seconds(None, None, text) == seconds  # type: ignore[arg-type]


class Budgets:
    """The options that `affordable` reads."""

    error, noise = 0.05, 0.01

    def __init__(self, **given: Any) -> None:
        self.max_time, self.max_cost = given.get("max_time"), given.get("max_cost")


@pytest.mark.parametrize("given", [{"max_time": 30.0}, {"max_cost": 0.05}])
def test_a_budget_that_decides_nothing_names_the_runs(given: dict[str, float]) -> None:
    first = Outcome(True, 3, 0.05, 10.0)
    with pytest.raises(UsageError, match=r"fewer than \d+ runs decide nothing"):
        affordable(Budgets(**given), first)  # type: ignore[arg-type]
    affordable(Budgets(max_time=300.0, max_cost=5.0), first)  # type: ignore[arg-type]


BUDGET = Budget(17, 30.0, 0.5)


def result(ended: str, **more: Any) -> Result:
    case = Case(PINS[1:])
    return Result(ended, case, 17, 30.0, 0.5, 0.8, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ended", "more", "error", "words"),
    [
        (
            "not_reproduced",
            {"counts": (1, 15), "undecided": Counter({"no traffic": 1})},
            UsageError,
            "with all its 2 decisions 1 of 16 runs failed",
        ),
        ("not_reproduced", {"undecided": Counter({f"{NOT_ON_TAPE} to 1 call": 17})}, UsageError, "--mock"),
        ("not_reproduced", {"undecided": Counter({"no traffic": 17})}, FaultError, "could not be judged"),
        ("no_cause", {"counts": (5, 0), "calm": (3, 1)}, UsageError, "3 of 4 runs without faults failed"),
        ("budget", {}, FaultError, "`--max-runs 17` ended the search after 17 runs, before the smallest set"),
        ("budget", {}, FaultError, "`--max-runs 34` goes on"),
        ("budget", {"limit": "time"}, FaultError, "`--max-time 30s` ended the search after 17 runs"),
        ("budget", {"limit": "time"}, FaultError, "the same command goes on for another 30 s"),
        ("budget", {"limit": "cost"}, FaultError, "`--max-cost 1` goes on"),
    ],
)
def test_why_there_is_no_result(ended: str, more: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error) as caught:
        explain(result(ended, **more), SUBJECT, BUDGET)
    assert words in caught.value.render()


def test_what_is_printed_of_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    found = result(
        "found",
        last="exited with 1",
        counts=(3, 1),
        untestable=PINS[1:],
        undecided=Counter({"no traffic": 2}),
    )
    report(found, SUBJECT, Written(Path("out"), 4, True, 1), Path("state.jsonl"))
    assert explain(found, SUBJECT, BUDGET) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 of 2 decisions is needed:",
        "  status on its call 2 (#4) {code: 503}",
        "  status on its call 2 (#4) is kept: no run without it could be judged",
        "failed     3 of 4 runs with them: exited with 1",
        "runs       17, 30 s, 0.5000 dollars of models",
        "undecided  2: no traffic",
        "repro      out/run.sh (4 of 9 exchanges; it failed there)",
        "state      state.jsonl",
    ]
    assert explain(result("interrupted"), SUBJECT, BUDGET) == 130
    report(result("interrupted"), SUBJECT, None, Path("state.jsonl"))
    assert "runs with them" not in capsys.readouterr().out, "nothing failed yet"
    report(result("no_cause"), SUBJECT, None, Path("state.jsonl"))
    assert capsys.readouterr().out == ""


def test_a_finding_without_settings() -> None:
    plain = parse("faults: [refuse]", "p.yaml")
    assert findings((Pin("refuse", 1),), plain) == ["refuse on its call 1"]
    assert json.dumps(findings(PINS, PROFILE))


@pytest.mark.parametrize("repeated", [0, 4])
def test_that_runs_were_made_once_is_said_where_they_repeat(
    repeated: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report(result("found", repeated=repeated), SUBJECT, None, Path("state.jsonl"))
    said = "4 runs that were made again were the same, byte for byte: others were made once"
    assert (said in capsys.readouterr().out) is bool(repeated)


def test_an_unknown_cost_is_not_printed_as_none(capsys: pytest.CaptureFixture[str]) -> None:
    report(result("found", unpriced=3), SUBJECT, None, Path("state.jsonl"))
    assert "0.5000 dollars of models and the unknown cost of 3 answers" in capsys.readouterr().out
    report(replace(result("found", unpriced=3), cost_usd=0.0), SUBJECT, None, Path("state.jsonl"))
    said = capsys.readouterr().out
    assert "cost of models unknown" in said
    assert "dollars" not in said
