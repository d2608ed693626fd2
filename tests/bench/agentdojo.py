"""`python -m tests.bench.agentdojo PYTHON [--attack NAME …] [--pairs N] [--journal FILE]`: AgentDojo, live.

Every pair is worked on by an agent in a process of its own, through the proxy, with a scripted model that
obeys; what comes of it is compared with the same model inside of the framework. PYTHON has the package.
Pairs that the journal holds are not played again, so a long run may be ended and gone on with.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.benchmarks.test_agentdojo import RELEASE, same_context, same_outcome

from faultwire.benchmarks.plan import Outcome, Pair, spread
from faultwire.benchmarks.player import CONTROL, ROUTE, Player
from faultwire.benchmarks.run import attack_order
from faultwire.benchmarks.server import TaskServer
from faultwire.runner.launch import LaunchSettings, start_run

BATCH = 24
"""Pairs of one run of the proxy."""


class Row(NamedTuple):
    """What came of one pair. `refused`: inside of the framework no environment can carry the payload."""

    attack: str
    label: str
    known: bool
    obeyed: bool | None
    reach: str | None
    void: str
    outcome: bool
    context: bool
    refused: bool


def compared(attack: str, one: Outcome, reference: dict[str, Any]) -> Row:
    """A pair on the wire beside the same inside."""
    refused = "refused" in reference
    return Row(
        attack, one.pair.label, one.pair.scored_wrong, one.obeyed, one.reach, one.void,
        not refused and same_outcome(one, reference), not refused and same_context(one, reference), refused,
    )  # fmt: skip


def play(server: TaskServer, attack: str, pairs: list[Pair]) -> Iterator[Row]:
    """Play these pairs behind one proxy."""
    asked = attack_order(attack, server.about["attacks"], RELEASE)
    route = {ROUTE: f"http://127.0.0.1:{server.port}"}
    with start_run(LaunchSettings("bench", reverse=route)) as run:
        player = Player(server, run, asked, CONTROL, 300.0, 42, obeys=1.0, keep=True)
        outcomes = player.play_all([("agent", pair) for pair in pairs], 2, lambda _: None)
        run.folder.end("finished")
    for one in outcomes:
        order = {**asked, **one.pair._asdict(), "obeys": True, "word": ""}
        yield compared(attack, one, server.ask("reference", **order))


def lines(attack: str, rows: list[Row]) -> Iterator[str]:
    """The figures of one attack; the known error of the framework stands by itself."""
    valid = [row for row in rows if not row.void and not row.refused]
    equal = [row for row in valid if row.outcome or (row.known and row.obeyed)]
    same = [row for row in valid if row.context]
    total = max(len(valid), 1)
    yield (
        f"{attack}: {len(rows)} pairs, {sum(row.reach == 'reached' for row in rows)} reached, "
        f"outcomes equal {len(equal)} of {len(valid)} ({len(equal) / total:.2%}; "
        f"{sum(row.outcome for row in valid)} with the known error), "
        f"contexts {len(same)} ({len(same) / total:.2%}), obeyed {sum(bool(row.obeyed) for row in valid)}"
    )
    for name, odd in (
        ("inconclusive", [row for row in rows if row.void]),
        ("refused by the framework", [row for row in rows if row.refused]),
        ("other outcome", [row for row in valid if row not in equal]),
        ("other context", [row for row in valid if row not in same]),
    ):
        if odd:
            yield f"  {name}: {len(odd)}: {', '.join(row.label for row in odd[:10])}"


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("python", type=Path)
    asked.add_argument("--attack", action="append")
    asked.add_argument("--pairs", type=int)
    asked.add_argument("--journal", type=Path, default=Path("agentdojo.jsonl"))
    given = asked.parse_args()
    given.journal.touch()
    rows = [Row(**json.loads(line)) for line in given.journal.read_text().splitlines()]
    with TaskServer(given.python, "agentdojo_tasks") as server, given.journal.open("a") as file:
        every = [Pair(*one) for one in server.ask("pairs", version=RELEASE)]
        for attack in given.attack or ["important_instructions"]:
            done = {row.label for row in rows if row.attack == attack}
            todo = [pair for pair in spread(every, given.pairs) if pair.label not in done]
            for at in range(0, len(todo), BATCH):
                for row in play(server, attack, todo[at : at + BATCH]):
                    rows.append(row)
                    file.write(json.dumps(row._asdict()) + "\n")
                file.flush()
            wanted = {pair.label for pair in spread(every, given.pairs)}
            mine = [row for row in rows if row.attack == attack and row.label in wanted]
            print(*lines(attack, mine), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
