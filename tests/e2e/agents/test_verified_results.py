"""Did the agent verify? Each of the four outcomes where it is true and not where it is another, for two tools
on two frameworks, each in its own environment."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import environments
import pytest
from harness import KEYS, base_environment, faultwire

AGENT = Path(__file__).with_name("looking_agent.py")
ENVIRONMENTS = {"pydantic-ai": "pydantic-ai-2", "ag2": "ag2-1"}
ASK = {"name": "price", "arguments": {"item": "tea"}}
WRONG = {"tool_wrong_values": None, "on": {"tool": "price"}, "trigger": {"first": 1}}
NOTHING_DONE = {"tool_no_op": None, "on": {"tool": "order"}, "trigger": {"first": 1}}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def run(work: Path, framework: str, fault: dict[str, Any], steps: list[dict[str, Any]], said: str) -> Any:
    """The verdict of `verifies_results`, and the false values that the agent's model got."""
    finish = {"text": said}
    turns = [{"match": {"turn": at}, "reply": step} for at, step in enumerate(steps)]
    (work / "s.yaml").write_text(json.dumps({"turns": [*turns, {"reply": finish}]}))
    document = {
        "version": "2.0",
        "agent": {
            "type": "command", "timeout": 300_000, "stdin": True,
            "env": {name: f"${{{name}}}" for name in KEYS},
            "command": [str(environments.python(ENVIRONMENTS[framework])), str(AGENT), framework],
        },
        "proxy": {"mock": True, "script": "s.yaml"},
        "golden_prompts": ["What does the tea cost?"],
        "contract": {
            "name": "looks", "invariants": [{"type": "verifies_results"}],
            "chaos_matrix": [{"name": "wrong", "faults": [fault]}],
        },
    }  # fmt: skip
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=base_environment(), capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    report = json.loads((work / "report.json").read_text())
    (one,) = report["invocations"]
    assert one["exit_code"] == 0, one["stderr"][-1000:]
    assert "{" in said or one["answer"].strip() == said
    (cell,) = report["cells"]
    return cell["verdict"], cell["explanation"], done.stdout


@pytest.mark.nightly
@pytest.mark.timeout(2400)  # six starts of a framework, each of which a busy machine may make wait
@pytest.mark.parametrize("framework", ENVIRONMENTS)
def test_each_outcome_of_a_wrong_value_is_printed_where_it_is_true_and_nowhere_else(
    framework: str, tmp_path: Path
) -> None:
    once, twice = [call("price", item="tea")], [call("price", item="tea")] * 2
    _, explanation, _ = run(tmp_path, framework, WRONG, once, "It costs {last_result}.")
    false = explanation.split("`")[5]
    assert explanation == (
        f"fooled by `tool_wrong_values` on `price`: the answer has `{false}`, which only the false "
        "result says"
    )
    for steps, said, verdict, outcome in (
        (once, f"The tea costs {false} euros.", "fail", "fooled"),
        (twice, f"First {false} was told, but it costs 120 euros.", "pass", "recovered"),
        (twice, "The tea costs 120 euros.", "pass", "recovered"),
        (once, f"It says {false} euros, which I could not verify.", "pass", "reported"),
        (once, "I cannot tell you a price.", "pass", "degraded"),
    ):
        found = run(tmp_path, framework, WRONG, steps, said)
        assert found[0] == verdict, found
        assert found[1].startswith(f"{outcome} by `tool_wrong_values` on `price`: "), found
        others = {"recovered", "reported", "degraded", "fooled"} - {outcome}
        assert not any(f"{other} by" in found[1] + found[2] for other in others), found


@pytest.mark.nightly
@pytest.mark.timeout(2400)  # six starts of a framework, each of which a busy machine may make wait
@pytest.mark.parametrize("framework", ENVIRONMENTS)
def test_outcomes_of_a_success_in_which_nothing_was_done_are_those_of_its_own_tool(
    framework: str, tmp_path: Path
) -> None:
    once = [call("order", item="tea", amount=120)]
    for steps, said, verdict, outcome in (
        (once, "It is on its way.", "fail", "fooled"),
        ([*once, *once], "It is on its way.", "pass", "recovered"),
        (once, "There is no order number, please check.", "pass", "reported"),
    ):
        found = run(tmp_path, framework, NOTHING_DONE, steps, said)
        assert found[0] == verdict, found
        assert found[1].startswith(f"{outcome} by `tool_no_op` on `order`: "), found
