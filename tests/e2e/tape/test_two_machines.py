"""The same seed makes the same faults on two machines: a project's redaction key, which differs on each,
changes what stands on their tapes, and nothing else, however many secrets requests and answers hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.events import FaultFired
from faultwire.tape.read.reader import TapeReader

SECRET = "sk-proj-Zq3vT8mKx1Rw5Yb7Nc2Hd9Lf4Pj6Gs0Aa8Ee"
TURNS = 12
SCRIPT = f"""
turns:
  - reply: {{text: "your key is {SECRET}, keep it well and tell nobody of it"}}
"""
SLOW = """
name: drill
description: Delays of random length, at random.
faults:
  - latency: {distribution: uniform, ms: 3, jitter_ms: 2}
    trigger: {probability: 0.5}
"""
BREAKING = """\
  - truncate_response: {max_tokens: 3}
    trigger: {probability: 0.3}
  - garbage: {}
    trigger: {probability: 0.3}
"""

AGENT = """
import json, sys, urllib.request

secret, turns = sys.argv[1], int(sys.argv[2])
said = []
for turn in range(turns):
    # What was answered is said again, as agents do; the key of turn 0 stays in the history.
    said.append({"role": "user", "content": f"turn {turn}, my key is {secret}"})
    body = json.dumps({"model": "gpt-4o-mini", "messages": said, "metadata": {"password": secret[8:]}})
    headers = {"content-type": "application/json", "authorization": f"Bearer {secret}"}
    request = urllib.request.Request("https://api.openai.com/v1/chat/completions", body.encode(), headers)
    with urllib.request.urlopen(request) as answer:
        said.append(json.load(answer)["choices"][0]["message"])
    if turn % 3 == 2:
        del said[2:]
"""


class Machine:
    """A folder of its own, with keys of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "agent.py").write_text(AGENT)
        (folder / "script.yaml").write_text(SCRIPT)
        (folder / "slow.yaml").write_text(SLOW)
        (folder / "drill.yaml").write_text(SLOW + BREAKING)

    def play(self, tape: str, *options: str) -> Path:
        """A run with these options; its tape."""
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        done = subprocess.run(
            [
                *(sys.executable, "-m", "faultwire", "exec", "--seed", "11", *options, "--record", tape),
                *("--", sys.executable, "agent.py", SECRET, str(TURNS)),
            ],
            cwd=self.folder,
            env=kept,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return self.folder / tape

    @property
    def key(self) -> bytes:
        return (self.folder / ".faultwire" / "keys" / "redaction.key").read_bytes()


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    return Machine(tmp_path / "one"), Machine(tmp_path / "two")


def ledger(tape: Path) -> tuple[str, list[FaultFired]]:
    """The ledger's hash, and its lines without the keys, which are made with the project's own."""
    with TapeReader.open(tape) as reader:
        return reader.ledger_hash(), [replace(line, key="") for _, line in reader.ledger()]


def answers(tape: Path) -> list[bytes]:
    with TapeReader.open(tape) as reader:
        return [one.delivered.body for one in reader.exchanges() if one.delivered is not None]


def agree(one: Path, two: Path) -> None:
    (hash_one, lines_one), (hash_two, lines_two) = ledger(one), ledger(two)
    assert {line.outcome for line in lines_one} >= {"fired", "skipped"}
    assert len({line.effect for line in lines_one}) > 3  # delays of several lengths
    assert lines_one == lines_two
    assert hash_one == hash_two


@pytest.mark.nightly
def test_live_traffic_with_secrets_gets_the_same_faults(machines: tuple[Machine, Machine]) -> None:
    tapes = [one.play("t.tape", "--script", "script.yaml", "--profile", "drill.yaml") for one in machines]
    assert machines[0].key != machines[1].key
    assert answers(tapes[0]) != answers(tapes[1])  # placeholders differ
    agree(*tapes)


@pytest.mark.nightly
def test_a_tape_that_is_replayed_elsewhere_gets_the_same_faults(machines: tuple[Machine, Machine]) -> None:
    """The other machine has the tape, and another key than its recorder."""
    one, two = machines
    calm = one.play("calm.tape", "--script", "script.yaml")
    shutil.copy(calm, two.folder / "calm.tape")
    assert SECRET.encode() not in b"".join(answers(calm))
    options = ("--replay", "calm.tape", "--unverified", "--profile", "slow.yaml")
    agree(one.play("t.tape", *options), two.play("t.tape", *options))


@pytest.mark.nightly
def test_two_recordings_of_the_same_traffic_get_the_same_faults(machines: tuple[Machine, Machine]) -> None:
    """Each machine replays its own: the agent says back what was recorded, placeholders and all."""
    for one in machines:
        one.play("calm.tape", "--script", "script.yaml")
    options = ("--replay", "calm.tape", "--profile", "slow.yaml")
    agree(*(one.play("t.tape", *options) for one in machines))


@pytest.mark.nightly
def test_another_seed_makes_other_faults(machines: tuple[Machine, Machine]) -> None:
    """The control."""
    one, two = machines
    options = ("--script", "script.yaml", "--profile", "drill.yaml")
    first, second = one.play("t.tape", *options), two.play("t.tape", *options, "--seed", "12")
    assert ledger(first)[0] != ledger(second)[0]
