"""`faultwire blame` with real agents: the planted cause is found, from a ledger and from two tapes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.e2e.shrink.test_shrink import (
    AGENT,
    COMMAND,
    FAULTS,
    LIMIT_S,
    SDKS,
    SPLIT,
    command,
    environment,
    faultwire,
    kept,
)

from faultwire.report._blame_shape import schema

BOTH = AGENT.replace("if 3 in failed", "if {3, 4} <= set(failed)")


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A folder with an agent, and a run of it that failed: three calls were broken, and one matters."""
    (tmp_path / "agent.py").write_text(AGENT)
    broken(tmp_path)
    return tmp_path


def broken(work: Path, *more: str) -> None:
    done = faultwire(
        work, "exec", "-q", "--mock", *FAULTS, "--seed", "3", *more, "--", sys.executable, "agent.py"
    )
    assert done.returncode == 1, done.stderr


def result(work: Path, folder: str = "result") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / folder / "blame.json").read_text())
    jsonschema.validate(found, schema())
    page = (work / folder / "blame.html").read_text()
    assert "<script" not in page
    assert "The conversation" in page
    return found


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_killed_it_goes_on_and_a_budget_that_ends_keeps_what_was_learned(failing: Path) -> None:
    arguments = ("blame", "last", "--mock", *FAULTS, "-o", "result")
    agent = ("--", sys.executable, "agent.py")
    first = subprocess.Popen(
        [str(COMMAND), *arguments, *agent], cwd=failing, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert first.stderr is not None
    announced = ""
    for line in first.stderr:
        announced += line
        if line.startswith("run 4 "):
            break
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stderr.close()
    assert "3 parts of 4 exchanges" in announced
    assert "dollars of models; about 18 where they repeat byte for byte; at most " in announced
    assert not (failing / "result").exists(), "nothing is half-written"
    runs = kept(failing / ".faultwire" / "blame")
    assert 4 <= runs < 16, "each outcome is on disk before its line is printed"
    done = faultwire(failing, *arguments, "--max-runs", "16", *agent)
    assert done.returncode == 3, done.stderr
    assert f"going on after {runs} runs" in done.stderr
    assert "ended the search after" in done.stderr
    found = result(failing)
    assert (found["ended"], found["runs"]) == ("budget", 16)
    assert max(found["parts"], key=lambda part: part["blame"]["value"])["exchange"] == 3


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_the_cause_among_the_faults_of_a_run(failing: Path) -> None:
    done = faultwire(
        failing,
        "blame",
        "last",
        "--mock",
        *FAULTS,
        "--curve",
        "-o",
        "result",
        "--",
        sys.executable,
        "agent.py",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("#3 makes the failure")
    found = result(failing)
    assert [found["parts"][at]["exchange"] for at in found["blamed"]] == [3]
    assert found["parts"][found["blamed"][0]]["verdict"] == "cause"
    assert found["curve"]["change"]["exchange"] == 3
    assert found["baselines"]["first_fault"] == 2


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_a_pair_is_needed_together(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(BOTH)
    broken(tmp_path)
    done = faultwire(
        tmp_path, "blame", "last", "--mock", *FAULTS, "-o", "result", "--", sys.executable, "agent.py"
    )
    assert done.returncode == 0, done.stderr
    found = result(tmp_path)
    assert [found["parts"][at]["exchange"] for at in found["blamed"]] == [3, 4]
    assert {found["parts"][at]["verdict"] for at in found["blamed"]} == {"needed"}
    assert found["pairs"][0]["interaction"]["low"] > 0


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_the_answer_in_which_two_tapes_differ(failing: Path) -> None:
    """Offline and without the profile: the failed run's answers and the calm run's, from both tapes."""
    broken(failing, "--record", "failed")
    calm = faultwire(failing, "exec", "-q", "--mock", "--record", "calm", "--", sys.executable, "agent.py")
    assert calm.returncode == 0, calm.stderr
    done = faultwire(
        failing, "blame", "failed", "--calm", "calm", "-o", "result", "--", sys.executable, "agent.py"
    )
    assert done.returncode == 0, done.stderr
    found = result(failing)
    assert [found["parts"][at]["exchange"] for at in found["blamed"]] == [3]
    blamed = found["parts"][found["blamed"][0]]
    assert (blamed["kind"], blamed["failed"][:3]) == ("answer", "503")
    assert found["needs"] is None


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("{type: completes, exit_codes: [0, 1]}", "found no failure"),
        ("{type: completes, exit_codes: [9]}", "without any of the"),
    ],
)
def test_an_oracle_that_never_changes(failing: Path, expect: str, words: str) -> None:
    done = faultwire(
        failing, "blame", "last", "--mock", *FAULTS, "--expect", expect, "--", sys.executable, "agent.py"
    )
    assert done.returncode == 2, done.stderr
    assert words in done.stderr


@pytest.mark.nightly
def test_a_tape_that_cannot_answer_the_calm_run(failing: Path) -> None:
    done = faultwire(failing, "blame", "last", *FAULTS, "--", sys.executable, "agent.py")
    assert done.returncode == 2, done.stderr
    assert "needs --mock or --live" in done.stderr


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_ctrl_c_prints_what_is_known(failing: Path) -> None:
    arguments = ("blame", "last", "--mock", *FAULTS, "--", sys.executable, "agent.py")
    with subprocess.Popen(
        [str(COMMAND), *arguments], cwd=failing, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run 10 "):
                break
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, stderr
    assert "not decided" in stdout
    assert list((failing / ".faultwire" / "blame").glob("*.jsonl"))


@pytest.mark.nightly
@pytest.mark.timeout(2 * LIMIT_S)
@pytest.mark.parametrize("name", SDKS)
def test_the_planted_fault_of_an_agent_with_a_real_sdk(name: str, tmp_path: Path) -> None:
    """Of a fault on every call, only the one on the call that streams is a failure to the oracle."""
    judge = tmp_path / "judge.py"
    judge.write_text(SPLIT.format(test=f"'error' in answers.get({SDKS[name][1]!r}, {{}})"))
    texts = ["status: {code: 400, on: {stream: false}}", "status: {code: 400, on: {stream: true}}"]
    faults = [word for text in (*texts, "latency: {ms: 20}") for word in ("--fault", text)]
    run = faultwire(tmp_path, "exec", "-q", "--mock", *faults, "--", *command(name))
    assert run.returncode == 0, run.stderr
    oracle = ("--oracle", f"{sys.executable} {judge}")
    done = faultwire(
        tmp_path, "blame", "last", "--mock", *faults, *oracle, "-o", "result", "--", *command(name)
    )
    assert done.returncode == 0, done.stderr
    found = result(tmp_path)
    assert [found["parts"][at]["label"] for at in found["blamed"]] == ["status#2 on its call 1"], done.stdout
