"""An agent takes its tape's write-ahead log away: the run does not end well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

AGENT = """
import glob, os, urllib.request
ask = lambda: urllib.request.urlopen("http://api.openai.com/v1/models").read()
ask()
if {attack}:
    (log,) = glob.glob(".faultwire/runs/*/run.tape-wal")
    os.unlink(log)
try:
    ask()
except OSError:
    pass
"""


def run(folder: Path, *, attack: bool) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "faultwire", "exec", "--mock", "--", sys.executable, "-c"]
    done = subprocess.run(
        [*command, AGENT.format(attack=attack)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    (about,) = folder.glob(".faultwire/runs/*/run.json")
    return done.returncode, done.stderr, json.loads(about.read_text())["status"]


def test_a_tape_that_lost_its_log_is_inconclusive(tmp_path: Path) -> None:
    code, printed, status = run(tmp_path, attack=True)
    assert (code, status) == (3, "void"), printed
    assert "write-ahead log was removed while it was written" in printed


def test_the_same_agent_without_the_attack_ends_well(tmp_path: Path) -> None:
    code, printed, status = run(tmp_path, attack=False)
    assert (code, status) == (0, "finished"), printed
