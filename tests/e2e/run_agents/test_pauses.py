"""A scripted user who waits between two turns, and conversations that the provider has let go by then."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.e2e.agents import environments
from tests.e2e.agents.harness import KEYS, base_environment, faultwire
from tests.e2e.run_agents.test_many_turns import port

AGENT = Path(__file__).with_name("kept_agent.py")
PAUSE_S = 3.0
SCRIPT = """turns:
  - {match: {last_user: "Which*", turn: 0}, reply: {text: "I do not know."}}
  - {match: {last_user: "Which*"}, reply: {text: "It is ZEBRA-7."}}
  - {match: {}, reply: {text: "Noted."}}
"""


def expiring(idle_s: float) -> list[dict[str, Any]]:
    return [{"conversation_expired": {"idle_s": idle_s}, "on": {"kind": "llm"}}]


def run(work: Path) -> dict[str, Any]:
    at = port()
    (work / "script.yaml").write_text(SCRIPT)
    start = {
        "command": [str(environments.python("openai-agents-0")), str(AGENT), str(at)], "timeout": 120_000,
        "ready_url": f"http://127.0.0.1:{at}/", "env": {name: f"${{{name}}}" for name in KEYS},
    }  # fmt: skip
    document = {
        "version": "2.0",
        "agent": {
            "type": "http", "endpoint": f"http://127.0.0.1:{at}/ask", "start": start, "timeout": 60_000,
            "request_template": '{"session": "{session}", "text": "{prompt}"}', "response_path": "answer",
            "pause_between_turns": round(PAUSE_S * 1000),
        },
        "proxy": {"mock": True, "script": "script.yaml"},
        "golden_prompts": [{"turns": ["My word is ZEBRA-7.", "Which word is mine?"]}],
        "contract": {
            "name": "pauses",
            "invariants": [{"type": "completes"}, {"type": "contains", "value": "ZEBRA-7"}],
            "chaos_matrix": [
                {"name": "calm"},
                {"name": "expired", "faults": expiring(PAUSE_S)},
                {"name": "in time", "faults": expiring(1000)},
            ],
        },
    }  # fmt: skip
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=base_environment(), capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return json.loads((work / "report.json").read_text())


def test_a_conversation_that_expired_in_the_pause_is_lost_and_one_in_time_is_not(tmp_path: Path) -> None:
    report = run(tmp_path)
    found = {
        scenario: [cell["verdict"] for cell in report["cells"] if cell["scenario"] == scenario]
        for scenario in ("calm", "expired")
    }
    assert found == {"calm": ["pass", "pass"], "expired": ["fail", "fail"]}
    by_scenario = {one["scenario"]: one for one in report["invocations"]}
    assert "BadRequestError" in by_scenario["expired"]["stderr"]
    assert by_scenario["in time"]["answer"] == "It is ZEBRA-7.", "the control: no fault fired"
    assert all(one["duration_s"] < PAUSE_S for one in report["invocations"]), (
        "waiting is no time of the agent's"
    )
