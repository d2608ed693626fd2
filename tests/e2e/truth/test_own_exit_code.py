"""An exit code of the agent's own is not laid on an answer that only came late; it is on one that a fault
changed, by the fault's name."""

from __future__ import annotations

import json
from pathlib import Path

from playing import agent, noticed

WORDS = "alpha beta gamma delta"
SLOW = {"slow_tokens": {"ms": 10}}
LOST = {"drop_event": {"at": 14}}
"""Of the mock's answer, which repeats the prompt after nine words of its own."""


def test_whose_exit_code_it_is(tmp_path: Path) -> None:
    def said(wanted: str, fault: dict[str, object]) -> tuple[int, str]:
        command = agent("openai-3", "own_exit_code.py", WORDS, wanted)
        return noticed(tmp_path, command, "--fault", json.dumps(fault))

    assert said("omega", SLOW) == (4, "")
    code, words = said(WORDS, LOST)
    assert code == 4
    assert "answered 200 with the fault `drop_event`; the agent exited with 4" in words
    assert said(WORDS, SLOW) == (0, "")
