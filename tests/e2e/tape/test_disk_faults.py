"""Every call of the writer that reaches the disk fails once, in every way a disk can fail."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest
from disk import AFTER, HALF, KILLED, Disk, fresh, judged

WAYS = {
    "EIO": errno.EIO,
    "ENOSPC": errno.ENOSPC,
    "KILL": KILLED,
    "HALF": HALF,
    "AFTER": AFTER,
}
LOAD = {"turns": 4, "checkpoint": 6, "seal_every": 3}
LONG_S = 3600
SAMPLE = 30


def calls(disk: Disk, folder: Path, do: str = "write") -> int:
    """How many calls the same job makes where nothing fails."""
    left = disk.do(fresh(folder), **LOAD)
    if do == "seal":
        (folder / "disk" / "t.tape.seal").unlink()
        left = disk.do(folder, "seal")
    assert left.outcome["error"] is None
    assert left.outcome["failed"] is None
    return int(left.outcome["calls"])


def bad(disk: Disk, folder: Path, n: int, way: str, *, forever: bool) -> list[str]:
    left = disk.do(fresh(folder), at=-n if forever else n, how=WAYS[way], **LOAD)
    return [f"{way} at call {n}: {wrong}" for wrong in judged(left)]


def cases(count: int) -> list[tuple[int, str, bool]]:
    """Each call fails once, and for the errors also from then on."""
    once = [(n, way, False) for n in range(1, count + 1) for way in WAYS]
    return once + [(n, way, True) for n in range(1, count + 1) for way in ("EIO", "ENOSPC")]


def test_a_sample_of_calls_may_fail(disk: Disk, tmp_path: Path) -> None:
    found = cases(calls(disk, tmp_path / "job"))
    for n, way, forever in random.Random(7).sample(found, SAMPLE):
        assert bad(disk, tmp_path / "job", n, way, forever=forever) == []


@pytest.mark.nightly
@pytest.mark.timeout(LONG_S)
def test_every_call_may_fail(disk: Disk, tmp_path: Path) -> None:
    found = cases(calls(disk, tmp_path / "job"))
    wrong = [one for n, way, ever in found for one in bad(disk, tmp_path / "job", n, way, forever=ever)]
    print(f"{len(found)} faults, {len(wrong)} bad outcomes")
    assert wrong == []


@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize("part", [pytest.param(6, id="sample"), pytest.param(0, marks=pytest.mark.nightly)])
def test_a_later_seal_may_fail_at_every_call(disk: Disk, tmp_path: Path, part: int) -> None:
    """`tape seal` on a closed tape: whatever stops it, it can be done again."""
    folder = tmp_path / "job"
    found = cases(calls(disk, folder, "seal"))
    chosen = random.Random(7).sample(found, min(part, len(found))) if part else found
    for n, way, forever in chosen:
        disk.do(fresh(folder), **LOAD)
        (folder / "disk" / "t.tape.seal").unlink()
        left = disk.do(folder, "seal", at=-n if forever else n, how=WAYS[way])
        assert judged(left) == [], f"{way} at call {n}"
    print(f"{len(chosen)} faults of a seal, 0 bad outcomes")


@pytest.mark.nightly
def test_the_judge_sees_a_lost_exchange(disk: Disk, tmp_path: Path) -> None:
    left = disk.do(fresh(tmp_path / "job"), **LOAD)
    left.acknowledged.add(999)
    assert judged(left) == ["acknowledged and lost: [999]"]


@pytest.mark.nightly
def test_the_judge_sees_a_damaged_tape(disk: Disk, tmp_path: Path) -> None:
    left = disk.do(fresh(tmp_path / "job"), **LOAD)
    data = bytearray(left.tape.read_bytes())
    data[len(data) // 2] ^= 1
    left.tape.chmod(0o600)
    left.tape.write_bytes(data)
    assert judged(left)
