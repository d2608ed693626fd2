"""`faultwire contract`: verdicts, exit codes and files, with a real agent in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOWN = {"name": "down", "faults": [{"status": {"code": 503}}]}
RULES = {
    "name": "rules",
    "invariants": [
        {"type": "completes", "severity": "critical"},
        {"type": "excludes_pattern", "id": "no-guess", "patterns": ["(?i)surely"], "severity": "high",
         "when": "llm_faults_active"},
    ],
    "chaos_matrix": [{"name": "calm"}, DOWN],
}  # fmt: skip


def cells(document: dict[str, Any]) -> dict[str, str]:
    return {f"{c['invocation']}:{c['invariant']}": c["verdict"] for c in document["cells"]}


def test_an_agent_that_keeps_its_rules_passes(project: Any) -> None:
    project.write(contract=RULES)
    done = project.run("contract", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    document = project.document()
    assert document["score"]["value"] == 100.0
    assert cells(document)["contract/down/hello/r1:no-guess"] == "pass"
    assert "contract/calm/hello/r1:no-guess" not in cells(document)  # nothing was broken there
    assert project.about()["score"] == 1.0
    assert {"report.html", "report.json", "junit.xml", "report.md", "run.tape"} <= {
        path.name for path in project.runs[-1].iterdir()
    }


def test_one_that_ignores_failures_fails_and_the_exit_code_reports_that(project: Any) -> None:
    project.write(contract=RULES)
    done = project.run("contract", "run", env={"TALKER": "careless"})
    assert done.returncode == 1, done.stdout + done.stderr
    said = cells(project.document())
    assert {key for key, verdict in said.items() if verdict == "fail"} == {
        "contract/down/p1/r1:no-guess", "contract/down/hello/r1:no-guess",
    }  # fmt: skip
    # calm 100, down 0: half the mean and half the worst
    assert project.document()["score"]["value"] == 25.0
    assert "contract: 2 cells failed" in done.stderr


def test_one_whose_faults_never_fired_is_unknown(project: Any) -> None:
    tool = {"name": "tools", "faults": [{"tool_error": {}, "on": {"tool": "search"}}]}
    project.write(contract={**RULES, "chaos_matrix": [{"name": "calm"}, tool]})
    done = project.run("contract", "run")
    assert done.returncode == 1, done.stdout + done.stderr
    said = cells(project.document())
    assert said["contract/tools/p1/r1:completes"] == "unknown"
    assert said["contract/calm/p1/r1:completes"] == "pass"
    assert project.run("contract", "run", "--allow-unknown").returncode == 0


@pytest.mark.nightly
def test_an_agent_that_crashes_is_a_verdict(project: Any) -> None:
    project.write(contract={**RULES, "invariants": RULES["invariants"][:1]})
    done = project.run("contract", "run", env={"TALKER": "dead"})
    # It sent nothing at all, so there is nothing that was broken: void, and it says what the agent said.
    assert done.returncode == 3
    assert "the talker is dead" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_an_agent_that_asks_nobody_is_void(project: Any) -> None:
    project.write(contract=RULES)
    done = project.run("contract", "run", env={"TALKER": "mute"})
    assert done.returncode == 3
    assert "sent no traffic through the proxy" in done.stderr


@pytest.mark.nightly
def test_a_minimum_lets_the_score_decide(project: Any) -> None:
    project.write(contract=RULES)
    careless = {"TALKER": "careless"}
    assert project.run("contract", "run", "--min-score", "0.25", env=careless).returncode == 0
    done = project.run("contract", "run", "--min-score", "0.26", env=careless)
    assert done.returncode == 1
    assert "contract: the score 25.00 is below the minimum 26.00" in done.stderr


@pytest.mark.nightly
def test_a_failed_critical_invariant_fails_whatever_the_score(project: Any) -> None:
    critical = [{**check, "severity": "critical"} for check in RULES["invariants"]]  # type: ignore[dict-item]
    project.write(contract={**RULES, "invariants": critical})
    done = project.run("contract", "run", "--min-score", "0.1", env={"TALKER": "careless"})
    assert done.returncode == 1
    assert "critical" in done.stderr


@pytest.mark.nightly
def test_score_prints_one_number_and_nothing_else(project: Any) -> None:
    project.write(contract=RULES)
    done = project.run("contract", "score", env={"TALKER": "careless"})
    assert (done.returncode, done.stdout) == (1, "25.00\n")


def test_validate_starts_nothing(project: Any, tmp_path: Path) -> None:
    project.write(contract=RULES)
    done = project.run("contract", "validate", env={"TALKER_SEEN": str(tmp_path / "seen")})
    assert done.returncode == 0
    assert done.stdout == ("faultwire.yaml: 2 invariants, 2 scenarios, 2 prompts: 4 invocations, 6 cells\n")
    assert not (tmp_path / "seen").exists()
    assert not (project.folder / ".faultwire" / "runs").exists()


COPES = {"type": "excludes_pattern", "id": "copes", "patterns": ["(?i)surely"], "severity": "critical",
         "when": "tool_faults_active"}  # fmt: skip
TOOLS = {"name": "tools", "faults": [{"tool_error": {}, "on": {"tool": "search"}}]}


@pytest.mark.nightly
def test_a_critical_invariant_that_fits_no_scenario_is_no_pass(project: Any) -> None:
    rules = {**RULES, "invariants": [{"type": "completes"}, COPES], "chaos_matrix": [{"name": "calm"}]}
    project.write(contract=rules)
    checked = project.run("contract", "validate")
    assert checked.returncode == 1
    nowhere = "critical invariant `copes` is never judged: its `when: tool_faults_active` fits none of the"
    assert nowhere in checked.stderr
    done = project.run("contract", "run")
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"contract: the {nowhere} scenarios `calm`" in done.stderr
    assert "profile: tool_outage" in done.stderr
    document = project.document()
    assert (document["score"]["value"], document["score"]["gate"]) == (100.0, "unknown")
    assert project.about()["gate"] == "unknown"
    for name in ("report.html", "report.md", "junit.xml"):
        assert "is never judged" in (project.runs[-1] / name).read_text(), name
    assert "never judged" in done.stdout
    assert project.run("contract", "run", "--allow-unknown").returncode == 0


@pytest.mark.nightly
def test_one_that_a_scenario_could_judge_states_what_never_fired(project: Any) -> None:
    invariants = [{"type": "completes", "when": "no_chaos"}, COPES]
    project.write(contract={**RULES, "invariants": invariants, "chaos_matrix": [{"name": "calm"}, TOOLS]})
    assert project.run("contract", "validate").returncode == 0
    done = project.run("contract", "run")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "`copes` was never judged: all of its 2 cells are unknown" in done.stderr
    assert "change `on` and `trigger` of `tool_error` in `tools`" in done.stderr
    assert project.run("contract", "run", "--allow-unknown").returncode == 0
    # The control: the same line, less severe, is a cell that is unknown and no more.
    mild = [invariants[0], {**COPES, "severity": "high"}]
    project.write(contract={**RULES, "invariants": mild, "chaos_matrix": [{"name": "calm"}, TOOLS]})
    done = project.run("contract", "run")
    assert done.returncode == 1
    assert "never judged" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("sections", "arguments", "said"),
    [
        ({"contract": None}, (), "found no `contract`"),
        ({"contract": {**RULES, "invariants": [{"type": "contians"}]}}, (), "contains"),
        ({"contract": {**RULES, "chaos_matrix": []}}, (), "scenario"),
        ({"contract": RULES}, ("-o", "nowhere.txt"), "nowhere.txt"),
        ({"contract": RULES}, ("-o", "json"), "--output report.json"),
        ({"contract": RULES}, ("-o", "/proc/none/report.html"), "/proc/none/report.html"),
        ({"contract": RULES}, ("--baseline", "last"), "found no single run"),
        ({"contract": RULES}, ("--until", "high"), "0.5:0.9"),
        ({"contract": RULES}, ("-c", "absent.yaml"), "absent.yaml"),
    ],
)
def test_what_is_wrong_is_reported_before_any_agent_is_started(
    project: Any, tmp_path: Path, sections: dict[str, Any], arguments: tuple[str, ...], said: str
) -> None:
    project.write(**sections)
    done = project.run("contract", "run", *arguments, env={"TALKER_SEEN": str(tmp_path / "seen")})
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "seen").exists()


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_report_at_any_concurrency(project: Any) -> None:
    flaky = {"name": "flaky", "faults": [{"status": {"code": 503}, "trigger": {"probability": 0.5}}]}
    project.write(contract={**RULES, "chaos_matrix": [{"name": "calm"}, flaky]})
    said = []
    for options in (("--concurrency", "1"), ("--concurrency", "8"), ("--concurrency", "8", "--seed", "8")):
        project.run("contract", "run", "--repeat", "4", *options, env={"TALKER": "careless"})
        said.append(timeless(project.document()))
    assert said[0] == said[1]
    assert said[0]["cells"] != said[2]["cells"]  # the control: another seed is another plan


def timeless(value: Any) -> Any:
    """A report without instants, durations, and what names the single run."""
    if isinstance(value, dict):
        return {
            key: timeless(each)
            for key, each in value.items()
            if not key.endswith(("_at", "_ms", "_s")) and key not in ("id", "tapes", "concurrency", "trend")
        }
    return [timeless(each) for each in value] if isinstance(value, list) else value


@pytest.mark.nightly
def test_runs_are_repeated_until_they_decide(project: Any) -> None:
    project.write(contract=RULES, golden_prompts=["What is the capital of France?"])
    done = project.run("contract", "run", "--until", "0.3:0.95", "--most", "20")
    assert done.returncode == 0, done.stdout + done.stderr
    repeats = {part["repeat"] for part in project.document()["invocations"]}
    assert 2 <= max(repeats) < 20
    assert project.run(
        "contract", "run", "--until", "0.3:0.95", "--most", "20", env={"TALKER": "careless"}
    ).returncode == 1  # fmt: skip


@pytest.mark.nightly
def test_an_earlier_run_is_compared_with(project: Any) -> None:
    project.write(contract=RULES)
    project.run("contract", "run", "--repeat", "5")
    done = project.run("contract", "run", "--repeat", "5", "--baseline", "last", env={"TALKER": "careless"})
    assert done.returncode == 1
    overall = project.document()["comparison"]["overall"]
    assert overall["pairs"] == 20
    assert overall["difference"] == pytest.approx(-0.5)
    assert overall["verdict"] == "significant"


@pytest.mark.nightly
def test_reports_go_where_the_user_wants_them(project: Any) -> None:
    project.write(contract=RULES)
    assert project.run("contract", "run", "-o", "out.xml").returncode == 0
    assert (project.folder / "out.xml").read_text().startswith("<?xml")
    assert "<testcase" in (project.folder / "out.xml").read_text()


@pytest.mark.cold
def test_ctrl_c_keeps_what_had_finished(project: Any, tmp_path: Path) -> None:
    go, seen = tmp_path / "go", tmp_path / "seen"
    os.mkfifo(seen)
    (tmp_path / "gate.py").write_text(GATE)
    project.write(
        contract=RULES,
        advanced={"concurrency": 1, "seed": 7},
        agent={"type": "command", "command": [sys.executable, "gate.py", "{prompt}"]},
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "faultwire", "contract", "run"],
        cwd=project.folder,
        env={**os.environ, "GATE_SEEN": str(seen), "TALKER_WAIT": str(go)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with seen.open() as fifo:
        assert fifo.read() == "second\n"  # blocks until the second invocation has begun
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out + err).decode()
    document = project.document()
    assert document["run"]["partial"] is True
    assert document["score"]["gate"] == "unknown"  # what it did not come to may fail
    assert [part["id"] for part in document["invocations"]] == ["contract/calm/p1/r1"]
    assert json.loads((project.runs[-1] / "run.json").read_text())["status"] == "interrupted"


GATE = """
import os, sys
from pathlib import Path
once = Path("once")
if once.exists():
    with open(os.environ["GATE_SEEN"], "w") as fifo:
        fifo.write("second\\n")
else:
    once.touch()
    os.environ.pop("TALKER_WAIT")
import talker
sys.exit(talker.main())
"""
