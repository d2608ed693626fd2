"""`--max-cost` where a model has no known price: told at the start, and no run goes on under a limit that
cannot hold. With a known price the same command works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.agents.harness import base_environment

AGENT = """import json, sys, urllib.error, urllib.request
asked = {"model": MODEL, "messages": [{"role": "user", "content": "Which colour is it?"}]}
head = {"authorization": "Bearer none", "content-type": "application/json"}
url = "https://api.openai.com/v1/chat/completions"
try:
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode(), head)).read()
except urllib.error.HTTPError:
    sys.exit(1)
print("red")
"""
CONFIG = """version: "2.0"
agent: {command: [PYTHON, -S, agent.py, "{prompt}"]}
proxy: {mock: true}
golden_prompts: [Which colour is it?]
advanced: {repeat: 12, concurrency: 2}
contract: {invariants: [completes], chaos_matrix: [{name: calm}]}
"""
COMMAND = ("--", sys.executable, "-S", "agent.py")
FAULT = ("--mock", "--fault", "status: {code: 503}")
CANNOT = "`--max-cost 1` cannot hold for models without a known price: the first answer of one ends the "
REFUSED = (
    "found `--max-cost 1` and 1 answer of models without a known price in the first run, expected prices of "
    "all: the limit could not hold"
)


def faultwire(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = base_environment()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "faultwire", *words], cwd=work, env=environment,
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


@pytest.fixture(params=["gpt-4o-mini", "no-such-model"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    (tmp_path / "agent.py").write_text(AGENT.replace("MODEL", repr(request.param)))
    (tmp_path / "faultwire.yaml").write_text(CONFIG.replace("PYTHON", sys.executable))
    return str(request.param)


def test_a_search_is_refused_whose_limit_cannot_hold(model: str, tmp_path: Path) -> None:
    limits = ("--max-cost", "1", "--max-runs", "40")
    done = faultwire(tmp_path, "explore", *FAULT, *limits, "--depth", "1", *COMMAND)
    assert f"{CANNOT}search" in done.stderr
    assert (REFUSED in done.stderr) == (model == "no-such-model")
    if model == "no-such-model":
        assert (done.returncode, done.stdout) == (2, "")
        assert "hint: `faultwire prices update FILE` adds prices" in done.stderr
    else:
        assert done.returncode == 1, done.stderr
    without = faultwire(tmp_path, "explore", *FAULT, "--max-runs", "40", "--depth", "1", *COMMAND)
    assert without.returncode == 1, without.stderr
    assert "known price" not in without.stderr


def test_a_run_on_workers_ends_at_the_first_answer_of_unknown_cost(model: str, tmp_path: Path) -> None:
    played = ("contract", "run", "--on", "local:1")
    done = faultwire(tmp_path, *played, "--max-cost", "1")
    assert f"note: {CANNOT}run" in done.stderr
    ended = (
        "contract: an answer without a known price, so that `--max-cost 1` cannot hold, ended the run after "
    )
    if model == "no-such-model":
        assert done.returncode == 3, done.stderr
        assert ended in done.stderr
        assert "without --max-cost the same command goes on" in done.stderr
        assert "`--max-cost 1` could not hold: the cost of " in " ".join(done.stdout.split())
    else:
        assert done.returncode == 0, done.stderr
        assert ended not in done.stderr
        assert "could not hold" not in done.stdout
    without = faultwire(tmp_path, *played)
    assert without.returncode == 0, without.stderr
    assert "known price" not in without.stderr
