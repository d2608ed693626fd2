"""How long a team's pages take over a million cells: `python -m tests.bench.team_dashboards [CELLS]`.

Runs of 5,000 cells each over an SQLite file, and, where PostgreSQL's server is installed, over it. Prints the
median and the largest of `ROUNDS` askings of what the pages ask, in milliseconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import sqlalchemy as sa

from faultwire.store import team
from faultwire.store.dashboards import changing, counts, phase_names
from faultwire.store.database import in_project, open_engine
from faultwire.store.schema import cells, phases, projects, runs

ROUNDS = 9
PER_RUN = 5_000
TARGET_MS = 300
SCENARIOS = 10


def fill(engine: sa.Engine, count: int) -> str:
    """So many cells; gives the latest run. One in fifty changes between runs."""
    with in_project(engine, "shop") as connection:
        connection.execute(projects.insert().values(name="shop"))
    for number in range(count // PER_RUN):
        name = f"r{number:06}"
        key = {"project": "shop", "run": name}
        agent, second = f"g{number // 40}", f"{number // 60:02}:{number % 60:02}"
        about = {
            "id": name,
            "content": "x", "command": "ci", "status": "finished", "version": "1", "score": 0.9,
            "started_at": f"2026-01-01T00:{second}+00:00", "gate": "pass",
            "agent_digest": agent, "config_digest": "c", "profiles_digest": "p",
        }  # fmt: skip
        rows = [
            {
                **key, "phase": "contract", "number": at,
                "invocation": f"contract/s{at % SCENARIOS}/p{at}/r1",
                "invariant": "completes", "scenario": f"s{at % SCENARIOS}", "severity": "high",
                "verdict": "fail" if at % 50 == 0 and number % 2 else "pass",
            }
            for at in range(PER_RUN)
        ]  # fmt: skip
        with in_project(engine, "shop") as connection:
            connection.execute(runs.insert().values(project="shop", **about))
            connection.execute(phases.insert().values(**key, name="contract", report=b"x"))
            connection.execute(cells.insert(), rows)
    return name


@contextmanager
def databases() -> Iterator[Iterator[tuple[str, str]]]:
    from tests.e2e.store.conftest import PROGRAMS, postgresql

    with tempfile.TemporaryDirectory() as folder:

        def each() -> Iterator[tuple[str, str]]:
            yield "SQLite", f"sqlite:///{folder}/results.db"
            if PROGRAMS:
                started: Any = postgresql.__wrapped__()  # type: ignore[attr-defined]
                server = next(started)
                yield "PostgreSQL", server.url("team")
                next(started, None)

        yield each()


def questions(engine: sa.Engine, last: str) -> dict[str, Callable[[], Any]]:
    """What the pages of the latest run and of its project ask."""
    return {
        "a project's page (50 runs with counts)": lambda: counts(engine, "shop"),
        "a run's page: cells that change": lambda: changing(engine, "shop", last),
        "a run's page: the rest": lambda: (
            phase_names(engine, "shop", last), team.comments_on(engine, "shop", last)
        ),
    }  # fmt: skip


def timed(call: Callable[[], Any]) -> list[float]:
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1000)
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"load {Path('/proc/loadavg').read_text().split()[0]}, {count:,} cells")
    with databases() as found:
        for kind, url in found:
            engine = open_engine(url)
            last = fill(engine, count)
            if engine.dialect.name == "postgresql":
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(sa.text("ANALYZE"))
            for what, call in questions(engine, last).items():
                took = timed(call)
                short = "" if median(took) <= TARGET_MS else "  SHORT"
                print(f"{kind:11} {what:42} median {median(took):7.1f} ms, most {max(took):7.1f} ms{short}")
            engine.dispose()


if __name__ == "__main__":
    main()
