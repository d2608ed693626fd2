"""Replays of tapes from which values were kept off: by the rules of the recording, and as secrets."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

from faultwire.tape.format.blobs import unpack

AGENTS = Path(__file__).parents[1] / "agents"
ADDRESS, OTHER = "jane.doe@lavenderfields.org", "kate.miller@acme-works.com"
MARKER = "harmless-marker-Tb6Xw1"
"""No rule names it: that it is found shows that the search works."""
ASKS = """
import sys
from openai import OpenAI
client = OpenAI()
for text in sys.argv[1:]:
    message = {"role": "user", "content": text}
    client.chat.completions.create(model="gpt-4o-mini", messages=[message])
    for event in client.chat.completions.create(model="gpt-4o-mini", messages=[message], stream=True):
        pass
"""

Run = Callable[..., Any]


def environments() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent_environments", AGENTS / "environments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(folder: Path) -> list[tuple[Path, bytes]]:
    """Every file, and every body of every tape."""
    found = [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    for path in folder.rglob("*.tape"):
        with closing(sqlite3.connect(path)) as rows:
            found += [(path, unpack(*row)) for row in rows.execute("SELECT size, packed, data FROM blobs")]
    return found


def test_a_tape_with_redacted_addresses_replays_and_writes_none(faultwire: Run, here: Path) -> None:
    agent = here / "agent.py"
    agent.write_text(ASKS)
    program = ("--", str(environments().python("openai-3")), str(agent))
    asks = (f"{MARKER}: write to {ADDRESS}, please", "call +49 30 90182033", "and say bye")
    env = {"OPENAI_API_KEY": "sk-test-000"}
    first = faultwire("exec", "--mock", "--redact", "pii", "--record", "t", *program, *asks, env=env)
    assert first.returncode == 0, first.stderr.decode()
    again = faultwire("exec", "--replay", "t", *program, *asks, env=env, offline=True)
    assert again.returncode == 0, again.stderr.decode()
    assert b"replayed   6 of 6 recorded exchanges" in again.stderr
    other = faultwire("exec", "--replay", "t", *program, asks[0], f"ask {OTHER}", env=env, offline=True)
    assert other.returncode == 1
    assert b"changed prompt" in other.stderr
    ours = other.stderr.partition(b"\nexchanges ")[2]  # what comes before it is the agent's own
    outputs = [first.stderr, again.stdout, again.stderr, ours]
    files = texts(here / ".faultwire")
    assert len([path for path, text in files if MARKER.encode() in text]) > 3
    for value in (ADDRESS, OTHER, "90182033"):
        assert [path for path, text in files if value.encode() in text] == []
        assert not any(value.encode() in text for text in outputs)


DEPLOYS = """
import json
from openai import OpenAI
tool = {"type": "function", "function": {"name": "deploy", "parameters": {"type": "object"}}}
asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "deploy"}], "tools": [tool]}
answer = OpenAI().chat.completions.create(**asked).choices[0].message
key = json.loads(answer.tool_calls[0].function.arguments)["api_key"]
print("deployed" if key.startswith("sk-proj-") else "denied")
"""
TALK = """
turns:
  - match: {last_user: deploy}
    reply:
      tool_calls:
        - {name: deploy, arguments: {api_key: sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90}}
"""


def test_a_replay_whose_answers_were_redacted_is_not_called_exact(
    faultwire: Run, here: Path, about: Run
) -> None:
    agent = here / "agent.py"
    agent.write_text(DEPLOYS)
    (here / "talk.yaml").write_text(TALK)
    program = ("--", str(environments().python("openai-3")), str(agent))
    env = {"OPENAI_API_KEY": "sk-test-000"}
    first = faultwire("exec", "--script", "talk.yaml", "--record", "t", *program, env=env)
    assert first.stdout == b"deployed\n", first.stderr.decode()
    again = faultwire("exec", "--replay", "t", *program, env=env, offline=True)
    assert again.stdout == b"denied\n", again.stderr.decode()
    assert b"replayed   1 of 1 recorded exchange" in again.stderr
    assert b"not exact: 1 answer differs from what was delivered live" in again.stderr
    place = b"exec#1 POST https://api.openai.com/v1/chat/completions: $.choices[0].message.tool_calls[0]"
    assert place + b".function.arguments" in again.stderr
    assert about()["replay"]["exact"] is False
