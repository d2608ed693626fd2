"""What `blame` refuses before it runs anything, and what it says of a search without a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result as Printed
from tests.unit.blame.test_document import EXCHANGES, PARTS
from tests.unit.cli.test_shrunk import INFO, tape

from faultwire.blame.design import Design
from faultwire.blame.session import Blaming
from faultwire.cli import main
from faultwire.cli._blamed import affordable, enough
from faultwire.cli._blamed_report import announce, explain
from faultwire.cli._blamed_subject import Subject
from faultwire.cli._failed_run import oracle, surroundings
from faultwire.cli._trial_options import as_seconds
from faultwire.errors import FaultError, UsageError
from faultwire.trials.execute import NOT_ON_TAPE
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome, Spent
from faultwire.trials.oracle import Checks, Command, ExitCode
from faultwire.trials.series import Budget

__all__ = ["tape"]
SUBJECT = Subject(Path("run.tape"), INFO, tuple(EXCHANGES), tuple(PARTS), Spent(0.0, 0), 1.0)


def faultwire(*arguments: str) -> Printed:
    return CliRunner().invoke(main, ["blame", *arguments, "--", "true"])


def search(path: Path, failed: Any, reason: str = "") -> Blaming:
    journal = Journal.open(path / "state.jsonl", "about", "blame")

    def attempt(coalition: frozenset[int]) -> Outcome:
        return Outcome(failed(coalition), 5, 0.001, 1.0, reason)

    made = Blaming(PARTS, attempt, journal, Budget(500), Design(3))
    made.run()
    return made


def test_a_run_without_a_fault_and_without_a_calm_run(tape: Path) -> None:
    done = faultwire("calm", "--mock", "--fault", "status: {code: 503}")
    assert done.exit_code == 2
    assert "no fault that fired" in done.stderr
    assert "--calm" in done.stderr
    assert not (Path(".faultwire") / "blame").exists()


def test_a_calm_run_that_is_the_same(tape: Path) -> None:
    done = faultwire("calm", "--calm", "calm")
    assert done.exit_code == 2
    assert "both runs are the same on the wire" in done.stderr
    assert not (Path(".faultwire") / "blame").exists()


def test_a_tape_that_was_cut_or_changed(tape: Path) -> None:
    data = bytearray(tape.read_bytes())
    tape.chmod(0o600)
    data[data.index(b"session_start") + 8] ^= 1
    tape.write_bytes(data)
    assert faultwire("calm", "--mock").exit_code in (2, 3)
    tape.write_bytes(data[: len(data) // 3])
    done = faultwire("calm", "--mock")
    assert done.exit_code in (2, 3)
    assert "tape" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--live", "--mock"], "`--live` with `--mock`"),
        (["--session", "other"], "expected one"),
        (["--max-time", "soon"], "found `soon`"),
    ],
)
def test_what_makes_no_sense_is_refused(tape: Path, options: list[str], words: str) -> None:
    done = faultwire("calm", *options)
    assert done.exit_code == 2
    assert words in done.stderr
    assert CliRunner().invoke(main, ["blame", "calm"]).exit_code == 2


def test_a_budget_that_decides_nothing_names_the_runs_that_are_needed() -> None:
    enough(5, Budget(100), 80)
    with pytest.raises(UsageError, match=r"expected at least 16.*about 80 runs"):
        enough(5, Budget(15), 80)
    first = Outcome(True, 5, 0.01, 2.0)
    affordable(5, Budget(100, 60.0, 1.0), first)
    with pytest.raises(UsageError, match="expected at least 32 s"):
        affordable(5, Budget(100, 10.0), first)
    with pytest.raises(UsageError, match=r"expected at least 0\.1600"):
        affordable(5, Budget(100, None, 0.1), first)


@pytest.mark.parametrize(("always", "code"), [(False, "blame.no_failure"), (True, "blame.no_difference")])
def test_an_oracle_that_never_changes(tmp_path: Path, always: bool, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        explain(search(tmp_path, lambda _: always), SUBJECT)
    assert caught.value.code == code


def test_what_the_tape_cannot_answer_needs_the_mock_or_servers(tmp_path: Path) -> None:
    lacking = search(tmp_path, lambda one: True if one else None, f"{NOT_ON_TAPE} to 1 call")
    with pytest.raises(UsageError, match=r"cannot answer the calm run.*needs --mock or --live"):
        explain(lacking, SUBJECT)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(FaultError, match="could not be judged: no traffic"):
        explain(search(other, lambda _: None, "no traffic came through the proxy"), SUBJECT)


def test_a_result_is_explained_by_nothing(tmp_path: Path) -> None:
    assert explain(search(tmp_path, lambda one: 1 in one), replace(SUBJECT)) == 0


def test_oracles() -> None:
    assert isinstance(oracle("blame", None, None, None), ExitCode)
    assert isinstance(oracle("blame", "grep -q ok", None, None), Command)
    assert isinstance(oracle("blame", None, "contains: ok", None), Checks)
    with pytest.raises(UsageError, match="expected one of them"):
        oracle("blame", "true", "contains: ok", None)


def test_times() -> None:
    assert [as_seconds(None, None, text) for text in ("90s", "2m", "1h")] == [90, 120, 3600]  # type: ignore[arg-type]


def test_names_of_imported_sessions_become_ones_that_an_engine_takes() -> None:
    from faultwire.cli._failed_run import engine_name

    assert [engine_name(name) for name in ("exec", "fr/calm/r0", "shop agent", "", "x" * 200)] == [
        "exec", "fr/calm/r0", "exec", "exec", "exec",
    ]  # fmt: skip


def test_runs_of_another_environment_program_or_folder_are_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = Path("agent.py")
    agent.write_text("print(1)")
    command = ("python", "agent.py")
    seen = [surroundings(command)]
    monkeypatch.setenv("SHLVL", "7")
    assert surroundings(command) == seen[0]
    monkeypatch.setenv("MODEL_OF_THE_AGENT", "large")
    seen.append(surroundings(command))
    agent.write_text("print(2)")
    seen.append(surroundings(command))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    seen.append(surroundings(command))
    assert len({str(one) for one in seen}) == len(seen)


def test_what_it_will_cost_is_unknown_where_prices_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal.open(tmp_path / "state.jsonl", "about", "blame")
    for spent, words in (
        (Spent(0.0, 2), " and cost of models unknown;"),
        (Spent(0.01, 0), " and 0.1000 dollars of models;"),
        (Spent(0.01, 2), " and 0.1000 dollars of models and the unknown cost of 20 answers;"),
    ):
        announce(replace(SUBJECT, spent=spent), Budget(100), 10, journal, 2)
        assert words in capsys.readouterr().err
