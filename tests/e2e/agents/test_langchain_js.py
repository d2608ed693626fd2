"""An agent on LangGraph.js, which counts tokens by a tokenizer that it fetches: under `--mock` it has one."""

from __future__ import annotations

import json
from pathlib import Path

import environments
import pytest
from harness import Run, execute

pytestmark = pytest.mark.nightly  # an environment of its own
LIMIT_S = 60
"""Seconds. Without a tokenizer each answer takes more than a minute: it asks for the file again and again."""


def run(work: Path, *options: str) -> Run:
    command = [
        "node",
        str(environments.node("node_langchain") / "agent.mjs"),
        "What is the weather in Paris?",
    ]
    return execute(work, command, "--mock", "--seed", "3", *options, limit_s=LIMIT_S)


def test_a_streaming_agent_ends_at_once_and_has_nothing_to_fix(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout) == {
        "messages": 4,
        "answer": "Here is what `get_weather` says: Sunny in Paris, 21 degrees",
    }
    tokenizers = [one for one in done.exchanges if one.request.host == "tiktoken.pages.dev"]
    assert [one.delivered.status for one in tokenizers if one.delivered is not None] == [200]
    assert "noticed" not in done.stderr
    assert "Failed to calculate" not in done.stderr, "the tokenizer is one"


def test_a_call_of_a_cut_answer_that_it_ran_is_noticed(tmp_path: Path) -> None:
    done = run(tmp_path, "--fault", "early_end: {after_events: 4, trigger: {first: 1}}")
    assert done.code == 0, done.stderr
    assert (
        "the agent answered the call of `get_weather` from the answer of exchange 1, which was cut short"
        in done.stderr
    )
