"""`--on dask://`: a scheduler and workers of Dask, which are killed and started again while a run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.bench.dask_processes import Dask

from faultwire.campaign import dask_engine
from faultwire.campaign.dask_engine import DaskEngine
from faultwire.campaign.engine import Command, Ended
from faultwire.errors import FaultwireError
from faultwire.tape.read.reader import TapeReader

HALF = {
    "name": "half",
    "faults": [{"status": {"code": 503}, "on": {"kind": "llm"}, "trigger": {"probability": 0.5}}],
}
RULES = {"name": "rules", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}, HALF]}
CONTRACT = ("contract", "run", "--allow-unknown", "-q")


@pytest.fixture
def dask(tmp_path: Path) -> Dask:
    return Dask.at_free_port(tmp_path / "dask")


def write(project: Any, repeat: int) -> None:
    agent = {"type": "command", "command": [sys.executable, "-S", "talker.py", "{prompt}"]}
    project.write(agent=agent, contract=RULES, advanced={"concurrency": 3, "seed": 7, "repeat": repeat})


def outcome(project: Any) -> tuple[str, list[tuple[str, str]]]:
    document = project.document()
    return project.about()["ledger"], sorted((c["invocation"], c["verdict"]) for c in document["cells"])


def test_workers_of_a_scheduler_give_the_ledger_and_verdicts_of_one_process(project: Any, dask: Dask) -> None:
    write(project, 4)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    with dask.scheduler(), dask.worker(), dask.worker():
        dask.reached(2)
        done = project.run(*CONTRACT, "--on", dask.address)
    assert done.returncode == 0, done.stderr
    assert outcome(project) == alone


def test_a_scheduler_without_workers_is_refused(project: Any, dask: Dask) -> None:
    write(project, 1)
    with dask.scheduler():
        while True:
            done = project.run(*CONTRACT, "--on", dask.address)
            if "found no Dask scheduler" not in done.stderr:  # it listens
                break
    assert done.returncode == 2
    assert "has no worker, expected at least one" in done.stderr


def at_work(worker: subprocess.Popen[bytes]) -> bool:
    """Has it an agent?"""
    try:
        below = psutil.Process(worker.pid).children(recursive=True)
        return any("talker.py" in one.cmdline() for one in below)
    except psutil.Error:
        return False


def until(found: Callable[[], Any], process: subprocess.Popen[Any]) -> Any:
    while process.poll() is None:
        if value := found():
            return value
    return None


def later(engine: DaskEngine) -> Sequence[Ended]:
    """The next batches that end."""
    while not (found := engine.wait(1)):
        pass
    return found


HELLO = (sys.executable, "-S", "-c", "import sys; print(sys.stdin.read(), end='!')")
STILL = (sys.executable, "-S", "-c", "import signal; signal.alarm(300); signal.pause()")


@contextmanager
def left(dask: Dask) -> Iterator[DaskEngine]:
    """An engine that has just heard that its scheduler is gone, and with it a batch."""
    with ExitStack() as stack:
        scheduler = stack.enter_context(dask.scheduler())
        worker = stack.enter_context(dask.worker())
        dask.reached(1)
        engine = stack.enter_context(closing(DaskEngine(dask.address.replace("dask", "tcp"))))
        engine.submit("a", Command(STILL, str(dask.folder)), "")
        assert until(lambda: psutil.Process(worker.pid).children(recursive=True), worker)
        scheduler.kill()
        scheduler.wait()
        (lost,) = later(engine)
        assert (lost.batch, lost.lost, lost.away) == ("a", "the scheduler is gone", True)
        yield engine


def test_a_scheduler_that_is_started_again_is_found_as_soon_as_it_has_a_worker(dask: Dask) -> None:
    with left(dask) as engine:
        assert engine.slots == 0
        assert list(engine.wait(0.5)) == []  # it goes on looking, and lets its caller look at its leases
        with dask.scheduler(), dask.worker():
            while not engine.slots:
                engine.wait(1)
            engine.submit("b", Command(HELLO, str(dask.folder)), "hello")
            (ended,) = later(engine)
    assert (ended.batch, ended.code, ended.output, ended.lost) == ("b", 0, b"hello!", "")


@pytest.mark.nightly
def test_a_scheduler_that_stays_away_ends_the_wait_with_the_reason(
    dask: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "GONE_S", 1.0)
    with left(dask) as engine, pytest.raises(FaultwireError, match="did not come back within 1 s") as raised:
        later(engine)
    assert raised.value.code == "campaign.engine"


@pytest.mark.nightly
def test_a_scheduler_that_comes_back_without_a_worker_is_not_back(
    dask: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with left(dask) as engine, dask.scheduler():
        while not engine._here():
            engine.wait(1)
        assert engine.slots == 0
        assert engine._away is not None
        monkeypatch.setattr(engine._away, "limit_s", 0.0)
        with pytest.raises(FaultwireError, match="came back without a worker"):
            later(engine)


NOT_LOOKING = """
import sys
from faultwire.campaign import dask_engine
dask_engine.GONE_S = 0.0
from faultwire.cli import main
sys.argv[0] = "faultwire"
main()
"""
"""The control: nobody looks for a scheduler that is gone."""


@contextmanager
def running(project: Any, dask: Dask, *start: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *start, *CONTRACT, "--on", dask.address],
        cwd=project.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.nightly
def test_without_looking_for_its_scheduler_a_run_ends_and_the_same_command_goes_on(
    project: Any, dask: Dask
) -> None:
    write(project, 15)
    state = project.folder / ".faultwire"
    with dask.scheduler() as scheduler, dask.worker(), dask.worker():
        dask.reached(2)
        with running(project, dask, "-c", NOT_LOOKING) as process:
            assert until(lambda: list(state.glob("campaigns/*/tapes/*.tape")), process)
            scheduler.kill()
            _, errors = process.communicate(timeout=600)
    assert process.returncode == 3
    assert "campaign.engine" in errors
    assert "went away and did not come back" in " ".join(errors.split())
    assert "Traceback" not in errors
    assert len(list(state.glob("campaigns/*/results.jsonl"))) == 1
    done = project.run(*CONTRACT, "--on", "local:2")
    assert done.returncode == 0
    assert "note: goes on where it was ended" in done.stderr


@pytest.mark.nightly
def test_a_killed_worker_and_a_scheduler_that_is_started_again_cost_no_cell(project: Any, dask: Dask) -> None:
    write(project, 15)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    state = project.folder / ".faultwire"
    with ExitStack() as stack:
        scheduler = stack.enter_context(dask.scheduler())
        workers = [stack.enter_context(dask.worker()) for _ in range(2)]
        dask.reached(2)
        process = stack.enter_context(running(project, dask, "-m", "faultwire"))
        assert until(lambda: at_work(workers[0]), process)
        os.kill(workers[0].pid, signal.SIGKILL)
        stack.enter_context(dask.worker())
        assert until(lambda: list(state.glob("campaigns/*/tapes/*.tape")), process)
        os.kill(scheduler.pid, signal.SIGKILL)
        scheduler.wait()
        stack.enter_context(dask.scheduler())
        stack.enter_context(dask.worker())
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert outcome(project) == alone
    with TapeReader.open(project.runs[-1] / "run.tape") as reader:
        assert len({info.name for info in reader.sessions()}) == len(reader.sessions()) == 60
