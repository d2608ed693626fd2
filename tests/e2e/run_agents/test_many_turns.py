"""Scripted conversations over an agent's own HTTP endpoint: isolation of sessions, restarts between turns."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.agents.harness import KEYS, base_environment, faultwire

AGENT = Path(__file__).with_name("remembering_agent.py")
SESSIONS = int(os.environ.get("FAULTWIRE_SESSIONS", "12"))
"""Sessions of each agent; the figure of the page is from 1,000."""
INVARIANTS = [{"type": "completes"}, {"type": "session_isolated", "pattern": "CUST-[0-9]{6}"}]


def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run(work: Path, memory: str, prompts: list[Any], *, restart: bool = False) -> dict[str, Any]:
    at = port()
    (work / "memory").mkdir()
    start = {
        "command": [str(environments.python("openai-3")), str(AGENT), str(at), str(work / "memory"), memory],
        "ready_url": f"http://127.0.0.1:{at}/", "env": {name: f"${{{name}}}" for name in KEYS},
        "restart_between_turns": restart, "timeout": 60_000,
    }  # fmt: skip
    document = {
        "version": "2.0",
        "agent": {
            "type": "http", "endpoint": f"http://127.0.0.1:{at}/ask", "start": start, "timeout": 60_000,
            "request_template": '{"session": "{session}", "text": "{prompt}"}', "response_path": "answer",
        },
        "proxy": {"mock": True},
        "golden_prompts": prompts,
        "contract": {"name": "turns", "invariants": INVARIANTS, "chaos_matrix": [{"name": "calm"}]},
    }  # fmt: skip
    (work / "faultwire.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [*faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=base_environment(), capture_output=True, text=True, check=False,
        timeout=200 + len(prompts),
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return json.loads((work / "report.json").read_text())


def users(count: int) -> list[dict[str, Any]]:
    """Conversations of two turns, each of a customer of its own."""
    names = [f"CUST-{number:06}" for number in range(1, count + 1)]
    return [{"turns": [f"I am {name}.", f"Greet me, {name}."]} for name in names]


def verdicts(report: dict[str, Any], check: str = "session_isolated") -> list[str]:
    return [cell["verdict"] for cell in report["cells"] if cell["invariant"] == check]


def answers(report: dict[str, Any]) -> list[str]:
    return [one["answer"] for one in report["invocations"]]


@pytest.mark.timeout(400 + 3 * SESSIONS)
def test_an_isolated_agent_is_not_accused(tmp_path: Path) -> None:
    report = run(tmp_path, "process", users(SESSIONS))
    assert verdicts(report) == ["pass"] * SESSIONS
    assert all(answer.endswith("(3 messages)") for answer in answers(report)), "each remembers its own turn"


@pytest.mark.timeout(400 + 3 * SESSIONS)
@pytest.mark.parametrize("memory", ["shared", pytest.param("stale", marks=pytest.mark.nightly)])
def test_every_contamination_is_found(memory: str, tmp_path: Path) -> None:
    """Of the shared memory each session but the first has others' words; of the stale one every seventh."""
    found = verdicts(run(tmp_path, memory, users(SESSIONS)))
    dirty = [at > 0 if memory == "shared" else at % 7 == 6 for at in range(SESSIONS)]
    assert found == ["fail" if one else "pass" for one in dirty]


@pytest.mark.parametrize("memory", ["files", "process"])
def test_what_an_agent_did_not_store_is_gone_after_a_restart(memory: str, tmp_path: Path) -> None:
    report = run(tmp_path, memory, users(2), restart=True)
    kept = "(3 messages)" if memory == "files" else "(1 messages)"
    assert all(answer.endswith(kept) for answer in answers(report)), answers(report)
    assert verdicts(report, "completes") == ["pass", "pass"]
    assert all(len(one["exchanges"]) == 2 for one in report["invocations"]), "both turns are one session"


@pytest.mark.nightly
def test_a_server_that_starts_only_once_ends_the_run_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"exited with `1` before it was ready.*FileExistsError"):
        run(tmp_path, "once", users(1), restart=True)


def test_a_restart_that_could_never_happen_is_refused(tmp_path: Path) -> None:
    """Where all turns are sent at once there is nothing between them, and of `openai` each turn is whole."""
    start = {"command": ["true"], "ready_url": "http://127.0.0.1:9/", "restart_between_turns": True}
    own = {"endpoint": "http://127.0.0.1:9/ask", "start": start}
    at_once = {"type": "http", **own, "request_template": '{"turns": {turns}}'}
    for agent, words in (
        (at_once, "sends all turns at once"),
        ({"type": "openai", "model": "m", **own}, "only with"),
    ):
        (tmp_path / "faultwire.yaml").write_text(
            json.dumps({"version": "2.0", "agent": agent, "golden_prompts": ["x"], "invariants": INVARIANTS})
        )
        done = subprocess.run(
            [*faultwire(), "contract", "validate"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert words in done.stderr + done.stdout
