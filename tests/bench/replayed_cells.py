"""`python -m tests.bench.replayed_cells [--cells N] [--rounds N]`: what replayed invocations cost beside the
agent's own time.

An agent that takes 50 ms and asks its model once (`cell_agent`) is invoked 1,000 times, 16 at once: first by
a plain client with the model itself in the proxy's place, then through faultwire with answers from a tape.
Rounds of both take turns, so that a busy machine slows both; their ratio is what is looked at.
"""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median  # type: ignore[attr-defined]

from tests.bench.cells import AGENT, CONCURRENCY, TAKES_S, check, cpu_s
from tests.bench.children import Child

from faultwire.agents.make import prepared
from faultwire.agents.settings import HttpSettings
from faultwire.contract.cells import Prompt, Scenario
from faultwire.profile.model import Profile
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.cells import planned
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.runner.run import play

TARGET = 1.3


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of wall time, and of CPU time of the runner and of the engine."""

    wall_s: float
    runner_s: float = 0.0
    engine_s: float = 0.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def alone(folder: Path, model: str, cells: int) -> Took:
    """The agent without faultwire: what it asks goes to the model straight away."""
    port = free_port()
    environment = {"HTTP_PROXY": model.replace("http://", "http://user:none@", 1)}
    words = [sys.executable, str(AGENT), str(port), f"{model}/v1/models"]
    child = Child(words, log=folder / "alone.log", env=environment, speaks=False)
    try:
        answering(port)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            began = time.monotonic()
            codes = list(pool.map(lambda _: invoke(port), range(cells)))
            wall = time.monotonic() - began
    finally:
        child.end()
    if set(codes) != {200}:
        raise RuntimeError(f"the agent answered {set(codes)}")
    return Took(wall)


def answering(port: int) -> None:
    """Until the agent listens. Raises TimeoutError."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with socket.socket() as asked:
            if not asked.connect_ex(("127.0.0.1", port)):
                return
    raise TimeoutError("the agent does not listen")


def invoke(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/", b'{"prompt": "hi"}', {"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def through(folder: Path, model: str, cells: int, tape: Path | None) -> tuple[Took, Path]:
    """The same through faultwire, answered from a tape where there is one; and the tape that it made."""
    port = free_port()
    at = f"http://127.0.0.1:{port}/"
    settings = HttpSettings.model_validate(
        {
            "endpoint": at,
            "propagates": True,
            "start": {
                "command": [sys.executable, str(AGENT), str(port), f"{model}/v1/models"],
                "ready_url": at,
            },
        }
    )
    plan = planned([Scenario("calm", Profile(name="calm"))], [Prompt("p", "hi")], repeat=cells)
    replay = None if tape is None else ReplaySettings(tape=tape)
    launch = LaunchSettings("bench", base=folder / ".faultwire", allow_hosts=("127.0.0.1",), replay=replay)
    with start_run(launch) as run:
        with prepared(settings, partial(run.share, "server"), folder=run.folder.path, base=folder) as agent:
            before, ours = run.engine.stats()["cpu_s"], cpu_s()
            began = time.monotonic()
            played = play(plan, agent, run, seed=1, concurrency=CONCURRENCY)
            wall = time.monotonic() - began
            took = Took(wall, cpu_s() - ours, run.engine.stats()["cpu_s"] - before)
        made = run.tape
        run.folder.end("finished")
    check(played)
    return took, made


def measured(folder: Path, cells: int, rounds: int) -> list[tuple[Took, Took]]:
    """Each round: the agent alone, and replayed."""
    found = []
    with Child.python("tests.bench.cell_model", log=folder / "model.log") as child:
        model = f"http://127.0.0.1:{child.ready['port']}"
        _, tape = through(folder, model, cells, None)
        for _ in range(rounds):
            found.append((alone(folder, model, cells), through(folder, model, cells, tape)[0]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.replayed_cells")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
        found = measured(Path(folder), given.cells, given.rounds)
    ideal = given.cells / CONCURRENCY * TAKES_S
    for own, replayed in found:
        each = [f"{one / given.cells * 1000:.2f} ms" for one in (replayed.runner_s, replayed.engine_s)]
        print(
            f"{given.cells} invocations, {CONCURRENCY} at once: ideal {ideal:.2f} s, alone {own.wall_s:.2f},"
            f" replayed {replayed.wall_s:.2f} s: {replayed.wall_s / own.wall_s:.2f} x; CPU each: runner "
            f"{each[0]}, engine {each[1]}"
        )
    ratio = median(replayed.wall_s / own.wall_s for own, replayed in found)
    print(f"median {ratio:.2f} x the agent's own time (<= {TARGET}); load {os.getloadavg()[0]:.1f}")
    return int(ratio > TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
