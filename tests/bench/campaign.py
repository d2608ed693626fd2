"""A campaign on one, two and four workers: processor time, and what is lost or doubled by kills.

`python -m tests.bench.campaign [CELLS] [PLACE…]`, a place being `one` (one process, without `--on`),
`local:N` or `dask:N`, and `local:N!` or `dask:N!` where a worker is killed every 30 s, and the scheduler is
killed and started again once in the middle. On a machine that others use as well, wall time says nothing of
how a campaign scales. So what is compared is processor time: two workers that take no more of it together
than one does are twice as fast on two free cores.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from tests.bench.dask_processes import Dask, Process

from faultwire import _core
from faultwire.tape.read.reader import TapeReader

EVERY_S = 30.0
"""Seconds between two kills of a worker."""
BODY = '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "{prompt}"}]}'
URL = "https://api.openai.com/v1/chat/completions"
HALF = {"name": "half", "faults": [{"status": {"code": 503}, "trigger": {"probability": 0.5}}]}
PLACES = ("one", "local:1", "local:2", "local:4!", "dask:2!")
COMMAND = (sys.executable, "-m", "faultwire", "contract", "run", "-q", "--allow-unknown")


def write(folder: Path, cells: int) -> None:
    """A project with a scripted agent (curl), two scenarios and some prompts."""
    prompts = max(2, cells // 1000)
    command = ["curl", "-s", "-H", "content-type: application/json", "-H", "authorization: Bearer sk-none",
               "-d", BODY, URL]  # fmt: skip
    (folder / "faultwire.yaml").write_text(
        json.dumps(
            {
                "version": "2.0",
                "agent": {"type": "command", "command": command},
                "proxy": {"mock": True},
                "golden_prompts": [f"prompt {number}" for number in range(prompts)],
                "contract": {
                    "name": "c",
                    "invariants": [{"type": "output_not_empty"}],
                    "chaos_matrix": [{"name": "calm"}, HALF],
                },
                "advanced": {"concurrency": 4, "seed": 7, "repeat": cells // prompts // 2},
            }
        )
    )


@dataclass
class Trouble:
    """Kills a worker every so many seconds, and the scheduler once; what was killed is started again."""

    folder: Path
    every_s: float
    half: int
    dask: Dask | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    scheduler: subprocess.Popen[bytes] | None = None
    killed: int = 0
    restarted: int = 0
    _stack: ExitStack = field(default_factory=ExitStack)

    def during(self, process: subprocess.Popen[str]) -> None:
        """Make trouble until the process has ended."""
        due = time.monotonic() + self.every_s
        while process.poll() is None:
            if time.monotonic() >= due:
                due += self.every_s
                self._kill_worker(process)
            if self.scheduler is not None and not self.restarted and self._results() >= self.half:
                self._restart()
            time.sleep(0.2)

    def _results(self) -> int:
        files = list(self.folder.glob(".faultwire/campaigns/*/results.jsonl"))
        return files[0].read_bytes().count(b"\n") if files else 0

    def _kill_worker(self, process: subprocess.Popen[str]) -> None:
        if self.dask is None:
            found = [one for one in children(process) if "worker" in one.cmdline()]
            if found:
                random.choice(found).kill()
                self.killed += 1
            return
        alive = [one for one in self.workers if one.poll() is None]
        if alive:
            random.choice(alive).kill()
            self.killed += 1
            self.workers.append(self.start(self.dask.worker()))

    def _restart(self) -> None:
        assert self.dask is not None
        assert self.scheduler is not None
        self.restarted += 1
        self.scheduler.kill()
        self.scheduler.wait()
        count = sum(one.poll() is None for one in self.workers)
        self.scheduler = self.start(self.dask.scheduler())
        # Workers end with their scheduler.
        self.workers = [self.start(self.dask.worker()) for _ in range(count)]

    def start(self, program: Process) -> subprocess.Popen[bytes]:
        return self._stack.enter_context(program)

    def close(self) -> None:
        self._stack.close()


def play(folder: Path, cells: int, place: str, every_s: float = EVERY_S) -> dict[str, Any]:
    """One run: what it took, the ledger, the verdicts, and how often each session is on the tape."""
    kind, _, count = place.rstrip("!").partition(":")
    trouble = Trouble(folder, every_s if place.endswith("!") else 1e9, cells // 2)
    with ExitStack() as stack:
        stack.callback(trouble.close)
        on = [] if place == "one" else ["--on", place.rstrip("!")]
        if kind == "dask":
            dask = trouble.dask = Dask.at_free_port(
                Path(stack.enter_context(tempfile.TemporaryDirectory())) / "d"
            )
            scheduler = trouble.start(dask.scheduler())
            trouble.scheduler = scheduler if place.endswith("!") else None
            trouble.workers = [trouble.start(dask.worker()) for _ in range(int(count))]
            dask.reached(int(count))
            on = ["--on", dask.address]
        began, used = time.monotonic(), cpu_s()
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([*COMMAND, *on], cwd=folder, stdout=errors, stderr=errors)
            trouble.during(process)
            errors.seek(0)
            if process.returncode != 0:
                raise RuntimeError(errors.read())
        took = {"wall_s": round(time.monotonic() - began, 1)}
        trouble.close()
        took["cpu_s"] = round(cpu_s() - used, 2)
    return {**took, **outcome(folder, cells), "killed": trouble.killed, "restarted": trouble.restarted}


def outcome(folder: Path, cells: int) -> dict[str, Any]:
    """What the last run of a folder came to, held against the cells that were asked for."""
    run = max((folder / ".faultwire" / "runs").iterdir())
    document = json.loads((run / "report.json").read_text())
    with TapeReader.open(run / "run.tape") as reader:
        sessions = Counter(info.name for info in reader.sessions())
    verdicts = sorted((cell["invocation"], cell["verdict"]) for cell in document["cells"])
    return {
        "ledger": json.loads((run / "run.json").read_text())["ledger"],
        "verdicts": _core.sha256_hex(json.dumps(verdicts).encode())[:16],
        "lost": cells - len(sessions.keys() & {invocation for invocation, _ in verdicts}),
        "doubled": sum(sessions.values()) - len(sessions) + len(verdicts) - len(dict(verdicts)),
        "warnings": document["run"]["warnings"],
    }


def cpu_s() -> float:
    """Processor seconds of all that was started from here and has ended, and of what that had started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children()
    except psutil.NoSuchProcess:
        return []


def same(found: dict[str, dict[str, Any]]) -> bool:
    """Is the outcome of all runs one, with nothing lost or doubled?"""
    return {(each["lost"], each["doubled"]) for each in found.values()} == {(0, 0)} and (
        len({(each["ledger"], each["verdicts"]) for each in found.values()}) == 1
    )


def main() -> None:
    """Prints a line for each run, and the ratios."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="faultwire-campaign-") as place:
        folder = Path(place)
        write(folder, cells)
        for name in sys.argv[2:] or PLACES:
            found[name] = play(folder, cells, name)
            load = round(os.getloadavg()[0], 1)
            print(name, json.dumps({**found[name], "load": load}), flush=True)
    if {"local:1", "local:2"} <= found.keys():
        one, two = found["local:1"], found["local:2"]
        ratio, wall = 2 * one["cpu_s"] / two["cpu_s"], one["wall_s"] / two["wall_s"]
        print(f"two workers by processor time: {ratio:.2f} × one (target 1.8); by wall time {wall:.2f}")
    for name in found.keys() & {"local:1", "dask:1", "dask:2"} if "one" in found else ():
        took = found[name]["cpu_s"] - found["one"]["cpu_s"]
        print(f"{name} adds {took / cells * 1000:.1f} ms of processor time a cell (target 15)")
    print("ledgers and verdicts are the same, 0 lost, 0 doubled" if same(found) else "THEY DIFFER")


if __name__ == "__main__":
    main()
