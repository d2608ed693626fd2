"""Rounds of kills find what they look for: processes that stay, that end late, and what is lost."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.attacks import kill_rounds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it asks Linux for processes")
SHORT_S = 0.2


@pytest.fixture
def sleeper(request: pytest.FixtureRequest) -> Iterator[int]:
    process = subprocess.Popen(["sleep", str(request.param)])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_rounds, "ORPHANED_S", SHORT_S)
    monkeypatch.setattr(kill_rounds, "ENDED_S", 4 * SHORT_S)


@pytest.mark.parametrize("sleeper", [60], indirect=True)
def test_a_process_that_stays_is_found(sleeper: int) -> None:
    assert kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper}) == {sleeper: "did not end"}


@pytest.mark.parametrize("sleeper", [0.5], indirect=True)
def test_one_that_ends_late_is_found(sleeper: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60)
    found = kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper})
    assert found[sleeper].startswith("ended after 0.") or found[sleeper].startswith("ended after 1.")


@pytest.mark.parametrize("sleeper", [0.5], indirect=True)
def test_one_that_was_ready_to_run_all_the_time_is_not_late(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60)
    waits = itertools.count()
    monkeypatch.setattr(kill_rounds, "starved", lambda pid: 60.0 * next(waits))
    assert kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper}) == {}


def test_a_process_that_sleeps_does_not_wait_for_a_processor() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        before = kill_rounds.starved(process.pid)
        threading.Event().wait(2 * SHORT_S)  # what is judged is a time in which nothing happens
        after = kill_rounds.starved(process.pid)
        process.kill()
    assert before is not None
    assert after is not None
    assert 0 <= after - before < SHORT_S
    assert kill_rounds.starved(process.pid) is None, "nobody says of one that is gone"


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(3), ids=kill_rounds.VICTIMS)
def test_a_round_finds_nothing(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_rounds, "ORPHANED_S", 2.0)
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60.0)
    assert kill_rounds.run(tmp_path, number) == []
