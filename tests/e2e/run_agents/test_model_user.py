"""A user whose turns a model writes, with a real agent behind the proxy: whose traffic is whose."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.agents.harness import KEYS, base_environment, faultwire
from tests.e2e.run_agents.test_many_turns import AGENT, port

from faultwire.mock.client import Mock
from faultwire.tape.read.reader import TapeReader

KEY = "sk-users-own-key-7c1f0d9e4b2a"
SCRIPT = """turns:
  - match: {turn: 1}
    reply: {text: "What did I tell you?"}
  - match: {turn: 2}
    reply: {text: "Thank you."}
  - reply: {text: DONE}
"""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Mock]:
    (tmp_path / "user.yaml").write_text(SCRIPT)
    with Mock.start(tmp_path / "user.yaml") as running:
        yield running


def run(work: Path, user: dict[str, Any], *, restart: bool = False, pause: int = 0) -> Any:
    at = port()
    (work / "memory").mkdir(exist_ok=True)
    for old in (work / "memory").iterdir():
        old.unlink()
    start = {
        "command": [str(environments.python("openai-3")), str(AGENT), str(at), str(work / "memory"), "files"],
        "ready_url": f"http://127.0.0.1:{at}/", "env": {name: f"${{{name}}}" for name in KEYS},
        "restart_between_turns": restart, "timeout": 60_000,
    }  # fmt: skip
    document = {
        "version": "2.0",
        "agent": {
            "type": "http", "endpoint": f"http://127.0.0.1:{at}/ask", "start": start, "timeout": 60_000,
            "request_template": '{"session": "{session}", "text": "{prompt}"}', "response_path": "answer",
            "user": {"model": "gpt-4o-mini", "goal": "hear what was said", "api_key": "${USER_KEY}", **user},
            "pause_between_turns": pause,
        },
        "proxy": {"mock": True},
        "golden_prompts": ["I am CUST-000001."],
        "contract": {
            "name": "turns", "chaos_matrix": [{"name": "calm"}],
            "invariants": [{"type": "completes"}, {"type": "max_llm_calls", "max": 3}],
        },
    }  # fmt: skip
    (work / "faultwire.yaml").write_text(json.dumps(document))
    return subprocess.run(
        [*faultwire(), "contract", "run", "-o", "report.json"],
        cwd=work, env=base_environment() | {"USER_KEY": KEY}, capture_output=True, text=True, check=False,
        timeout=200,
    )  # fmt: skip


def invocation(work: Path) -> dict[str, Any]:
    (one,) = json.loads((work / "report.json").read_text())["invocations"]
    return one


def tapes(work: Path) -> list[Path]:
    return sorted((work / ".faultwire" / "runs").glob("*/run.tape"))


def test_a_model_goes_on_where_the_script_ends_and_nothing_of_it_is_the_agents(
    model: Mock, tmp_path: Path
) -> None:
    user = {"endpoint": f"http://127.0.0.1:{model.http}/v1"}
    done = run(tmp_path, user)
    assert done.returncode == 0, done.stderr
    one = invocation(tmp_path)
    assert one["answer"].endswith("(5 messages)"), "three turns, two of them the model's"
    assert "the user's turn 2, written by `gpt-4o-mini`: What did I tell you?" in one["stderr"]
    assert "the user's turn 3, written by `gpt-4o-mini`: Thank you." in one["stderr"]
    assert len(one["exchanges"]) == 3, "the agent's calls, and none of its user's"
    with TapeReader.open(tapes(tmp_path)[0]) as tape:
        exchanges = list(tape.exchanges())
        sessions = {each.name: each.exchanges for each in tape.sessions()}
    assert sessions == {"server": 0, "memory/calm/p1/r1": 3, "memory/calm/p1/r2": 3, one["id"]: 3}, (
        "each is the agent's: none is its user's"
    )
    assert {each.request.host for each in exchanges} == {"api.openai.com"}
    assert b"faultwire-user" not in b"".join(repr(each).encode() for each in exchanges)
    written = [path for path in (tmp_path / ".faultwire").rglob("*") if path.is_file()]
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in done.stdout + done.stderr


def test_the_same_run_again_needs_no_model(model: Mock, tmp_path: Path) -> None:
    user = {"endpoint": f"http://127.0.0.1:{model.http}/v1"}
    assert run(tmp_path, user).returncode == 0
    first = invocation(tmp_path)
    model.__exit__(None, None, None)
    again = run(tmp_path, user)
    assert again.returncode == 0, again.stderr
    assert invocation(tmp_path)["answer"] == first["answer"]
    for kept in (tmp_path / ".faultwire" / "cache" / "users").iterdir():
        kept.unlink()
    lost = run(tmp_path, user)  # the control: its words were kept, and nothing else has them
    assert lost.returncode == 3
    assert "agent.user_failed" in lost.stderr


def test_turns_and_questions_are_bounded(model: Mock, tmp_path: Path) -> None:
    user = {"endpoint": f"http://127.0.0.1:{model.http}/v1"}
    assert run(tmp_path, {**user, "turns": 1}).returncode == 0
    assert invocation(tmp_path)["answer"].endswith("(3 messages)")
    for kept in (tmp_path / ".faultwire" / "cache" / "users").iterdir():
        kept.unlink()
    spent = run(tmp_path, {**user, "calls": 1})
    assert spent.returncode == 3, spent.stderr
    assert "agent.user_budget" in spent.stderr


def test_restarts_and_pauses_are_between_a_models_turns_too(model: Mock, tmp_path: Path) -> None:
    done = run(tmp_path, {"endpoint": f"http://127.0.0.1:{model.http}/v1"}, restart=True, pause=300)
    assert done.returncode == 0, done.stderr
    one = invocation(tmp_path)
    assert one["answer"].endswith("(5 messages)"), "an agent that stores its memory remembers"
    with TapeReader.open(tapes(tmp_path)[0]) as tape:
        sessions = {each.name: list(tape.exchanges(each.name)) for each in tape.sessions()}
    began = [each.started_ms for each in sessions[one["id"]]]
    assert all(later - before >= 300 for before, later in itertools.pairwise(began)), (
        began,
        list(sessions),
    )


def test_all_turns_at_once_leave_no_place_for_such_a_user(tmp_path: Path) -> None:
    agent = {
        "type": "http", "endpoint": "http://127.0.0.1:9/ask", "request_template": '{"turns": {turns}}',
        "user": {"endpoint": "http://127.0.0.1:9/v1", "model": "m", "goal": "g"},
    }  # fmt: skip
    (tmp_path / "faultwire.yaml").write_text(
        json.dumps(
            {"version": "2.0", "agent": agent, "golden_prompts": ["x"], "invariants": [{"type": "completes"}]}
        )
    )
    done = subprocess.run(
        [*faultwire(), "contract", "validate"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "found `user` with `{turns}`, which sends all turns at once" in done.stderr + done.stdout
