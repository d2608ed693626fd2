"""Agents that end by a call or by words of the model's: with the mock they end, and under faults they do not
go on for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import environments
import pytest
from harness import execute

AGENT = Path(__file__).with_name("stepping_agent.py")
LOCKS = {"code": "smolagents-1", "tools": "smolagents-1", "react": "openai-3"}
QUESTION = "How long is the Danube?"
STEPS = "6"
CODE = """
turns:
  - match: {turn: 0}
    reply: {text: "Thought: look it up.\\n<code>\\nprint(search(query='Danube'))\\n</code>"}
  - match: {last_user: "*2860*"}
    reply: {text: "Thought: it is known.\\n<code>\\nfinal_answer('2860 km')\\n</code>"}
"""
REACT = """
turns:
  - match: {turn: 0}
    reply: {text: "Thought: look it up.\\n```python\\nfound = search('Danube')\\n```"}
  - match: {last_user: "*2860*"}
    reply: {text: "Final Answer: 2860 km"}
"""
SCRIPTS = {"code": CODE, "react": REACT}


def play(work: Path, kind: str, *options: str, script: str | None = None) -> tuple[dict[str, Any], Any]:
    (work / "script.yaml").write_text(script or "")
    mock = ("--script", "script.yaml") if script else ("--mock",)
    command = [str(environments.python(LOCKS[kind])), str(AGENT), kind, STEPS, QUESTION]
    done = execute(work, command, *mock, *options)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1]), done


@pytest.mark.nightly
def test_an_agent_that_ends_by_a_tool_ends_without_a_script(tmp_path: Path) -> None:
    ended, _ = play(tmp_path, "tools")
    assert (ended["state"], ended["steps"], len(ended["ran"])) == ("success", 2, 1)
    assert "2860 km" in ended["answer"]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SCRIPTS)
def test_an_agent_that_ends_by_a_program_or_words_ends_by_a_script(kind: str, tmp_path: Path) -> None:
    ended, _ = play(tmp_path, kind, script=SCRIPTS[kind])
    assert ended == {"answer": "2860 km", "state": "success", "steps": 2, "ran": ["Danube"]}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SCRIPTS)
def test_without_a_script_such_an_agent_takes_all_its_steps(kind: str, tmp_path: Path) -> None:
    ended, _ = play(tmp_path, kind)
    assert (ended["state"], ended["steps"]) == ("max_steps_error", int(STEPS) + (kind == "code"))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_first_attempt_that_fails_is_made_again_by_the_sdk(kind: str, tmp_path: Path) -> None:
    fault = "{status: {code: 503}, trigger: {first: 1, attempts: first}}"
    ended, done = play(tmp_path, kind, "--fault", fault, script=SCRIPTS[kind])
    assert (ended["answer"], ended["state"]) == ("2860 km", "success")
    assert "faults     1 fired" in done.stderr
