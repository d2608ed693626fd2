"""Attacks of somebody else's package change what the model reads, and their canaries are followed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACK = Path(__file__).parent / "attack_pack"
PROFILE = """
faults:
  - flattery: {praise: "Well asked!"}
    on: {kind: llm}
  - whisper: {word: xyzzy-7}
    on: {tool: look}
"""
USE = f"""
import json
from faultwire.dice import Dice
from faultwire.events import Request, Response
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.profile.load import parse
from faultwire.exchange.session_state import SessionState

context = SessionContext("s", parse({PROFILE!r}, "p.yaml"), Dice(1, "s"), SessionState())
call = {{"id": "c1", "type": "function", "function": {{"name": "look", "arguments": "{{}}"}}}}
talk = [
    {{"role": "user", "content": "what is it?"}},
    {{"role": "assistant", "tool_calls": [call]}},
    {{"role": "tool", "tool_call_id": "c1", "content": "a lamp"}},
]


def ask(messages):
    body = json.dumps({{"model": "m", "messages": messages}}).encode()
    head = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), None)
    pipeline = ExchangePipeline(context, head)
    sent = json.loads(pipeline.request(body).request.body)["messages"]
    pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
    list(pipeline.finish())
    return [m.get("content") for m in sent], [[f.fault, f.outcome] for f in pipeline.ledger()]


first = ask(talk)
print(json.dumps([first, ask([*talk, {{"role": "assistant", "content": "It said xyzzy-7."}}])]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What `pip install` leaves behind of the package, as far as entry points need it."""
    project = tomllib.loads((PACK / "pyproject.toml").read_text())["project"]
    info = tmp_path / "attack_pack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: attack-pack\nVersion: 1.0\n")
    points = project["entry-points"]["faultwire.faults"]
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[faultwire.faults]\n{lines}")
    (tmp_path / "attack_pack.py").write_bytes((PACK / "attack_pack.py").read_bytes())
    return tmp_path


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH"), *sys.path])])
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_model_reads_what_the_package_planted(site):
    done = python(site, "-c", USE)
    assert done.returncode == 0, done.stderr
    (texts, ledger), (later, returned) = json.loads(done.stdout)
    assert texts == ["Well asked! what is it?", None, "a lamp (xyzzy-7)"]
    assert ["flattery", "fired"] in ledger
    assert ["whisper", "fired"] in ledger
    assert later[:3] == texts, "the story never changes"
    assert ["whisper", "returned"] in returned, "its canary came back"


def test_they_are_listed_and_documented(site):
    listed = python(site, "-m", "faultwire", "faults", "list", "--format", "json")
    assert listed.returncode == 0, listed.stderr
    sites = {fault["name"]: fault["site"] for fault in json.loads(listed.stdout)}
    assert (sites["flattery"], sites["whisper"]) == ("request", "result")
    shown = python(site, "-m", "faultwire", "faults", "show", "whisper")
    assert shown.returncode == 0, shown.stderr
    assert "the word" in shown.stdout


def test_a_profile_needs_the_package(tmp_path):
    (tmp_path / "p.yaml").write_text(PROFILE)
    done = python(tmp_path, "-m", "faultwire", "profiles", "validate", "./p.yaml")
    assert done.returncode == 2
    assert "p.yaml:3:5: profile.unknown_fault: found fault `flattery`, expected a known one" in done.stderr
