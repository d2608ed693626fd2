"""The score tells agents apart: five that differ only in how they treat failures, under one contract.

No setting is chosen for one of them. The table in docs/explanation/scoring.md is what is measured here.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

AGENTS = Path(__file__).with_name("shop_agents.py")
DOCS = Path(__file__).parents[3] / "docs" / "explanation" / "scoring.md"
STYLES = ("careful", "careless", "liar", "constant", "retry-storm")
APART = 20
CONTRACT = {
    "name": "shop",
    "invariants": [
        {"type": "completes", "severity": "critical"},
        {"type": "output_not_empty", "severity": "high"},
        {"type": "truncated_stream_not_accepted", "severity": "high"},
        {"type": "no_fabrication", "severity": "high", "when": "tool_faults_active"},
        {"type": "no_retry_storm", "severity": "high"},
        {"type": "respects_retry_after", "severity": "medium", "when": "llm_faults_active"},
    ],
    "chaos_matrix": [
        {"name": "calm"},
        {"name": "cut", "faults": [{"cut_stream": {"after_events": 3}, "on": {"turn": 1}}]},
        {"name": "limits", "faults": [{"rate_limit": {"retry_after_s": 1}}]},
        {"name": "tools", "faults": [{"tool_error": {"message": "the price list is down"}}]},
    ],
}
RIGHT = {"when": "no_chaos", "severity": "high"}
PROMPTS = [
    {"id": name, "prompt": f"What is the price of the {name}?", "expect": {"contains": price, **RIGHT}}
    for name, price in (("kettle", "45.50"), ("lamp", "31.25"))
]


@pytest.mark.nightly
def test_the_score_separates_careful_agents_from_others(project: Any) -> None:
    """The numbers of the table in docs/explanation/scoring.md."""
    shutil.copy(AGENTS, project.folder / "agent.py")
    project.write(
        agent={"type": "command", "command": [sys.executable, "agent.py", "{prompt}"]},
        golden_prompts=PROMPTS,
        contract=CONTRACT,
    )
    found = {}
    for style in STYLES:
        project.run("contract", "run", env={"SHOP_AGENT": style})
        found[style] = project.document()["score"]
    scores = {style: score["number"] for style, score in found.items()}
    assert scores["careful"] == 100.0
    assert max(scores[style] for style in STYLES[1:]) <= scores["careful"] - APART, scores
    table = DOCS.read_text(encoding="utf-8")
    for style, score in found.items():
        each = " | ".join(f"{one['value']:.0f}" for one in score["scenarios"])
        assert f"| {style} | {each} | **{score['number']:.2f}** |" in table
