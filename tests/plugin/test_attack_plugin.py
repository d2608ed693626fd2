"""Attacks of somebody else's package change what the model reads, and their canaries are followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
def site(tmp_path: Path, installed) -> Path:
    return installed("attack_pack", tmp_path / "site")


def test_the_model_reads_what_the_package_planted(site, python):
    done = python(site, "-c", USE)
    assert done.returncode == 0, done.stderr
    (texts, ledger), (later, returned) = json.loads(done.stdout)
    assert texts == ["Well asked! what is it?", None, "a lamp (xyzzy-7)"]
    assert ["flattery", "fired"] in ledger
    assert ["whisper", "fired"] in ledger
    assert later[:3] == texts, "the story never changes"
    assert ["whisper", "returned"] in returned, "its canary came back"


def test_they_are_listed_and_documented(site, python):
    listed = python(site, "-m", "faultwire", "faults", "list", "--format", "json")
    assert listed.returncode == 0, listed.stderr
    sites = {fault["name"]: fault["site"] for fault in json.loads(listed.stdout)}
    assert (sites["flattery"], sites["whisper"]) == ("request", "result")
    shown = python(site, "-m", "faultwire", "faults", "show", "whisper")
    assert shown.returncode == 0, shown.stderr
    assert "the word" in shown.stdout


def test_a_profile_needs_the_package(tmp_path, python):
    (tmp_path / "p.yaml").write_text(PROFILE)
    done = python(tmp_path, "-m", "faultwire", "profiles", "validate", "./p.yaml")
    assert done.returncode == 2
    assert "p.yaml:3:5: profile.unknown_fault: found fault `flattery`, expected a known one" in done.stderr
