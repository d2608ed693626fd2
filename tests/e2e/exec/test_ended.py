"""What `exec` says of a command that a signal ended, and of one that took half an answer for a whole one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "faultwire"]

ASK = 'curl -sS -d \'{"model":"gpt-4o","messages":[]}\' -o out.txt https://api.openai.com/v1/chat/completions'
PIPELINE = r"""
import json, sys, urllib.request

def ask(text):
    body = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(
        "https://api.openai.com/v1/chat/completions", json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer none"},
    )
    said = ""
    with urllib.request.urlopen(request) as stream:
        for line in stream:
            data = line.removeprefix(b"data: ").strip()
            if data.startswith(b"{"):
                choices = json.loads(data)["choices"]
                said += choices[0]["delta"].get("content") or "" if choices else ""
    return said

first = ask("Name the longest rivers of Europe.")
if sys.argv[1] == "again":
    first = ask("Name the longest rivers of Europe.")
ask("Translate to German: " + (first if sys.argv[1] != "opening" else first[:24] + " and so on"))
"""


def status(here: Path) -> str:
    (run,) = (here / ".faultwire" / "runs").glob("*/run.json")
    return str(json.loads(run.read_text())["status"])


@pytest.mark.cold
def test_a_run_that_ctrl_c_ended_is_interrupted_in_its_record_and_its_summary(here: Path) -> None:
    script = f"{ASK}; echo ready; exec sleep 60"
    command = [*COMMAND, "exec", "--mock", "--", "sh", "-c", script]
    with subprocess.Popen(
        command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"  interrupted by SIGINT after #1 had begun; the command exited with 130\n" in errors
    assert status(here) == "interrupted"
    listed = subprocess.run([*COMMAND, "runs"], cwd=here, capture_output=True, check=True)
    assert b"interrupted" in listed.stdout


@pytest.mark.cold
def test_ctrl_c_before_the_first_call_is_stated(here: Path) -> None:
    command = [*COMMAND, "exec", "--mock", "--", "sh", "-c", "echo ready; exec sleep 60"]
    with subprocess.Popen(
        command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    words = (
        b"  interrupted by SIGINT before anything was sent through the proxy; the command exited with 130\n"
    )
    assert words in errors
    assert status(here) == "interrupted"


def test_a_run_that_ended_by_itself_is_finished(faultwire: Callable, here: Path) -> None:
    done = faultwire("exec", "--mock", "--", "sh", "-c", ASK)
    assert done.returncode == 0
    assert status(here) == "finished"
    assert b"interrupted" not in done.stderr
    assert b"signal" not in done.stderr


def test_the_signal_that_killed_a_command_is_named(faultwire: Callable, here: Path) -> None:
    done = faultwire("exec", "--mock", "--", "sh", "-c", f"{ASK}; kill -9 $$")
    assert done.returncode == 137
    assert b"  signal 9 (SIGKILL) ended the command after #1 had begun: exit code 137\n" in done.stderr
    assert status(here) == "finished"
    by_itself = faultwire("exec", "--mock", "--", "sh", "-c", f"{ASK}; exit 137")
    assert by_itself.returncode == 137
    assert b"signal 9" not in by_itself.stderr


@pytest.mark.parametrize(("manner", "noticed"), [("once", True), ("again", False), ("opening", False)])
def test_half_an_answer_in_the_next_step_of_a_pipeline_is_noticed(
    manner: str, noticed: bool, faultwire: Callable, here: Path
) -> None:
    (here / "pipeline.py").write_text(PIPELINE)
    cut = "{early_end: {after_events: 9}, trigger: {first: 1, attempts: first}}"
    done = faultwire("exec", "--mock", "--fault", cut, "--", sys.executable, "pipeline.py", manner)
    assert done.returncode == 0, done.stderr
    assert b"faults     1 fired" in done.stderr
    assert (b"#1, #2  an incomplete answer: it ended after `" in done.stderr) == noticed, done.stderr
    assert (b"a message of #2 has all of that text" in done.stderr) == noticed
    whole = faultwire("exec", "--mock", "--", sys.executable, "pipeline.py", manner)
    assert b"noticed" not in whole.stderr, "the control: nothing was cut"
