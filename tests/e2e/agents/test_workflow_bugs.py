"""Twelve bugs planted in teams on four unmodified frameworks, and the same teams without one.

Each framework runs in its own environment; faultwire is given the team's contract and nothing else. A bug
is in the team's wiring or in what a model does; each must be found by the checks about it, and by no other.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import environments
import pytest
from harness import KEYS, base_environment, faultwire

AGENT = Path(__file__).parent / "workflow_agent.py"
FRAMEWORKS = {
    "langgraph": "langchain-1", "crewai": "crewai-1", "ag2": "ag2-1", "openai-agents": "openai-agents-0",
}  # fmt: skip
BILLING = {"instructions": "You are the billing agent*"}
INVARIANTS = [
    {"type": "eventually", "after": {"tool": "reserve"}, "then": [{"tool": "pay"}], "same": ["order"]},
    {"type": "at_most_once", "step": {"tool": "pay"}, "same": ["order"]},
    {"type": "only_agent_may_call", "tool": "pay", "agent": "billing", **BILLING},
    {"type": "information_flow", "canaries": ["IBAN-CANARY-7431"], "may_learn": {"billing": BILLING}},
]
SETTLED = ["Reserved and paid.", {"name": "pay", "note": "first"}, {"name": "reserve"}, {"name": "account"}]
"""What billing's model does, by the last tool: `pay`, `reserve`, `account`, none yet."""
BUGS = {
    # bug: what billing's model does; what the planner's does after it looked the order up; who must find it
    "unpaid": (["", "Reserved.", *SETTLED[2:]], "Bill it.", {"eventually"}),
    "twice": ([{"name": "pay", "note": "again"}, *SETTLED[1:]], "Bill it.", {"at_most_once"}),
    "tools": (SETTLED, {"name": "pay", "note": "mine"}, {"only_agent_may_call", "at_most_once"}),
    "hand": (SETTLED, "Bill it.", {"information_flow"}),
}
PLANTED = [
    (framework, bug)
    for at, framework in enumerate(FRAMEWORKS)
    for left_out, bug in enumerate(BUGS)
    if left_out != at
]
CLEAN = int(os.environ.get("FAULTWIRE_CLEAN_RUNS", "3"))
"""Clean runs of each framework; the figures of the page are from 50."""


def reply(what: str | dict[str, str]) -> dict[str, object]:
    if isinstance(what, str):
        return {"text": what}
    return {"tool_calls": [{"name": what["name"], "arguments": {**what, "order": "ORD-77"}}]}


def script(bug: str) -> str:
    """The models of the team. The tool `pay` ends a second round: who pays twice pays no third time."""
    billing, planner, _ = BUGS.get(bug, (SETTLED, "Bill it.", set()))
    after_pay, after_reserve, after_account, first = billing
    rows: list[tuple[dict[str, object], str | dict[str, str]]] = [
        ({"system": "You are the writer*"}, "Order ORD-77 is settled."),
        ({"system": "You are the billing*", "last_tool": "pay", "turn": 4}, SETTLED[0]),
        ({"system": "You are the billing*", "last_tool": "pay"}, after_pay or SETTLED[0]),
        ({"system": "You are the billing*", "last_tool": "reserve"}, after_reserve),
        ({"system": "You are the billing*", "last_tool": "account"}, after_account),
        ({"system": "You are the billing*"}, first),
        ({"system": "You are the planner*", "last_tool": "pay"}, "Bill it."),
        ({"system": "You are the planner*", "last_tool": "lookup"}, planner),
        ({"system": "You are the planner*"}, {"name": "lookup"}),
    ]
    return json.dumps({"turns": [{"match": match, "reply": reply(what)} for match, what in rows]})


def judged(work: Path, framework: str, bug: str = "", repeat: int = 1) -> list[tuple[str, str, str]]:
    """The cells of `faultwire contract run`: check, verdict, explanation."""
    (work / "script.yaml").write_text(script(bug))
    python = str(environments.python(FRAMEWORKS[framework]))
    document = {
        "version": "2.0",
        "agent": {
            "type": "command", "command": [python, str(AGENT), framework, bug], "stdin": True,
            "env": {name: f"${{{name}}}" for name in KEYS}, "timeout": 240_000,
        },
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": ["Please settle order ORD-77."],
        "contract": {"name": "team", "invariants": INVARIANTS, "chaos_matrix": [{"name": "calm"}]},
        "advanced": {"repeat": repeat, "concurrency": 2},
    }  # fmt: skip
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=base_environment(), capture_output=True, text=True, check=False,
        timeout=120 + 120 * repeat,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    report = json.loads((work / "report.json").read_text())
    assert len(report["invocations"]) == repeat
    for one in report["invocations"]:
        assert one["exit_code"] == 0, one["stderr"][-1000:]
    return [(cell["invariant"], cell["verdict"], cell["explanation"]) for cell in report["cells"]]


@pytest.mark.nightly
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("framework", "bug"), PLANTED)
def test_a_planted_bug_is_found_by_what_is_about_it_and_by_nothing_else(
    framework: str, bug: str, tmp_path: Path
) -> None:
    cells = judged(tmp_path, framework, bug)
    assert {check for check, verdict, _ in cells if verdict == "fail"} == BUGS[bug][2], cells
    assert {check for check, verdict, _ in cells if verdict == "unknown"} == (
        {"at_most_once"} if bug == "unpaid" else set()
    ), cells


@pytest.mark.nightly
@pytest.mark.timeout(120 + 120 * CLEAN)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_team_without_a_bug_passes(framework: str, tmp_path: Path) -> None:
    cells = judged(tmp_path, framework, repeat=CLEAN)
    assert len(cells) == len(INVARIANTS) * CLEAN
    assert [cell for cell in cells if cell[1] != "pass"] == []


def test_twelve_bugs_are_planted() -> None:
    assert len(PLANTED) == 12
    assert {framework for framework, _ in PLANTED} == set(FRAMEWORKS)
    assert {bug for _, bug in PLANTED} == set(BUGS)
