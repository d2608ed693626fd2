"""Bodies under keys that are on no tape: all verifiers agree without them; what is shredded stays gone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAULTWIRE = str(Path(sys.executable).parent / "faultwire")
VERIFIER = Path(__file__).parents[3] / "docs" / "verify_tape.py"
SECRET = "Lena Okafor asked for a refund"
SENDER = f"""
import json, os, urllib.request
for number in range(3):
    data = json.dumps({{"model": "m", "messages": [{{"role": "user", "content": "{SECRET}"}}]}}).encode()
    ask = urllib.request.Request("http://api.openai.com/v1/chat/completions", data,
        {{"content-type": "application/json", "authorization": "Bearer x"}})
    assert urllib.request.urlopen(ask).read()
"""


def faultwire(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run([FAULTWIRE, *words], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sender.py").write_text(SENDER)
    return tmp_path


def record(folder: Path, *options: str, name: str = "a") -> Path:
    words = ("--mock", "--record", name, *options, "--", sys.executable, "sender.py")
    faultwire(folder, "exec", *words)
    return folder / ".faultwire" / "tapes" / f"{name}.tape"


def verified(folder: Path, tape: Path) -> list[str]:
    """What the verifier of the tape, of its export, and the script say, without a key of bodies."""
    faultwire(folder, "tape", "export", str(tape), "-o", "e.jsonl")
    key = (folder / ".faultwire" / "keys" / "seal.pub").read_text().strip()
    alone = folder / "alone"
    shutil.rmtree(alone, ignore_errors=True)
    alone.mkdir()
    for one in (tape, tape.with_name(f"{tape.name}.seal"), folder / "e.jsonl"):
        shutil.copy(one, alone)
    first = faultwire(alone, "tape", "verify", tape.name, "--key", key)
    second = faultwire(alone, "tape", "verify", "e.jsonl", "--key", key)
    words = [sys.executable, str(VERIFIER), "e.jsonl", "--key", key]
    third = subprocess.run(words, cwd=alone, capture_output=True, text=True, timeout=60)
    assert third.returncode == 0, third.stdout
    (folder / "e.jsonl").unlink()
    return [first, second, third.stdout]


def test_all_verifiers_agree_before_and_after_and_the_bodies_are_gone(folder: Path) -> None:
    plain, tape = record(folder, name="p"), record(folder, "--encrypt-bodies")
    assert SECRET.encode() in plain.read_bytes(), "the control"
    assert SECRET.encode() not in tape.read_bytes()
    before = tape.read_bytes(), verified(folder, tape)
    assert "evidence AUTHORITATIVE" in before[1][0]
    assert SECRET in faultwire(folder, "tape", "show", str(tape), "--exchange", "1")
    words = ("tape", "shred", str(tape), "--reason", "request 17", "--by", "ann")
    assert "would shred 1 key" in faultwire(folder, *words)
    assert SECRET in faultwire(folder, "tape", "show", str(tape), "--exchange", "1")
    assert "shredded 1 key" in faultwire(folder, *words, "--yes")
    assert (tape.read_bytes(), verified(folder, tape)) == before
    shown = faultwire(folder, "tape", "show", str(tape), "--exchange", "1", code=3)
    assert "shredded with the key of session `exec`" in " ".join(shown.split())
    assert SECRET not in shown
    again = faultwire(folder, *words, "--yes")
    assert "1 key was shredded before" in again
    refused = faultwire(folder, "tape", "shred", str(plain), "--reason", "r", "--by", "ann", code=3)
    assert "has no encrypted body" in " ".join(refused.split())


@pytest.mark.nightly
def test_a_replay_answers_with_the_keys_and_fails_without(folder: Path) -> None:
    tape = record(folder, "--encrypt-bodies")
    words = ("exec", "--replay", str(tape), "--record", "r", "--", sys.executable, "sender.py")
    faultwire(folder, *words)
    again = folder / ".faultwire" / "tapes" / "r.tape"
    assert SECRET.encode() not in again.read_bytes(), "a replay does not record in the clear"
    assert SECRET in faultwire(folder, "tape", "show", str(again), "--exchange", "1")
    assert SECRET in faultwire(folder, "tape", "export", str(tape), "--to", "har", "-o", "e.har") + (
        (folder / "e.har").read_text()
    )
    (folder / ".faultwire" / "keys" / "bodies").rename(folder / "elsewhere")
    lacking = faultwire(folder, "tape", "show", str(tape), "--exchange", "1", code=3)
    assert "the body is encrypted, and its key" in " ".join(lacking.split())
    for command in (
        ("exec", "--replay", str(tape), "--", sys.executable, "sender.py"),
        ("tape", "export", str(tape), "--to", "har", "-o", "f.har"),
        ("scan", "--leaks", str(tape)),
    ):
        faultwire(folder, *command, code=3)
    assert not (folder / "f.har").exists()
