"""No verdict on agents of real frameworks is false: see `docs/explanation/verdicts.md`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import labelled
import pytest

MOST_UNKNOWN = 0.25
"""Of the cells of one agent in all scenarios."""


@pytest.mark.nightly
def test_by_day_one_agent_in_the_scenarios_that_were_judged_falsely(tmp_path: Path) -> None:
    scenarios = {name: labelled.SCENARIOS[name] for name in sorted(labelled.SHORTENED)}
    rows = labelled.play(tmp_path, "openai", scenarios)
    assert labelled.false_verdicts(rows) == []
    assert {row["should"] for row in rows if row["check"] == "truncated_stream_not_accepted"} == {
        "pass",
        "fail",
    }


@pytest.mark.timeout(labelled.LIMIT_S)
@pytest.mark.nightly
@pytest.mark.parametrize("agent", labelled.AGENTS)
def test_every_agent_in_every_scenario(agent: str, tmp_path: Path) -> None:
    rows = labelled.play(tmp_path, agent)
    assert labelled.false_verdicts(rows) == []
    assert sum(row["verdict"] == "unknown" for row in rows) <= MOST_UNKNOWN * len(rows)


def test_a_false_verdict_is_found() -> None:
    row = {"check": "completes", "should": "fail", "verdict": "pass"}
    assert labelled.false_verdicts([row]) == [row]
    assert "| `completes` | 1 | 0 | 1 | 0 | 0 | 0 |" in labelled.table([row])


def test_it_starts_from_any_folder(tmp_path: Path) -> None:
    """As the page of the docs says, without pytest's paths."""
    program = str(Path(labelled.__file__).resolve())
    done = subprocess.run(
        [sys.executable, program, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "--rows" in done.stdout) == (0, True), done.stderr
