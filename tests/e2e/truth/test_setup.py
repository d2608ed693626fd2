"""A set-up that cannot be right is said on the terminal, and scores nobody."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

import harness
import pytest
from playing import agent, contract

CHECK = {"type": "output_not_empty"}
CALM: dict[str, list[dict[str, Any]]] = {"calm": []}
KEYS = tuple(harness.KEYS)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.mark.by_day("output-0")
@pytest.mark.parametrize(("path", "code"), [("answer.text", 2), ("output", 0)])
def test_a_response_path_that_leads_nowhere_is_an_error_of_the_file(
    path: str, code: int, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    server = {"command": agent("openai-3", "openai_server.py", str(port)), "ready_url": url}
    asked = {"type": "http", "endpoint": url, "response_path": path, "timeout": 60000}
    start = server | {"env": {"OPENAI_API_KEY": "${OPENAI_API_KEY}"}, "timeout": 60000}
    said = contract(tmp_path, [], CHECK, CALM, agent=asked | {"start": start})
    assert said.code == code, said.terminal
    words = "stands where `agent` looks for it: found no `answer.text` in an object with `output`, `id`"
    assert (words in said.terminal) == (code == 2), said.terminal
    if code == 2:
        assert "config.answer_not_found: " in said.terminal
        assert "score" not in said.terminal.partition("hint:")[0]
    else:
        assert said.verdicts["calm"][0] == "pass"


@pytest.mark.by_day("openai-3")
@pytest.mark.parametrize("environment", ["openai-3", "anthropic-2"])
def test_a_missing_key_is_named(environment: str, tmp_path: Path) -> None:
    program = {"openai-3": "openai_tools.py", "anthropic-2": "anthropic_streaming.py"}[environment]
    command = [*agent(environment, program, "careful"), "{prompt}"]
    asked = {"type": "command", "command": command, "timeout": 60000}
    said = contract(tmp_path, [], CHECK, CALM, without=KEYS, agent=asked, proxy={})
    assert said.code == 3
    assert "capture.no_key: the agent ran once and ended before its first request" in said.terminal


def test_a_timeout_is_named(tmp_path: Path) -> None:
    asked = {"type": "command", "command": [*agent("openai-3", "openai_tools.py"), "{prompt}"], "timeout": 50}
    said = contract(tmp_path, [], CHECK, CALM, agent=asked)
    assert said.code == 3
    assert "capture.timeout: the agent ran once, and was stopped at its timeout each time" in said.terminal


def test_exec_names_a_missing_key(tmp_path: Path) -> None:
    environment = {k: v for k, v in harness.base_environment().items() if not k.endswith("_API_KEY")}
    command = agent("openai-3", "openai_tools.py", "What is tea?")
    done = subprocess.run(
        [*harness.faultwire(), "exec", "--", *command],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "no provider's key is set" in done.stderr
