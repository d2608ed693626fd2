"""`python -m tests.bench.ladder [--repeats N] [--chance P …]`: do the printed intervals hold the true rate?

Victims obey each attack with a chance that is known. Every repeat is a benchmark of twelve pairs, live: an
agent in a process of its own, the proxy between it and its tools, attacks on the wire, the judge, and the
interval that `faultwire bench` prints. Counted is how often it holds the chance. A victim that obeys all or
nothing gives the same interval each time, so nothing but 100 % or 0 % can be seen there. Beside it stands
what the binomial distribution says of this interval and two others, and more repeats of the same dice.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import get_args

from tests.e2e.benchmarks.injecagent_files import write

from faultwire.agents._process import Ended
from faultwire.benchmarks.child.injecagent_data import load
from faultwire.benchmarks.plan import Agent, Outcome, Pair
from faultwire.benchmarks.player import ROUTE, URL, Player
from faultwire.benchmarks.score import score
from faultwire.benchmarks.server import TaskServer
from faultwire.contract.statistics import Measured, Method, rate
from faultwire.dice import unit
from faultwire.runner.launch import LaunchSettings, start_run

CHANCES = (0.0, 0.25, 0.5, 0.75, 1.0)
AT_ONCE = 2
LONGER = 10_000
"""Repeats without a wire, which say what 200 scatter around."""
Workers = queue.Queue["subprocess.Popen[str]"]


@dataclass(frozen=True)
class Lasting(Player):
    """A player whose agent stays between tasks."""

    workers: Workers = field(default_factory=queue.Queue)

    def _work(self, agent: Agent, prompt: str, given: Mapping[str, str], task: str) -> Ended:
        worker = self.workers.get()
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(json.dumps({"base": f"{given[URL]}/{task}", "prompt": prompt}) + "\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
        finally:
            self.workers.put(worker)
        return Ended(json.loads(line) if line else "", "", 0 if line else 1, 0.0, timed_out=False)


@contextmanager
def workers() -> Iterator[Workers]:
    """Agents that wait for tasks."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("lasting_agent.py"))]
    made = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(AT_ONCE)
    ]
    waiting: Workers = queue.Queue()
    for one in made:
        waiting.put(one)
    try:
        yield waiting
    finally:
        for one in made:
            one.communicate(timeout=30)


def live(chance: float, repeats: int) -> list[tuple[Measured, list[Outcome]]]:
    """The interval of each repeat, and its outcomes."""
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        TaskServer(Path(sys.executable), "injecagent_tasks", str(write(Path(folder)))) as server,
        workers() as waiting,
        start_run(LaunchSettings("bench", reverse={ROUTE: f"http://127.0.0.1:{server.port}"})) as run,
    ):
        cases = [("agent", Pair(*one)) for one in server.ask("pairs", version="")]
        asked = {"version": "", "attack": "base"}
        for seed in range(repeats):
            player = Lasting(
                server, run, asked, (), 60.0, seed, obeys=chance, prefix=f"{seed}-", workers=waiting
            )
            outcomes = player.play_all(cases, AT_ONCE, lambda _: None)
            measured = score(outcomes).attack_success
            assert measured is not None
            found.append((measured, outcomes))
        run.folder.end("finished")
    return found


def held(found: Sequence[Measured], chance: float) -> float:
    """The share of intervals that hold the chance."""
    return sum(one.low <= chance <= one.high for one in found) / len(found)


def exact(method: Method, total: int, chance: float) -> float:
    """How often an interval holds the chance, by the binomial distribution."""
    each = [rate(count, total, method) for count in range(total + 1)]
    return sum(
        comb(total, count) * chance**count * (1 - chance) ** (total - count)
        for count, one in enumerate(each)
        if one.low <= chance <= one.high
    )


def by_dice(chance: float, repeats: int) -> list[Measured]:
    """The intervals that the same dice give without a wire: what the live ones must be."""
    with tempfile.TemporaryDirectory() as folder:
        labels = [Pair(*case.pair).label for case in load(write(Path(folder)), "base").cases]
    return [
        rate(sum(unit(seed, "bench", "obeys", label, 0) < chance for label in labels), len(labels))
        for seed in range(repeats)
    ]


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--repeats", type=int, default=200)
    asked.add_argument("--chance", type=float, action="append")
    given = asked.parse_args()
    for chance in given.chance or CHANCES:
        found = live(chance, given.repeats)
        total, method = found[0][0].total, found[0][0].method
        obeyed = sum(one.passed for one, _ in found)
        live_ = [one for one, _ in found]
        longer = by_dice(chance, LONGER)
        by = ", ".join(f"{name} {exact(name, total, chance):.1%}" for name in get_args(Method))
        print(
            f"p = {chance}: {given.repeats} repeats of {total} pairs, obeyed {obeyed} "
            f"({obeyed / total / len(found):.1%}), {method} held {held(live_, chance):.1%} (by theory: {by}; "
            f"{LONGER} repeats of the same dice: {held(longer, chance):.1%}), "
            f"live as the dice: {live_ == longer[: len(live_)]}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
