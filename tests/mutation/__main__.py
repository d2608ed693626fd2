"""`python -m tests.mutation core|python [--room NAME] [--shard K/N] [--function NAME]`: would the tests
notice?

Every mutant is a small change to the code. One that no test notices, and that `equivalents.toml` does not
list with a reason, fails the job; so does a listed one that a test kills. Exit codes: 0 all is well, 1 not,
2 no run: a wrong argument, or another run is under way.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.mutation import core, outcome, python
from tests.mutation.rooms import CORE, PYTHON


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("kind", choices=("core", "python"))
    parser.add_argument("--room", action="append", help="one or several; without it, all")
    parser.add_argument("--shard", help="K/N, the Kth (from 0) of N parts of each room")
    parser.add_argument(
        "--function", action="append", help="for Python: only mutants of functions of this name"
    )
    parser.add_argument("--minutes", type=float, help="for Python: how long mutants of a room are taken up")
    parser.add_argument(
        "--seconds", type=float, help="for Python: how long the tests of a mutant take at most"
    )
    parser.add_argument("--resume", action="store_true", help="for Python: go on where a run of it ended")
    parser.add_argument("--children", type=int, default=2, help="for Python: mutants tested at once")
    given = parser.parse_args(arguments)
    rooms = CORE if given.kind == "core" else PYTHON
    names = [room.name for room in rooms]
    unknown = set(given.room or ()) - set(names)
    if unknown:
        parser.error(f"found the room `{min(unknown)}`, expected one of {', '.join(names)}")
    part = python.Part(tuple(given.function or ()), given.shard, given.minutes, given.seconds, given.resume)
    if given.kind == "core" and part != python.Part(shard=given.shard):
        parser.error("found an option for Python with core, expected --room and --shard")
    try:
        python.position(part.shard)
    except ValueError as error:
        parser.error(str(error))
    listed = outcome.equivalents(given.kind)
    verdicts = []
    with alone(given.kind):
        for room in rooms:
            if given.room and room.name not in given.room:
                continue
            found = (
                core.mutants(room, part.shard) if room in CORE else python.mutants(room, given.children, part)
            )
            verdicts.append(outcome.judge(room.name, found, listed, whole=part.whole))
    rows = [verdict.lines() for verdict in verdicts]
    print("\n" + outcome.HEAD)
    print("\n".join(lines[0] for lines in rows))
    print("\n".join(line for lines in rows for line in lines[1:]))
    return 0 if all(verdict.holds for verdict in verdicts) else 1


@contextmanager
def alone(kind: outcome.Kind) -> Iterator[None]:
    """Only one run of a kind in this project at a time. Exits with 2 where another is under way."""
    path = core.ROOT / "target" / "mutation" / f"{kind}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"found another run over {kind} in this project, expected none: wait for its end",
                file=sys.stderr,
            )
            sys.exit(2)
        yield


if __name__ == "__main__":
    sys.exit(main())
