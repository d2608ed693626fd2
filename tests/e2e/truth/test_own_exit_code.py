"""An exit code of the agent's own is named after an answer that a fault changed, with the fault, and is no
mistake; after an answer that only came late it is not named."""

from __future__ import annotations

import json
from pathlib import Path

import harness
from playing import agent

WORDS = "alpha beta gamma delta"
SLOW = {"slow_tokens": {"ms": 10}}
LOST = {"drop_event": {"at": 14}}
"""Of the mock's answer, which repeats the prompt after nine words of its own."""


def test_whose_exit_code_it_is(tmp_path: Path) -> None:
    def said(wanted: str, fault: dict[str, object]) -> tuple[int, list[str]]:
        command = agent("openai-3", "own_exit_code.py", WORDS, wanted)
        done = harness.execute(tmp_path, command, "--mock", "--fault", json.dumps(fault))
        assert "noticed" not in done.stderr
        return done.code, [line for line in done.stderr.splitlines() if "the command exited with" in line]

    assert said("omega", SLOW) == (4, [])
    code, (words,) = said(WORDS, LOST)
    assert code == 4
    assert words == (
        "  the command exited with 4 after #1: `api.openai.com/v1/chat/completions` answered 200 "
        "with the fault `drop_event`"
    )
    assert said(WORDS, SLOW) == (0, [])
