"""What a contract run says that Ctrl-C ended: of faults in invocations that were not finished, nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.cold
FAULTWIRE = Path(sys.executable).with_name("faultwire")
AGENT = """
import json, sys, urllib.request
open("asked", "a").write("x")
body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
request = urllib.request.Request(
    "http://api.openai.com/v1/chat/completions", json.dumps(body).encode(),
    {"content-type": "application/json", "authorization": "Bearer none"},
)
print(urllib.request.urlopen(request, timeout=100).read()[:20])
"""
CONFIG = """
version: "2.0"
agent: {type: command, command: [%s, agent.py, "{prompt}"], timeout: 90000}
proxy: {mock: true}
golden_prompts: ["hi"]
contract:
  name: x
  invariants: [{type: completes, severity: critical}]
  chaos_matrix: [%s{name: stuck, faults: [{hang: {}}]}]
advanced: {seed: 42, concurrency: 1}
"""


def interrupted(folder: Path, calm: str, moment: Callable[[Path], bool]) -> subprocess.CompletedProcess[str]:
    """The run, which got SIGINT at that moment."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "faultwire.yaml").write_text(CONFIG % (sys.executable, calm))
    env = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWIRE_")}
    command = [str(FAULTWIRE), "contract", "run"]
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 90
    while not moment(folder):
        assert time.monotonic() < until
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=90)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def started(folder: Path) -> bool:
    """Has the run its folder? Its engine has not started yet."""
    return any(folder.glob(".faultwire/runs/*/run.json"))


def second_waits(folder: Path) -> bool:
    """Has the second invocation asked, and does it wait for its answer?"""
    file = folder / "asked"
    if not file.exists() or file.stat().st_size < 2:
        return False
    shown = subprocess.run(
        [str(FAULTWIRE), "tape", "show", str(next(folder.glob(".faultwire/runs/*/run.tape")))],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    return "open" in shown.stdout


def test_a_fault_of_an_invocation_that_was_not_finished_is_not_called_unfired(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "{name: calm}, ", second_waits)
    assert done.returncode == 130, done.stderr
    assert "not fired in what was finished: no invocation of this scenario was finished" in done.stdout
    assert "never fired" not in done.stdout
    assert "before there was anything to report" not in done.stderr


def test_an_end_before_there_is_a_report_is_said(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "{name: calm}, ", started)
    assert done.returncode == 130, done.stderr
    assert "interrupted before there was anything to report" in done.stderr
    assert done.stdout == ""
