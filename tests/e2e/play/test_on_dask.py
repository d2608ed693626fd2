"""`--on dask://`: a scheduler and workers of Dask, which are killed and started again while a run goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from faultwire.campaign.dask_engine import DaskEngine
from faultwire.errors import UsageError
from faultwire.tape.read.reader import TapeReader

HALF = {
    "name": "half",
    "faults": [{"status": {"code": 503}, "on": {"kind": "llm"}, "trigger": {"probability": 0.5}}],
}
RULES = {"name": "rules", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}, HALF]}
CONTRACT = ("contract", "run", "--allow-unknown", "-q")


@dataclass
class Dask:
    """A scheduler and its workers, each a process."""

    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    @contextmanager
    def program(self, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        words = [sys.executable, "-m", f"distributed.cli.dask_{name}", *arguments]
        log = self.folder / f"{name}-{len(list(self.folder.iterdir()))}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(words, cwd=self.folder, stdout=file, stderr=file, process_group=0)
        try:
            yield process
        finally:
            for one in [*psutil.Process(process.pid).children(recursive=True), process]:
                one.kill()
            process.wait()

    def scheduler(self) -> Any:
        return self.program("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def worker(self) -> Any:
        # Without a nanny: who kills the worker kills it for good.
        return self.program("worker", f"tcp://127.0.0.1:{self.port}", "--nthreads", "1", "--no-nanny")


@pytest.fixture
def dask(tmp_path: Path) -> Dask:
    folder = tmp_path / "dask"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        return Dask(folder, free.getsockname()[1])


def reached(dask: Dask, workers: int) -> None:
    while True:
        try:
            engine = DaskEngine(dask.address.replace("dask", "tcp"))
        except UsageError:
            continue
        found = engine.slots
        engine.close()
        if found >= workers:
            return


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
        reached(dask, 2)
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


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    while process.poll() is None:
        if value := found():
            return value
    return None


@pytest.mark.nightly
def test_a_killed_worker_and_a_scheduler_that_is_started_again_cost_no_cell(project: Any, dask: Dask) -> None:
    write(project, 15)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    state = project.folder / ".faultwire"
    with ExitStack() as stack:
        scheduler = stack.enter_context(dask.scheduler())
        workers = [stack.enter_context(dask.worker()) for _ in range(2)]
        reached(dask, 2)
        process = subprocess.Popen(
            [sys.executable, "-m", "faultwire", *CONTRACT, "--on", dask.address],
            cwd=project.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        stack.callback(process.kill)
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
