"""Agents whose clock stands still: the same dates in every prompt, and TLS that holds all the same."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faultwire.tape.read.reader import TapeReader

pytestmark = pytest.mark.nightly

AGENTS = Path(__file__).parents[1] / "agents"
THEN = "2024-03-01T10:00:00Z"
PYTHON = """
import datetime, json, os, threading, time, urllib.request
began = time.monotonic()
time.sleep(0.05); threading.Event().wait(0.05)
words = f"It is {datetime.datetime.now(datetime.timezone.utc).isoformat()}: {set('abcdefgh')}"
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": words}]}).encode()
head = {"authorization": "Bearer sk-test-0123456789abcdef0123456789", "content-type": "application/json"}
asked = urllib.request.Request("https://api.openai.com/v1/chat/completions", body, head)
print(json.dumps({"words": words, "status": urllib.request.urlopen(asked).status,
                  "slept": time.monotonic() - began > 0.09}))
"""
NODE = """
const began = performance.now();
const content = `It is ${new Date().toISOString()}`;
const body = JSON.stringify({model: 'm', messages: [{role: 'user', content}]});
const authorization = 'Bearer sk-test-0123456789abcdef0123456789';
const headers = {authorization, 'content-type': 'application/json'};
setTimeout(async () => {
  const answer = await fetch('https://api.openai.com/v1/chat/completions', {method: 'POST', body, headers});
  console.log(JSON.stringify({words: body, status: answer.status, slept: performance.now() - began > 40}));
}, 50);
"""
Run = Callable[..., Any]


def newer() -> str:
    """libfaketime as its Python package builds it; Debian's is too old for `time.sleep` of Python 3.11."""
    spec = importlib.util.spec_from_file_location("agent_environments", AGENTS / "environments.py")
    assert spec is not None
    assert spec.loader is not None
    environments = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(environments)
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("building libfaketime needs a C compiler and make")
    return str(next(environments.python("libfaketime-3").parent.rglob("libfaketime.so.1")))


def commands() -> dict[str, tuple[str, ...]]:
    node = shutil.which("node")
    assert node is not None
    return {"python": (sys.executable, "-c", PYTHON), "node": (node, "-e", NODE)}


@pytest.mark.parametrize("agent", ["python", "node"])
def test_a_frozen_run_replays_with_its_own_instant(agent: str, faultwire: Run, here: Path) -> None:
    command, env = commands()[agent], {"FAULTWIRE_LIBFAKETIME": newer()}
    first = faultwire("exec", "--mock", "--record", "t", f"--freeze-time={THEN}", "--", *command, env=env)
    assert first.returncode == 0, first.stderr.decode()
    met = json.loads(first.stdout)
    assert "2024-03-01T10:00:00" in met["words"]
    assert (met["status"], met["slept"]) == (200, True)
    again = faultwire("exec", "--replay", "t", "--freeze-time", "--", *command, env=env, offline=True)
    assert again.returncode == 0, again.stderr.decode()
    assert again.stdout == first.stdout
    with TapeReader.open(here / ".faultwire" / "tapes" / "t.tape") as tape:
        said = tape.info().settings["frozen"]
    assert said == {"instant": "2024-03-01T10:00:00+00:00", "hash_seed": "0", "library": "libfaketime.so.1"}
    # The control: without it the date drifts, and is reported as what it is.
    drifted = faultwire("exec", "--replay", "t", "--", *command, env=env, offline=True)
    assert drifted.returncode == 1
    assert b"volatile value" in drifted.stderr or b"changed prompt" in drifted.stderr


def test_a_tape_that_was_not_frozen_gives_the_instant_at_which_it_began(faultwire: Run) -> None:
    command, env = commands()["node"], {"FAULTWIRE_LIBFAKETIME": newer()}
    assert faultwire("exec", "--mock", "--record", "t", "--", *command).returncode == 0
    done = faultwire(
        "exec", "--replay", "t", "--freeze-time", "--on-miss", "live", "--mock", "--", *command, env=env
    )
    with TapeReader.open(Path(".faultwire/tapes/t.tape")) as tape:
        began_s = tape.info().created_ms // 1000
    from datetime import UTC, datetime

    assert datetime.fromtimestamp(began_s, UTC).strftime("%Y-%m-%dT%H:%M:%S") in done.stdout.decode()


def test_forks_freeze_as_well(faultwire: Run) -> None:
    command, env = commands()["node"], {"FAULTWIRE_LIBFAKETIME": newer()}
    faultwire("exec", "--mock", "--record", "t", f"--freeze-time={THEN}", "--", *command, env=env)
    change = ("--at", "1", "--set", "status=201", "--tail", "tape", "--freeze-time")
    done = faultwire("fork", "t", *change, "--", *command, env=env, offline=True)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["status"] == 201


@pytest.mark.parametrize(
    ("arguments", "env", "code", "word"),
    [
        (("--freeze-time=someday",), {}, 2, b"freeze.instant"),
        (("--freeze-time",), {"FAULTWIRE_LIBFAKETIME": "/nowhere.so"}, 3, b"freeze.library"),
    ],
)
def test_what_cannot_be_frozen_is_refused(
    arguments: tuple[str, ...], env: dict[str, str], code: int, word: bytes, faultwire: Run
) -> None:
    done = faultwire("exec", "--mock", *arguments, "--", "true", env=env)
    assert done.returncode == code
    assert word in done.stderr
