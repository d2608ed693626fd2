"""`docs/reference/fidelity.md` has a row for every fault that it says it has."""

from __future__ import annotations

import re
from pathlib import Path

from faultwire.faults._registry import FAMILIES
from faultwire.profile.inline import inline

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "fidelity.md").read_text()
LEFT_OUT = {"tool", "mcp", "agent", "conversation", "attack"}
"""“Faults of tools, MCP, agents, conversations and attacks are not here.”"""
ROWS = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]


def test_every_fault_has_a_row_but_those_that_are_left_out() -> None:
    told = {name for cell in ROWS for name in re.findall(r"`(\w+)(?::|`)", cell)}
    names = {name for family, listed in FAMILIES.items() if family not in LEFT_OUT for name in listed.split()}
    elsewhere = {"websocket_close", "goaway", "rst_stream", "stall_window", "model_answer"}
    """Those of WebSockets and of HTTP/2, which these SDKs do not speak here, and what the user writes."""
    assert told == names - elsewhere
    assert "Faults of tools, MCP, agents, conversations and attacks are not here" in PAGE
    assert "nor is `model_answer`, whose answer is what you write" in PAGE


def test_the_settings_that_were_injected_are_valid() -> None:
    faults = [text for cell in ROWS for text in re.findall(r"`(\w+: \{.*?\})`", cell)]
    assert len(faults) > 40
    for text in faults:
        assert inline(text).entries


def test_what_is_held_against_a_real_failure_is_on_the_page() -> None:
    sentence = PAGE.partition("an answer where nothing fails: ")[2].partition(". The other faults")[0]
    compared = set(re.findall(r"`(\w+)`", sentence))
    told = {name for cell in ROWS for name in re.findall(r"`(\w+)(?::|`)", cell)}
    assert len(compared) > 25
    assert compared <= told
