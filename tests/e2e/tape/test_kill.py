"""kill -9 loses no acknowledged exchange, and what is left verifies."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import faultwire
from faultwire.tape.evidence.verify import VerifyReport, verify
from faultwire.tape.read.reader import TapeReader

KILLS = 40
REOPEN_S = 1.0
SOURCE = Path(faultwire.__file__).parents[1]
LOAD = Path(__file__).with_name("load.py")


def kill_after(folder: Path, lines: int, extra_s: float, *flags: str) -> None:
    """Record in a process of its own; kill it once it has acknowledged `lines`, and a moment later."""
    folder.mkdir()
    journal = folder / "events.jsonl"
    child = subprocess.Popen(
        [sys.executable, str(LOAD), str(folder), *flags], env={**os.environ, "PYTHONPATH": str(SOURCE)}
    )
    try:
        deadline = time.monotonic() + 30
        while not (folder / "t.tape").exists() or journal.read_bytes().count(b"\n") < lines:
            assert child.poll() is None, "the writer ended by itself"
            assert time.monotonic() < deadline, "the writer acknowledges nothing"
            time.sleep(0.002)
        time.sleep(extra_s)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()


def acknowledged(folder: Path) -> set[tuple[str, int]]:
    """What was promised; a line cut short by the kill promises nothing."""
    lines = (folder / "events.jsonl").read_bytes().split(b"\n")[:-1]
    return {(line["session"], line["exchange"]) for line in map(json.loads, lines)}


def stored(folder: Path) -> tuple[set[tuple[str, int]], set[str]]:
    """What is on the tape and has ended, and every ending."""
    with TapeReader.open(folder / "t.tape") as reader:
        found = list(reader.exchanges())
    endings = {recorded.ending for recorded in found}
    return {(r.session, r.number) for r in found if r.ending != "open"}, endings


def checked(folder: Path) -> VerifyReport:
    began = time.monotonic()
    with TapeReader.open(folder / "t.tape") as reader:
        reader.info()
    assert time.monotonic() - began < REOPEN_S
    return verify(folder / "t.tape")


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 2, 3))])
def test_no_acknowledged_exchange_is_lost(tmp_path: Path, part: int) -> None:
    chance = random.Random(part)
    endings: set[str] = set()
    for kill in range(KILLS // 4):
        folder = tmp_path / str(kill)
        kill_after(folder, chance.choice((0, 1, 20, 200)), chance.uniform(0, 0.15))
        report = checked(folder)
        assert report.ok, report.findings
        kept, found = stored(folder)
        endings |= found
        assert acknowledged(folder) <= kept
    assert "open" in endings  # streams were cut in the middle, and are kept as far as they came
    assert "complete" in endings


def test_the_count_would_notice_an_early_promise(tmp_path: Path) -> None:
    for kill in range(20):
        folder = tmp_path / str(kill)
        kill_after(folder, 1, 0.02, "--early")
        if acknowledged(folder) - stored(folder)[0]:
            return
    pytest.fail("a writer that promises before it commits was never caught")
