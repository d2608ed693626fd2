"""F-01 to F-11 and F-17: faults meet the agent's own traffic, and only where they are asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest

SAID = "'Say tea and milk and honey.'"


def answers(done: Any) -> dict[str, dict[str, str]]:
    """What the agent met, by scenario (and prompt, of the first repeat)."""
    found = {}
    for one in done.report["invocations"]:
        assert one["answer"].startswith("ANSWER "), one
        assert one["answer"].rstrip().endswith(" END"), "the final answer is the agent's own, whole"
        key = one["scenario"] if one["prompt"] == "p1" else f"{one['scenario']}/{one['prompt']}"
        found[key] = dict(re.findall(r"(\w+)=('[^']*'|\S+)", one["answer"]))
    return found


def fired(done: Any, scenario: str) -> list[tuple[str, str | None]]:
    """Faults of a scenario that fired, with the tool of their exchange."""
    return [
        (line["fault"], exchange["tool"])
        for one in done.report["invocations"]
        if one["scenario"] == scenario
        for exchange in one["exchanges"]
        for line in exchange["faults"]
        if line["outcome"] == "fired"
    ]


OUTAGE = {"name": "outage", "tool_faults": [{"tool": "*", "mode": "error", "error_code": 503}]}


def test_f01_tool_faults_act_on_the_agents_tools_and_not_our_way_to_the_agent(project: Any) -> None:
    agent = project.server(reset_endpoint="/reset")
    project.write(agent=agent, contract=project.contract({"name": "calm"}, OUTAGE))
    done = project.run("contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    met = answers(done)
    assert met["calm"] == {"model": SAID, "find": "200", "again": "200", "other": "200"}
    assert met["outage"] == {"model": SAID, "find": "503", "again": "503", "other": "503"}
    assert len(project.tools.calls) == 3, "in the outage no tool was called"


@pytest.mark.nightly
def test_f02_model_faults_change_what_the_model_says_and_not_the_final_answer(project: Any) -> None:
    cut = {"name": "cut", "llm_faults": [{"mode": "truncated_response", "max_tokens": 2}]}
    project.write(contract=project.contract({"name": "calm"}, cut))
    done = project.run("contract", "run")
    met = answers(done)
    assert met["calm"]["model"] == SAID
    assert len(met["cut"]["model"]) < len(SAID)
    assert SAID.startswith(met["cut"]["model"].rstrip("'"))
    assert met["cut"]["find"] == "200"


@pytest.mark.nightly
def test_f03_a_named_tool_is_broken_and_no_other(project: Any) -> None:
    named = {"name": "named", "tool_faults": [{"tool": "find", "mode": "error", "error_code": 500}]}
    project.write(contract=project.contract(named))
    done = project.run("contract", "run")
    assert answers(done)["named"] == {"model": SAID, "find": "500", "again": "500", "other": "200"}


@pytest.mark.nightly
def test_f04_a_python_agent_has_tool_faults(project: Any) -> None:
    import sys

    agent = {
        "type": "python",
        "endpoint": "agent:ask",
        "python": sys.executable,
        "env": {"TOOLS": project.tools.url},
    }
    project.write(agent=agent, contract=project.contract(OUTAGE))
    done = project.run("contract", "run")
    assert done.code == 0, done.stdout + done.stderr
    assert answers(done)["outage"]["find"] == "503"
    assert ("tool_error", "find") in fired(done, "outage")


@pytest.mark.nightly
def test_f07_a_timeout_of_the_model_is_one_and_faults_after_it_act(project: Any) -> None:
    late = {
        "name": "late",
        "llm_faults": [{"mode": "timeout", "delay_ms": 300}, {"mode": "garbage"}],
        "tool_faults": OUTAGE["tool_faults"],
    }
    project.write(contract=project.contract(late))
    done = project.run("contract", "run")
    met = answers(done)["late"]
    assert "tea" not in met["model"], "the model did not answer, however fast it is"
    assert met["find"] == "503"
    assert {name for name, _ in fired(done, "late")} >= {"tool_error"}


@pytest.mark.nightly
def test_f10_f11_global_chaos_reaches_no_scenario(project: Any) -> None:
    contract = project.contract({"name": "calm"}, OUTAGE)
    scores, met = [], []
    for chaos in (
        None,
        {},
        {"llm_faults": [{"mode": "garbage"}], "tool_faults": [{"tool": "*", "mode": "slow"}]},
    ):
        project.write(contract=contract, chaos=chaos)
        done = project.run("contract", "run")
        assert fired(done, "calm") == []
        assert {name for name, _ in fired(done, "outage")} == {"tool_error"}
        scores.append(done.report["score"]["value"])
        met.append(answers(done))
    assert scores == [100.0, 100.0, 100.0]
    assert met[0] == met[1] == met[2]


@pytest.mark.nightly
def test_f17_calls_are_counted_in_each_cell_anew(project: Any) -> None:
    second = {"name": "second", "tool_faults": [{"tool": "find", "mode": "error", "after_calls": 1}]}
    contract = project.contract(second)
    contract["invariants"] += [{"id": f"more{n}", "type": "output_not_empty"} for n in range(3)]
    project.write(contract=contract, golden_prompts=["Say tea.", "Say milk.", "Say honey."])
    done = project.run("contract", "run")
    met = answers(done)
    assert len(met) == 3
    assert {(one["find"], one["again"]) for one in met.values()} == {("200", "503")}
