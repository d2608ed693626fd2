"""What one exchange walks through: `python -m tests.bench.walk [--events N] [--json FILE] [--trace]`.

One chat completion is streamed by the upstream through a recording engine whose profile has one fault in
the stream. Counted in the engine's thread, from the request's first byte to the end of the response:

    calls    functions of ours that were entered, a generator that goes on included
    files    files of ours that were entered
    changes  how often the next call was in another file than the one before

The figures are counts, so the machine does not matter; an answer in two reads costs more than in one.
`--trace` prints calls by file and function.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import runpy
import signal
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from tests.bench import pki
from tests.bench.children import ROOT, Child
from tests.bench.client import Connection, Target
from tests.bench.subjects import settings

import faultwire
from faultwire.mitm.engine.client import Engine
from faultwire.profile import load

PACKAGE = str(Path(faultwire.__file__).parent) + os.sep
PROFILE = """
name: walk
description: One fault in the stream of every model call.
faults:
  - duplicate_event: {at: 3}
    on: {kind: llm}
"""
EVENTS = 10
TARGETS = {"calls": 400, "changes": 150}


class Walk:
    """Counts calls into the package while it is switched on."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        self.sequence: list[str] = []
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE):
            return
        entered = f"{name[len(PACKAGE) :]} {frame.f_code.co_qualname}"
        self.calls[entered] += 1
        self.sequence.append(entered)
        if name != self._last:
            self.changes[f"{self._last[len(PACKAGE) :]} > {name[len(PACKAGE) :]}"] += 1
            self._last = name

    def figures(self) -> dict[str, Any]:
        files = {key.split(" ")[0] for key in self.calls}
        return {
            "calls": self.calls.total(),
            "files": len(files),
            "changes": self.changes.total(),
            "by_change": dict(self.changes.most_common()),
            "by_function": dict(self.calls.most_common()),
            "sequence": self.sequence,
        }


def engine(report: Path) -> int:
    """An engine's process that counts between SIGUSR1 and SIGUSR2, and then writes `report`."""
    walk = Walk()

    def begin(*_: object) -> None:
        sys.setprofile(walk)

    def end(*_: object) -> None:
        sys.setprofile(None)
        fresh = report.with_suffix(".new")
        fresh.write_text(json.dumps(walk.figures()))
        fresh.rename(report)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, end)
    runpy.run_module("faultwire.mitm", run_name="__main__")
    return 0


async def exchange(target: Target, path: str, pid: int) -> bytes:
    """Two exchanges on one connection; the second one is counted. Its body."""
    trust = ssl.create_default_context(cafile=target.ca)
    connection = await Connection.open(target, trust)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]})
    request = (
        f"POST {path} HTTP/1.1\r\nHost: {target.host}:{target.port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
    await connection.exchange(request)
    os.kill(pid, signal.SIGUSR1)
    answer = await connection.exchange(request)
    os.kill(pid, signal.SIGUSR2)
    return bytes(answer.body)


def counted_engine(folder: Path, keys: pki.Pki, report: Path) -> Engine:
    """An engine as `Engine.start` starts one, in a process that counts."""
    made = settings(folder / "run", keys, native=False)
    made.run_dir.mkdir(mode=0o700)
    path = os.pathsep.join(dict.fromkeys([str(ROOT), *(place for place in sys.path if place)]))
    with (folder / "engine.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-O", "-m", "tests.bench.walk", "--engine", str(report)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(made.model_dump_json().encode() + b"\n")
    process.stdin.flush()
    return Engine(process, json.loads(process.stdout.readline()))


def measure(events: int, profile: str = PROFILE) -> dict[str, Any]:
    """The figures of one exchange whose answer has so many events."""
    with tempfile.TemporaryDirectory(prefix="fw") as name:
        folder = Path(name)
        keys = pki.make(folder / "pki")
        report = folder / "walk.json"
        with (
            Child.python("tests.bench.upstream", str(keys.server), log=folder / "upstream.log") as upstream,
            counted_engine(folder, keys, report) as running,
        ):
            handle = running.open_session("walk", load.dump(load.parse(profile, "walk.yaml")), 1)
            proxy = f"127.0.0.1:{handle.port}"
            target = Target("localhost", upstream.ready["port"], str(running.ca_pem), proxy)
            path = f"/v1/chat/completions?events={events}&bytes=60&gap_ms=0"
            body = asyncio.run(exchange(target, path, running.pid))
        assert body.count(b"data:") != events, "the fault did not act"
        return json.loads(report.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--engine", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        return engine(options.engine)
    figures = measure(options.events)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    if options.trace:
        for key, count in figures["by_function"].items():
            print(f"{count:5} {key}")
        for key, count in figures["by_change"].items():
            print(f"{count:5} {key}")
    for name in ("calls", "files", "changes"):
        target = f"  (target {TARGETS[name]})" if name in TARGETS else ""
        print(f"{name:8} {figures[name]:5}{target}")
    return int(any(figures[name] > most for name, most in TARGETS.items()))


if __name__ == "__main__":
    sys.exit(main())
