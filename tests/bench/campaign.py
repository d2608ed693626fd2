"""A campaign on one, two and four workers: processor time, and what is lost or doubled by kills.

`python -m tests.bench.campaign [CELLS]`. On a machine that others use as well, wall time says nothing of how
a campaign scales. So what is compared is processor time: two workers that take no more of it together than
one does are twice as fast on two free cores.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from faultwire.tape.read.reader import TapeReader

EVERY_S = 30.0
"""Seconds between two kills of a worker."""
BODY = '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "{prompt}"}]}'
URL = "https://api.openai.com/v1/chat/completions"
HALF = {"name": "half", "faults": [{"status": {"code": 503}, "trigger": {"probability": 0.5}}]}


def write(folder: Path, cells: int) -> None:
    """A project with a scripted agent (curl), two scenarios and two prompts."""
    command = ["curl", "-s", "-H", "content-type: application/json", "-H", "authorization: Bearer sk-none",
               "-d", BODY, URL]  # fmt: skip
    (folder / "faultwire.yaml").write_text(
        json.dumps(
            {
                "version": "2.0",
                "agent": {"type": "command", "command": command},
                "proxy": {"mock": True},
                "golden_prompts": ["one", "two"],
                "contract": {
                    "name": "c",
                    "invariants": [{"type": "output_not_empty"}],
                    "chaos_matrix": [{"name": "calm"}, HALF],
                },
                "advanced": {"concurrency": 4, "seed": 7, "repeat": cells // 4},
            }
        )
    )


def play(folder: Path, *on: str, kill_every_s: float | None = None, end_once: bool = False) -> dict[str, Any]:
    """One run: what it took, the ledger, the verdicts, and how often each session is on the tape."""
    began, used = time.monotonic(), cpu_s()
    words = [sys.executable, "-m", "faultwire", "contract", "run", "-q", "--allow-unknown", *on]
    killed = 0
    while True:
        process = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        over = threading.Event()

        def kill(process: subprocess.Popen[str] = process, over: threading.Event = over) -> None:
            nonlocal killed
            while kill_every_s is not None and not over.wait(kill_every_s):
                workers = [one for one in children(process) if "worker" in one.cmdline()]
                if workers:
                    random.choice(workers).kill()
                    killed += 1

        killer = threading.Thread(target=kill)
        killer.start()
        if end_once:
            end_once = False
            while process.poll() is None and not list(folder.glob(".faultwire/campaigns/*/tapes/*.tape")):
                time.sleep(0.2)
            os.kill(process.pid, signal.SIGKILL)
        _, errors = process.communicate()
        over.set()
        killer.join()
        if process.returncode != -signal.SIGKILL:
            break
    if process.returncode != 0:
        raise RuntimeError(errors)
    run = max((folder / ".faultwire" / "runs").iterdir())
    about = json.loads((run / "run.json").read_text())
    document = json.loads((run / "report.json").read_text())
    with TapeReader.open(run / "run.tape") as reader:
        sessions = Counter(info.name for info in reader.sessions())
    verdicts = sorted((cell["invocation"], cell["verdict"]) for cell in document["cells"])
    return {
        "wall_s": round(time.monotonic() - began, 1),
        "cpu_s": round(cpu_s() - used, 2),
        "ledger": about["ledger"],
        "verdicts": hash(tuple(verdicts)),
        "cells": len(verdicts),
        "sessions": len(sessions),
        "doubled": sum(count - 1 for count in sessions.values()),
        "killed": killed,
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


def main() -> None:
    """Prints a line for each run, and the ratios."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="faultwire-campaign-") as place:
        folder = Path(place)
        write(folder, cells)
        found = {}
        for name, on, more in (
            ("one process", (), {}),
            ("local:1", ("--on", "local:1"), {}),
            ("local:2", ("--on", "local:2"), {}),
            ("local:4, killed", ("--on", "local:4"), {"kill_every_s": EVERY_S, "end_once": True}),
        ):
            found[name] = play(folder, *on, **more)  # type: ignore[arg-type]
            print(name, json.dumps(found[name]), flush=True)
        one, two = found["local:1"], found["local:2"]
        ratio = 2 * one["cpu_s"] / two["cpu_s"]
        print(f"two workers on two free cores by processor time: {ratio:.2f} × one (target 1.8)")
        alone = found["one process"]
        took = one["cpu_s"] - alone["cpu_s"]
        print(f"what a campaign adds: {took / cells * 1000:.1f} ms of processor time a cell (target 15)")
        same = len({(each["ledger"], each["verdicts"], each["sessions"]) for each in found.values()}) == 1
        print("ledgers, verdicts and sessions are the same" if same else "THEY DIFFER")


if __name__ == "__main__":
    main()
