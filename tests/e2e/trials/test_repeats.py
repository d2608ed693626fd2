"""Runs that repeat byte for byte are made once, with real processes; those of an agent that draws are not."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.trials.test_bad_tapes import run
from tests.e2e.trials.test_offline import AGENT, COMMAND, FAULT

WORDS = "that were made again were the same, byte for byte: others were made once"


def failed(work: Path, agent: str) -> None:
    (work / "agent.py").write_text(agent)
    done = run(work, "exec", "-q", "--mock", *FAULT, "--record", "failed.tape", *COMMAND)
    assert done.returncode == 1, done.stderr


def test_blame_makes_a_run_once_where_runs_repeat(tmp_path: Path) -> None:
    failed(tmp_path, AGENT)
    done = run(tmp_path, "blame", "failed.tape", "--mock", *FAULT, "--no-fields", "-o", "result", *COMMAND)
    assert done.returncode == 0, done.stderr
    assert "about 14 where they repeat byte for byte" in done.stderr
    assert WORDS in done.stdout
    found = json.loads((tmp_path / "result" / "blame.json").read_text())
    assert (found["runs"], found["repeats"]["exact"]) == (14, True)
    assert [found["parts"][at]["exchange"] for at in found["blamed"]] == [2]


def test_blame_repeats_the_runs_of_an_agent_that_draws(tmp_path: Path) -> None:
    """Its verdict is the same each time; what it asks is not."""
    draws = AGENT.replace('f"Step {number}?"', 'f"Step {number}, {uuid.uuid4()}?"')
    draws = draws.replace("import json", "import uuid, json", 1)
    failed(tmp_path, draws)
    done = run(
        tmp_path, "blame", "failed.tape", "--mock", *FAULT, "--max-runs", "18", "-o", "result", *COMMAND
    )
    assert done.returncode == 3, done.stderr
    assert WORDS not in done.stdout
    found = json.loads((tmp_path / "result" / "blame.json").read_text())
    assert (found["runs"], found["repeats"]) == (18, {"equal": 0, "exact": False})
