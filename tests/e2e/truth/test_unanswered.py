"""What `exec` says of an agent that got no answer, or arguments that are no JSON, is true by what it does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from playing import HERE, contract, noticed

AGENT = [sys.executable, str(HERE / "asking_agent.py")]
FAULTS = {
    "garbage_body: {}": "answered 200 with a body that could not be read",
    "malformed_body: {}": "answered 200 with a body that could not be read",
    "empty_body: {}": "answered 200 without a body",
    "empty_response: {}": "answered 200 without text or a tool call",
    "status: {code: 503}": "answered 503",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_no_model_gave(fault: str, tmp_path: Path) -> None:
    code, said = noticed(tmp_path, [*AGENT, "lie", "Say hello"], "--fault", fault)
    assert code == 0
    assert f"{FAULTS[fault]}, no call of a model succeeded after it, and the command exited 0" in said


def test_a_failure_that_is_reported_and_an_answer_that_came(tmp_path: Path) -> None:
    assert noticed(tmp_path, [*AGENT, "report", "Say hello"], "--fault", "garbage_body: {}") == (1, "")
    assert noticed(tmp_path, [*AGENT, "lie", "Say hello"]) == (0, "")


def test_arguments_that_are_no_json(tmp_path: Path) -> None:
    broken = ("--fault", "malformed_tool_arguments: {}")
    _, said = noticed(tmp_path, [*AGENT, "repair"], *broken)
    assert "the agent answered the call of `search` from exchange 1 with a result in exchange 2" in said
    assert noticed(tmp_path, [*AGENT, "decline"], *broken) == (0, "")
    assert noticed(tmp_path, [*AGENT, "repair"]) == (0, "")


def test_a_contract_that_passes_warns_of_the_answer_that_no_model_gave(tmp_path: Path) -> None:
    outage = {"outage": [{"status": {"code": 503}}], "calm": []}
    warning = "1 invocation of `outage` failed no check (`recovers_within` would judge this), and: "
    lied = contract(tmp_path, [*AGENT, "lie"], {"type": "completes"}, outage)
    assert lied.verdicts["outage"][0] == "pass"
    assert warning in lied.terminal.replace("\n", "")
    judged = contract(tmp_path, [*AGENT, "lie"], {"type": "recovers_within", "max_s": 30}, outage)
    assert judged.verdicts["outage"][0] == "fail"
    assert "failed no check" not in judged.terminal
