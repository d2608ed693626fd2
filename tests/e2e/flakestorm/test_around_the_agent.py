"""F-13, F-19, F-29, F-31 to F-37 and F-47: resets, templates, answers, commands and their codes."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.nightly

OUTAGE = {"name": "outage", "tool_faults": [{"tool": "*", "mode": "error"}]}
HARD = 'He said "no"\nand {q} \\ left\t{{x}} $y %s'


def test_f13_an_agent_that_copes_with_errors_passes(project: Any) -> None:
    project.write(contract=project.contract(OUTAGE))
    done = project.run("contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    assert done.cells(scenario="outage") == {"answers": "pass"}


def test_f19_a_reset_is_asked_before_each_cell_at_its_own_server(project: Any) -> None:
    project.write(
        agent=project.server(reset_endpoint="/reset", headers={"x-team": "tea"}),
        contract=project.contract({"name": "calm"}, OUTAGE),
        golden_prompts=["Say tea.", "Say milk."],
    )
    done = project.run("contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    assert len(done.report["invocations"]) == 4
    assert (project.folder / "resets.txt").read_text().split() == ["tea"] * 4


def test_f19_a_reset_that_fails_voids_its_cell(project: Any) -> None:
    agent = project.server(reset_endpoint="/reset")
    agent["start"]["env"]["RESET"] = "fails"
    project.write(agent=agent, contract=project.contract({"name": "calm"}))
    done = project.run("contract", "run")
    assert done.code == 3, done.stdout + done.stderr
    assert "reset" in done.stderr
    assert "500" in done.stderr


def test_f34_the_advanced_section_and_the_output_do_something(project: Any) -> None:
    project.write(
        contract=project.contract({"name": "calm"}),
        advanced={"concurrency": 3, "repeat": 2, "seed": 9},
        output={"format": "json", "path": "out", "filename_template": "{date}"},
    )
    done = project.bare("contract", "run", "-c", "flakestorm.yaml")
    assert done.code == 0, done.stdout + done.stderr
    assert "`filename_template` is not used" in done.stderr, "what means nothing is told"
    report = json.loads((project.folder / "out" / "report.json").read_text())
    assert (report["run"]["concurrency"], report["run"]["seed"]) == (3, 9)
    assert [one["repeat"] for one in report["invocations"]] == [1, 2]


def test_f35_a_hard_prompt_arrives_as_it_is_and_f36_a_null_error_is_none(project: Any) -> None:
    project.write(agent=project.server(), golden_prompts=[HARD], contract=project.contract({"name": "calm"}))
    done = project.run("contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    (one,) = done.report["invocations"]
    assert one["answer"].startswith("ANSWER model="), "its answers all have `error: null` beside them"
    (asked,) = [e for e in one["exchanges"] if e["kind"] == "llm"]
    told = json.dumps(asked)
    assert json.dumps(json.dumps(HARD))[3:-3] in told or json.dumps(HARD)[1:-1] in told


def test_f37_a_response_path_that_misses_is_an_error_and_no_guess(project: Any) -> None:
    project.write(
        agent=project.server(response_path="reply.text"), contract=project.contract({"name": "calm"})
    )
    done = project.run("contract", "run")
    assert done.code == 1, done.stdout + done.stderr
    (one,) = done.report["invocations"]
    assert "ANSWER" not in one["answer"]
    assert "reply" in one["stderr"]


def test_f32_a_failed_contract_exits_1_and_no_contract_2(project: Any) -> None:
    project.write(contract=project.contract({"name": "calm"}, type="contains", value="never said"))
    assert project.run("contract", "run").code == 1
    project.write()
    done = project.run("contract", "run")
    assert done.code == 2
    assert "contract" in done.stderr


def test_f33_verify_calls_a_dead_agent_dead(project: Any) -> None:
    project.write()
    assert project.bare("verify", "-c", "flakestorm.yaml").code == 0
    project.write(agent={**project.command(), "command": [sys.executable, "-c", "exit(3)", "{prompt}"]})
    done = project.bare("verify", "-c", "flakestorm.yaml")
    assert done.code != 0, done.stdout


def test_f29_chaos_plays_the_chaos_section(project: Any) -> None:
    project.write(chaos={"tool_faults": [{"tool": "find", "mode": "error"}]})
    done = project.run("chaos")
    assert done.code == 0, done.stdout + done.stderr
    lines = [
        line["fault"]
        for one in done.report["invocations"]
        for exchange in one["exchanges"]
        for line in exchange["faults"]
        if line["outcome"] == "fired"
    ]
    assert lines == ["tool_error", "tool_error"], "once calm, once broken, and `find` is called twice"


def test_f31_score_without_an_agent_is_an_error_in_words(project: Any) -> None:
    project.write(agent={"type": "command", "command": ["no-such-program", "{prompt}"]})
    done = project.bare("score", "-c", "flakestorm.yaml")
    assert done.code in (2, 3)
    assert "no-such-program" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("chaos", ["tool_fault", "scoring"])
def test_f47_a_typo_is_reported_with_the_nearest_name(chaos: str, project: Any) -> None:
    wrong: dict[str, Any] = {
        "tool_fault": {"chaos": {"tool_fault": [{"tool": "find", "mode": "error"}]}},
        "scoring": {
            "scoring": {"weights": {"mutation": 0.25, "chaos": 0.25, "contract": 0.25, "replay": 0.25}}
        },
    }[chaos]
    project.write(contract=project.contract({"name": "calm"}), **wrong)
    done = project.run("contract", "run")
    assert "warning: " in done.stderr or done.code == 2
    assert {"tool_fault": "tool_faults", "scoring": "weights"}[chaos] in done.stderr
