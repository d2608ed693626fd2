"""What an open page costs an engine under load: `python -m tests.bench.workbench_load`.

200 sessions ask 500 times a second together, for a minute with the page open and for one without, in turns.
Prints of each turn: the rate that was reached, the engine's CPU per exchange, memory of all; of those with a
page also its frames. On a machine that others use, compare the two of a pair.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright
from tests.bench import subjects
from tests.bench.children import cpu_s, resident_mb
from tests.bench.rig import Rig
from tests.e2e.workbench.conftest import PROGRAM

from faultwire.mitm.engine.client import Engine
from faultwire.workbench.client import started
from faultwire.workbench.serve import Listen

SESSIONS, RATE = 200, 500
CALM = "name: calm\ndescription: No fault.\nfaults: []\n"
FRAMES = """window.frames_ = [];
const count = (now) => { window.frames_.push(now); requestAnimationFrame(count); };
requestAnimationFrame(count);"""
SECONDS_OF = """() => {
  const found = {};
  for (const at of window.frames_) found[Math.floor(at / 1000)] = (found[Math.floor(at / 1000)] || 0) + 1;
  const whole = Object.values(found).slice(1, -1).sort((a, b) => a - b);
  return {
    frames: whole, heap: performance.memory.usedJSHeapSize / 1e6,
    held: document.querySelectorAll('.space .line').length,
    rows: Number(document.getElementById('list').getAttribute('aria-rowcount')) - 1,
  };
}"""


def turn(rig: Rig, load: Any, browser: Any, seconds: int, rate: int, *, page: bool) -> dict[str, Any]:
    """One turn on an engine of its own."""
    folder = Path(tempfile.mkdtemp(dir=rig.folder))
    settings = subjects.settings(folder, rig.keys, max_exchanges=SESSIONS + 64)
    with Engine.start(settings) as engine:
        opened = [subjects.opened(engine, f"s{at}", CALM, rig.port) for at in range(SESSIONS)]
        job = {"targets": [asdict(one.target) for one in opened], "rate": rate, "seconds": seconds}
        load.ask({**job, "seconds": 2})
        load.receive(600.0)  # both begin warm
        if not page:
            return {**_loaded(engine, load, job), "page": None}
        with started(Listen(), folder / "bench.tape", engine.control, folder, folder) as served:
            shown = browser.new_page(viewport={"width": 1440, "height": 900})
            shown.add_init_script(FRAMES)
            shown.goto(served["link"])
            shown.wait_for_selector("body[data-ready]")
            server = next(pid for pid in _descendants(os.getpid()) if "faultwire.workbench" in _command(pid))
            with _growing(server, browser) as grown:
                found = _loaded(engine, load, job)
            there = shown.evaluate(SECONDS_OF)
            shown.close()
        return {**found, "page": {**grown, **there, "frames": there["frames"]}}


def _loaded(engine: Engine, load: Any, job: dict[str, Any]) -> dict[str, Any]:
    load.ask(job)  # its connections are open: what a handshake takes is not counted
    before, memory = cpu_s(engine.pid), resident_mb(engine.pid)
    done = load.receive(600.0)
    used = cpu_s(engine.pid) - before
    return {
        "rate": done["done"] / done["wall_s"],
        "cpu_ms": 1000 * used / done["done"],
        "median_ms": done["median_ms"],
        "p99_ms": done["p99_ms"],
        "engine_mb": (memory, resident_mb(engine.pid)),
    }


@contextmanager
def _growing(server: int, browser: Any) -> Iterator[dict[str, Any]]:
    """CPU of the workbench's process, and the memory of it and of the browser before and after."""
    del browser  # its processes are found by their names
    grown: dict[str, Any] = {}
    before, memory, shown = cpu_s(server), resident_mb(server), _browser_mb()
    yield grown
    grown["server_cpu_s"] = cpu_s(server) - before
    grown["server_mb"] = (memory, resident_mb(server))
    grown["browser_mb"] = (shown, _browser_mb())


def _browser_mb() -> float:
    return sum(
        resident_mb(pid) for pid in _descendants(os.getpid()) if "chrom" in _command(pid).split(" ")[0]
    )


def _descendants(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            children = [int(word) for word in path.read_text().split()]
            found += children
            waiting += children
    return found


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")


def _printed(found: dict[str, Any]) -> str:
    page = found["page"]
    words = [
        f"{'with' if page else 'without'} a page: {found['rate']:.0f}/s, engine {found['cpu_ms']:.3f} ms "
        f"of CPU each, {found['median_ms']:.1f} and {found['p99_ms']:.0f} ms (median, 99 %), "
        f"{found['engine_mb'][0]:.0f} to {found['engine_mb'][1]:.0f} MB"
    ]
    if page:
        frames = page["frames"] or [0]
        words += [
            f"frames/s: median {median(frames):.0f}, 5 % {frames[len(frames) // 20]}, least {frames[0]}",
            f"page: {page['rows']} rows, {page['held']} in the document, heap {page['heap']:.0f} MB; browser "
            f"{page['browser_mb'][0]:.0f} to {page['browser_mb'][1]:.0f} MB",
            f"workbench: {page['server_cpu_s']:.1f} s of CPU, {page['server_mb'][0]:.0f} to "
            f"{page['server_mb'][1]:.0f} MB",
        ]
    return "\n  ".join(words)


def main() -> None:
    """Print the turns, and the ratios of each pair."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--rate", type=int, default=RATE, help="exchanges a second; one that both reach compares"
    )
    asked = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as place, Rig(Path(place)) as rig, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        load = rig.child("paced")
        for number in range(asked.rounds):
            order = (False, True) if number % 2 == 0 else (True, False)
            pair = {page: turn(rig, load, browser, asked.seconds, asked.rate, page=page) for page in order}
            for found in pair.values():
                print(_printed(found), flush=True)
            ratios.append(pair[True]["cpu_ms"] / pair[False]["cpu_ms"])
            print(
                f"pair {number + 1}: CPU of the engine × {ratios[-1]:.3f}, load {os.getloadavg()[0]:.0f}",
                flush=True,
            )
        browser.close()
    print(json.dumps({"cpu_ratios": [round(one, 3) for one in ratios], "median": round(median(ratios), 3)}))


if __name__ == "__main__":
    main()
