"""Rounds of kills find what they look for: processes that stay, that end late, and what is lost."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.attacks import kill_rounds

from faultwire.events import Exchange, Request
from faultwire.tape.record.writer import TapeWriter

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
    found = kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper})
    assert (found.left, found.late) == ([sleeper], {})


@pytest.mark.parametrize("sleeper", [0.5], indirect=True)
def test_one_that_ends_late_is_found(sleeper: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60)
    found = kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper})
    assert found.late[sleeper].startswith(("ended after 0.", "ended after 1."))
    assert found.left == []


@pytest.mark.parametrize("sleeper", [0.5], indirect=True)
def test_one_that_was_ready_to_run_all_the_time_is_late_all_the_same(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60)
    waits = itertools.count()
    monkeypatch.setattr(kill_rounds, "starved", lambda pid: 60.0 * next(waits))
    assert sleeper in kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper}).late


@pytest.mark.parametrize("sleeper", [0.05], indirect=True)
def test_one_that_ends_in_time_is_not(sleeper: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_rounds, "ORPHANED_S", 30.0)
    monkeypatch.setattr(kill_rounds, "ENDED_S", 60.0)
    assert kill_rounds.late_ends({os.pidfd_open(sleeper): sleeper}) == kill_rounds.Ends()


def test_the_control_has_its_cpu_when_it_was_asked_for_it_and_not_before() -> None:
    process = kill_rounds.control()
    threading.Event().wait(SHORT_S)  # nothing is used up meanwhile
    began = kill_rounds.ask(process)
    assert kill_rounds.answer(process) - began >= kill_rounds.CONTROL_S


def test_a_control_that_gets_no_processor_is_late() -> None:
    process = kill_rounds.control()
    process.send_signal(signal.SIGSTOP)
    began = kill_rounds.ask(process)
    threading.Event().wait(1.0)  # as long as the machine gives it nothing
    process.send_signal(signal.SIGCONT)
    assert kill_rounds.answer(process) - began >= 1.0


@pytest.mark.parametrize(
    ("took", "lost", "expected"),
    [
        (0.1, [], ["the process `mock` late"]),
        (5.0, [], None),
        (5.0, ["exchange 1 of `a` is lost"], ["the process `mock` late", "exchange 1 of `a` is lost"]),
    ],
    ids=["the machine was fine", "the machine stood still", "what is lost is found in any case"],
)
def test_only_what_is_late_can_be_the_machine_s(
    took: float, lost: list[str], expected: list[str] | None
) -> None:
    ends = kill_rounds.Ends({7: "late"})
    if expected is None:
        with pytest.raises(kill_rounds.StarvedError, match=r"the control after 5\.0 s"):
            kill_rounds.judged(ends, {}, lost, took)
    else:
        assert kill_rounds.judged(ends, {}, lost, took) == expected


def test_one_that_never_ends_is_not_the_machine_s() -> None:
    ends = kill_rounds.Ends({7: "late"}, [8])
    found = kill_rounds.judged(ends, {8: "agent"}, [], 5.0)
    assert found == ["the process `mock` late", "the process `agent` did not end"]


def answers(journal: Path, *, acknowledged_at: int) -> Iterator[str]:
    """Lines of an agent without end; the journal names its first exchange with one of them."""
    for number in itertools.count(1):
        if number == acknowledged_at:
            journal.write_bytes(b'{"type": "acknowledged", "session": "s", "exchange": 1}\n')
        yield "called\n"


@pytest.mark.parametrize(("acknowledged_at", "left"), [(1, 4), (3, 4), (7, 8)])
def test_nothing_is_killed_before_an_exchange_was_acknowledged(
    acknowledged_at: int, left: int, tmp_path: Path
) -> None:
    (journal := tmp_path / kill_rounds.JOURNAL).touch()
    lines = enumerate(answers(journal, acknowledged_at=acknowledged_at), 1)
    assert kill_rounds.unready((line for _, line in lines), journal) is None
    assert next(lines)[0] == left, "not one more answer was waited for than is needed"


def test_an_agent_whose_answers_are_never_acknowledged_is_a_finding(tmp_path: Path) -> None:
    (journal := tmp_path / kill_rounds.JOURNAL).write_bytes(b'{"type": "ackn')
    found = kill_rounds.unready(answers(journal, acknowledged_at=0), journal)
    assert found == "nothing was acknowledged in 1000 answers"
    assert kill_rounds.unready(["called\n"] * 2, journal) == "the agent made no calls"


def test_an_acknowledged_exchange_that_is_not_on_the_tape_is_found(tmp_path: Path) -> None:
    journal = tmp_path / kill_rounds.JOURNAL
    writer = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={}, journal=journal)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    request = Request("POST", "https", "a.test", 443, "/v1", (), b"{}")
    recording = writer.record(Exchange("s", 1, request))
    recording.request(request)
    recording.end("refused")
    writer.flush()
    assert kill_rounds.lost(tmp_path) == []

    with journal.open("ab") as file:
        file.write(b'{"type": "acknowledged", "session": "s", "exchange": 2}\n')
    assert kill_rounds.lost(tmp_path) == ["exchange 2 of `s` is lost"]

    journal.write_bytes(b'{"type": "acknowledged", "sess')
    assert kill_rounds.lost(tmp_path) == ["nothing was acknowledged"]
    writer.close()


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
