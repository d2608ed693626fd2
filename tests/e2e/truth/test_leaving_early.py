"""An agent that stops reading an answer was not cut off: nothing says so. One that gave up waiting was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playing import agent, contract, noticed

CHECK = {"type": "truncated_stream_not_accepted", "severity": "critical"}
SCRIPT = 'turns: [{match: {}, reply: {text: "The Danube, the Rhine and the Elbe are rivers of Europe."}}]'
SLOW: dict[str, Any] = {"slow_tokens": {"ms": 150}}
STALL: dict[str, Any] = {"stall": {"after_events": 6, "for_ms": 8000}}
SDKS = {"openai": "openai-3", "anthropic": "anthropic-2"}


@pytest.mark.by_day("openai")
@pytest.mark.parametrize("sdk", SDKS)
def test_what_is_noticed_of_an_agent_that_leaves(sdk: str, tmp_path: Path) -> None:
    def said(manner: str, fault: dict[str, Any]) -> tuple[int, str]:
        command = agent(SDKS[sdk], "leaving_early.py", sdk, manner)
        return noticed(tmp_path, command, "--fault", json.dumps(fault), script=SCRIPT)

    assert said("enough", SLOW) == (0, "")
    code, words = said("silence", STALL)
    assert code == 0
    assert "an incomplete answer: it ended after `The Danube" in words
    assert " s of silence, was not retried, and the command exited 0" in words


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", SDKS)
def test_what_a_contract_says_of_an_agent_that_leaves(sdk: str, tmp_path: Path) -> None:
    command = agent(SDKS[sdk], "leaving_early.py", sdk, "enough")
    said = contract(tmp_path, command, CHECK, {"slow": [SLOW]}, script=SCRIPT)
    assert said.verdicts["slow"] == ("unknown", "no model response was cut short")
    command = agent(SDKS[sdk], "leaving_early.py", sdk, "silence")
    said = contract(tmp_path, command, CHECK, {"stall": [STALL]}, script=SCRIPT)
    verdict, why = said.verdicts["stall"]
    assert verdict == "fail", why
    assert why.endswith("is what came before the cut")
