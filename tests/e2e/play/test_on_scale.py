"""Campaigns of many cells, with workers and a scheduler that are killed: one outcome, however it is played.

`FAULTWIRE_CELLS` is how many cells: 10,000 is what is promised, 1,000 what a night has time for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.bench.campaign import play, same, write

pytestmark = pytest.mark.nightly
CELLS = int(os.environ.get("FAULTWIRE_CELLS", "1000"))
PLACES = ("local:1!", "local:2!", "local:4!", "dask:2!")
"""Where a worker is killed every 30 s; the scheduler of Dask once."""


def test_many_cells_on_one_two_and_four_workers_that_are_killed_have_one_outcome(tmp_path: Path) -> None:
    write(tmp_path, CELLS)
    found = {place: play(tmp_path, CELLS, place) for place in PLACES}
    print(json.dumps(found, indent=1))
    assert same(found), found  # 0 lost, 0 doubled, one ledger, the same verdicts
    assert found["dask:2!"]["restarted"] == 1
    if CELLS >= 1000:  # or it was over before the first kill
        assert all(each["killed"] for each in found.values())


COUNTING = """
import atexit, json, sys
from faultwire.campaign.leases import Leases

taken, settle, take = [], Leases.settle, Leases.take

def counted(self, cell):
    found = settle(self, cell) or (UNLEASED and cell in self._known)
    taken.extend([cell] * found)
    return found

def unleased(self, batch, most, until):
    cells = take(self, batch, most, until)
    for cell in cells:  # given out, and free all the same
        self._free[cell] = None
    return cells

UNLEASED = sys.argv.pop(1) == "unleased"
Leases.settle = counted
if UNLEASED:
    Leases.take = unleased
atexit.register(lambda: print(json.dumps([len(taken), len(set(taken))])))

from faultwire.cli import main
sys.argv[0] = "faultwire"
main()
"""


@pytest.mark.parametrize("leases", ["leased", "unleased"])
def test_without_leases_cells_double(tmp_path: Path, leases: str) -> None:
    write(tmp_path, 80)
    words = ("contract", "run", "-q", "--allow-unknown", "--on", "local:2")
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, leases, *words],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    taken, cells = found
    assert cells == 80, done.stderr
    assert (taken > cells) is (leases == "unleased")
