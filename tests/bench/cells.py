"""What playing cells costs beside the agent: many of a server, and one after another of a command."""

from __future__ import annotations

import os
import resource
import socket
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.children import Child
from tests.bench.rounds import Row

from faultwire.agents.make import prepared
from faultwire.agents.settings import AgentSettings, CommandSettings, HttpSettings
from faultwire.contract.cells import Prompt, Scenario
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.runner.run import Played, play

AGENT = Path(__file__).with_name("cell_agent.py")
COMMAND = Path(__file__).parents[1] / "e2e" / "run_agents" / "command_agent.py"
TAKES_S = 0.05
CONCURRENCY = 16
CELLS = {False: 1000, True: 200}
COMMANDS = {False: 60, True: 15}
ROUNDS = 3


def run(folder: Path, *, quick: bool) -> list[Row]:
    """Both measures, each several times on an engine of its own."""
    many = Row(
        "cells",
        f"{CELLS[quick]} cells of a 50 ms HTTP agent, 16 at once",
        "faultwire",
        "× ideal",
        target=1.3,
        more_is_better=False,
    )
    single = Row("cells", "scheduling per cell, command", "faultwire", "ms", target=15, more_is_better=False)
    each = Row(
        "cells", "scheduling per cell, HTTP, 1 at once", "faultwire", "ms", target=15, more_is_better=False
    )
    for number in range(1 if quick else ROUNDS):
        at = folder / f"cells{number}"
        at.mkdir()
        many.rounds.append(http(at, CELLS[quick], CONCURRENCY)[0] / (CELLS[quick] / CONCURRENCY * TAKES_S))
        each.rounds.append(overhead(*http(at, COMMANDS[quick], 1)))
        single.rounds.append(overhead(*command(at, COMMANDS[quick])))
    return [many, each, single]


def overhead(wall_s: float, played: tuple[Played, ...]) -> float:
    """Milliseconds for each cell that are not the agent's."""
    agents = sum(one.history.agent.duration_s for one in played if one.history.agent)
    return (wall_s - agents) / len(played) * 1000


def http(folder: Path, cells: int, concurrency: int) -> tuple[float, tuple[Played, ...]]:
    """Seconds for so many cells of a server that propagates."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Child.python("tests.bench.cell_model", log=folder / "model.log") as model:
        upstream = f"http://127.0.0.1:{model.ready['port']}/v1/models"
        at = f"http://127.0.0.1:{port}/"
        settings = HttpSettings.model_validate(
            {
                "endpoint": at,
                "propagates": True,
                "start": {"command": [sys.executable, str(AGENT), str(port), upstream], "ready_url": at},
            }
        )
        return timed(folder, settings, cells, concurrency)


def command(folder: Path, cells: int) -> tuple[float, tuple[Played, ...]]:
    """Seconds for so many cells of a command."""
    settings = CommandSettings(command=(sys.executable, "-S", str(COMMAND), "{prompt}"))
    return timed(folder, settings, cells, 1)


def timed(
    folder: Path, settings: AgentSettings, cells: int, concurrency: int
) -> tuple[float, tuple[Played, ...]]:
    plan = planned([Scenario("calm", Profile(name="calm"))], [Prompt("p", "hi")], repeat=cells)
    made = LaunchSettings("bench", mock=True, base=folder / ".faultwire", allow_hosts=("127.0.0.1",))
    with start_run(made) as run_:
        share = partial(run_.share, "server")
        with prepared(settings, share, folder=run_.folder.path, base=folder) as agent:
            before, ours = run_.engine.stats()["cpu_s"], cpu_s()
            began = time.monotonic()
            played = play(plan, agent, run_, seed=1, concurrency=concurrency)
            wall = time.monotonic() - began
            ours, engine = cpu_s() - ours, run_.engine.stats()["cpu_s"] - before
        say(f"cells: {cells} in {wall:.2f} s; CPU each: runner {ms(ours, cells)}, engine {ms(engine, cells)}")
    check(played)
    return wall, played


def cpu_s() -> float:
    """CPU seconds of this process, without its children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ms(seconds: float, cells: int) -> str:
    return f"{seconds / cells * 1000:.2f} ms"


def check(played: tuple[Played, ...]) -> None:
    """Every cell has its one call and an answer, or the figures mean nothing."""
    for one in played:
        history = one.history
        if history.voids or len(history.exchanges) != 1 or history.agent is None or history.agent.exit_code:
            raise RuntimeError(f"{one.invocation.id}: {history.voids} {history.agent}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> Any:
    """By itself: `python -m tests.bench.cells`."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
        for row in run(Path(folder), quick="--quick" in sys.argv):
            say(f"{row.title}: {[round(value, 2) for value in row.rounds]} {row.unit} (≤ {row.target})")
    say(f"load {os.getloadavg()}")


if __name__ == "__main__":
    main()
