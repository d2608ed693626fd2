"""The power fails between any two calls of the writer: what was acknowledged is on the disk, and the
tape is as it was."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from disk import Disk, bad_tape, fresh, resealed
from power import Machine, calls

LOADS = (
    {"turns": 8, "checkpoint": 10, "seal_every": 5, "seed": 1},
    {"turns": 12, "seal_every": 100, "seed": 2},
    {"turns": 5, "checkpoint": 3, "seal_every": 1, "seed": 3},
)


def losses(disk: Disk, folder: Path, images: int, *, unsafe: bool = False) -> Counter[str]:
    """What so many images of a lost disk are like: `whole`, `before` (no tape yet), `lost`, `corrupt`."""
    found: Counter[str] = Counter()
    for n, load in enumerate(LOADS):
        left = disk.do(fresh(folder), log=str(folder / "log"), unsafe=unsafe, **load)
        assert left.outcome["failed"] is None
        chance = random.Random(n)
        happened = list(calls(folder / "log"))
        share = images // len(LOADS) + (n < images % len(LOADS))
        # At every call as often as at any other, and what is left of it by chance.
        due = Counter(chance.randrange(len(happened) + 1) for _ in range(share))
        machine = Machine(folder / "disk")
        for at in range(len(happened) + 1):
            for _ in range(due[at]):
                found[judged(machine, fresh(folder / "image"), chance)] += 1
            if at < len(happened):
                machine.do(happened[at])
    return found


def judged(machine: Machine, image: Path, chance: random.Random) -> str:
    machine.lose_power(image, chance)
    tape = image / "t.tape"
    if not tape.exists():
        return "lost" if machine.acknowledged else "before"
    wrong = bad_tape(tape, machine.acknowledged)
    if not wrong and chance.random() < 0.05:
        wrong = resealed(tape, machine.acknowledged)
    if not wrong:
        return "whole"
    return "lost" if all(one.startswith("acknowledged and lost") for one in wrong) else "corrupt"


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("images", [200, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_no_power_loss_loses_or_damages_anything(disk: Disk, tmp_path: Path, images: int) -> None:
    found = losses(disk, tmp_path / "job", images)
    print(dict(found))
    assert found["whole"] + found["before"] == images
    assert found["whole"] > images // 2


def test_without_syncs_the_same_images_show_it(disk: Disk, tmp_path: Path) -> None:
    """The control: SQLite is told not to sync."""
    found = losses(disk, tmp_path / "job", 200, unsafe=True)
    print(dict(found))
    assert found["lost"] > 10
    assert found["corrupt"] > 10
