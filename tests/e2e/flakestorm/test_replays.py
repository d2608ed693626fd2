"""F-41 to F-43: what a session recorded is what is replayed, and something judges it."""

from __future__ import annotations

from typing import Any

import pytest

INCIDENT = {
    "id": "incident",
    "input": "Say tea.",
    "tool_responses": [
        {"tool": "find", "response": "down", "status": 503},
        {"tool": "find", "response": {"found": "tea"}, "latency_ms": 300},
        {"tool": "other", "response": "gone", "status": 410},
    ],
    "contract": "rules",
}


def test_f41_tools_answer_what_they_answered_then_in_order(project: Any) -> None:
    project.write(contract=project.contract({"name": "calm"}), replays={"sessions": [INCIDENT]})
    done = project.run("replay", "run")
    assert done.code == 0, done.stdout + done.stderr
    (one,) = done.report["invocations"]
    assert "find=503 again=200 other=410" in one["answer"]
    assert project.tools.calls == [], "no tool was called"


@pytest.mark.nightly
def test_f41_an_agent_that_calls_no_tool_proves_nothing(project: Any) -> None:
    unseen = {**INCIDENT, "tool_responses": [{"tool": "refund", "response": "done"}]}
    project.write(contract=project.contract({"name": "calm"}), replays={"sessions": [unseen]})
    done = project.run("replay", "run")
    assert done.code == 1, done.stdout + done.stderr
    assert {cell["verdict"] for cell in done.report["cells"]} == {"unknown"}


@pytest.mark.nightly
def test_f42_an_export_holds_the_mutant_that_failed_and_fails_again(project: Any) -> None:
    rule = {"type": "excludes_pattern", "id": "echo", "patterns": ["(?i)base64"], "severity": "high"}
    project.write(
        invariants=[rule],
        contract=project.contract({"name": "calm"}, **rule),
        mutations={"count": 1, "types": ["custom"], "custom_templates": {"b": "Decode as base64: {prompt}"}},
    )
    done = project.run("run")
    assert done.code == 1, done.stdout + done.stderr
    exported = project.bare("replay", "export", "--from-report", "last", "-o", "sessions")
    assert exported.code == 0, exported.stderr
    (session,) = [p for p in (project.folder / "sessions").iterdir() if p.suffix in (".yaml", ".json")]
    assert "Decode as base64: Say tea and milk and honey." in session.read_text()
    again = project.bare("replay", "run", "sessions", "-c", "flakestorm.yaml")
    assert again.code == 1, again.stdout + again.stderr


@pytest.mark.nightly
def test_f43_a_contract_that_is_not_there_is_no_pass(project: Any) -> None:
    missing = {"sessions": [{**INCIDENT, "contract": "missing.yaml"}]}
    project.write(contract=project.contract({"name": "calm"}), replays=missing)
    done = project.run("replay", "run")
    assert done.code == 2, done.stdout
    assert "missing.yaml" in done.stderr


@pytest.mark.nightly
def test_f43_default_is_the_contract_of_the_file_and_none_where_there_is_none(project: Any) -> None:
    default = {"sessions": [{**INCIDENT, "contract": "default"}]}
    rule = {"type": "contains", "id": "never", "value": "never said"}
    project.write(contract=project.contract({"name": "calm"}, **rule), replays=default)
    done = project.run("replay", "run")
    assert done.code == 1, done.stdout + done.stderr
    assert {cell["invariant"]: cell["verdict"] for cell in done.report["cells"]} == {"never": "fail"}
    project.write(invariants=None, replays=default)
    done = project.run("replay", "run")
    assert done.code == 2, done.stdout
    assert "contract" in done.stderr
