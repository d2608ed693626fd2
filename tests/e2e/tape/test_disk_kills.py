"""kill -9 at any moment and at every kind of step: nothing acknowledged is lost, the tape verifies, opens
within a second, and can be sealed. Mixed load: JSON, streams, WebSocket messages, bodies of a megabyte."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from disk import AFTER, HALF, KILLED, Disk, fresh, judged
from power import calls

LOAD = {"turns": 14, "checkpoint": 12, "seal_every": 6, "large": 5}
LATEST_US = 150_000
POINTS = {"create", "link", "begin", "commit", "checkpoint", "fold", "seal", "chmod", "rename", "unlink"}


def points(disk: Disk, folder: Path) -> dict[str, list[int]]:
    """The calls of a job that nobody kills, by what step they belong to, counted from 1."""
    disk.do(fresh(folder), log=str(folder / "log"), **LOAD)
    found: dict[str, list[int]] = defaultdict(list)
    names: dict[int, str] = {}
    idle = True
    number = 0
    for call in calls(folder / "log"):
        if call.op == "A":
            continue
        number += 1
        path = call.first.decode("latin-1") if call.op in "OURLC" else names.get(call.fd, "")
        if call.op == "O":
            names[call.fd] = path
        name = path.rpartition("/")[2]
        if call.op in "LRCU":
            found[{"L": "link", "R": "rename", "C": "chmod", "U": "unlink"}[call.op]].append(number)
        elif name.endswith(".draft"):
            found["seal"].append(number)
        elif name.startswith(".t.tape"):
            found["create"].append(number)
        elif name.endswith("-journal"):
            found["fold"].append(number)
        elif name.endswith("-wal"):
            found["commit" if call.op == "S" or not idle else "begin"].append(number)
            idle = call.op == "S"
        elif name == "t.tape":
            found["checkpoint"].append(number)
    return found


def aimed(disk: Disk, folder: Path, chance: random.Random, known: dict[str, list[int]]) -> tuple[str, bool]:
    """A kill before, in the middle of or after a call of some step; which, and whether it happened."""
    point = chance.choice(sorted(known))
    how = chance.choice((KILLED, KILLED, HALF, AFTER))
    left = disk.do(fresh(folder), at=chance.choice(known[point]), how=how, **LOAD)
    assert judged(left) == [], f"{point}, {how}"
    return point, left.killed


def anywhen(disk: Disk, folder: Path, chance: random.Random) -> bool:
    """A kill at a moment of its own."""
    left = disk.do(fresh(folder), kill_after_us=chance.randrange(LATEST_US), **LOAD)
    assert judged(left) == []
    return left.killed


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [60, pytest.param(1000, marks=pytest.mark.nightly)])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(disk: Disk, tmp_path: Path, kills: int) -> None:
    known = points(disk, tmp_path / "job")
    assert set(known) == POINTS
    chance = random.Random(kills)
    done: Counter[str] = Counter()
    for n in range(kills):
        if n % 2:
            done["random"] += anywhen(disk, tmp_path / "job", chance)
        else:
            point, killed = aimed(disk, tmp_path / "job", chance, known)
            done[point] += killed
    print(f"{done.total()} kills: {dict(sorted(done.items()))}")
    assert done.total() > kills * 0.8
    assert set(done) == POINTS | {"random"}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_killed_recovery_can_be_done_again(disk: Disk, tmp_path: Path, kills: int) -> None:
    """A writer is killed, then what recovers and seals its tape, up to three times; then it is judged."""
    folder = tmp_path / "job"
    known = points(disk, folder)
    steps = [n for point in ("begin", "commit", "checkpoint", "fold", "unlink") for n in known[point]]
    chance = random.Random(kills)
    died = 0
    while died < kills:
        how = chance.choice((KILLED, HALF, AFTER))
        left = disk.do(fresh(folder), at=chance.choice(steps), how=how, **LOAD)
        if not left.killed or not left.tape.exists():
            continue
        for _ in range(3):
            how = chance.choice((KILLED, HALF, AFTER))
            left = disk.do(folder, "seal", at=chance.randrange(1, 60), how=how)
            died += left.killed
        assert judged(left) == []
    print(f"{died} kills during recovery, 0 bad outcomes")
