"""The same chance for a command in each run, as far as a preload reaches: Python's and Node's."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SEED, MARK = "FAULTWIRE_CHANCE_SEED", "FAULTWIRE_CHANCE_MARK"
"""Read by `chance_preload.py` and `node_preload.cjs`: the seed, and the file in which they leave a mark."""
PRELOAD = Path(__file__).with_name("chance_preload.py")
_FIXED = "1"


@dataclass(frozen=True, slots=True)
class FixedChance:
    """A folder with what is put before a Python program, and with the mark of those that it ran in."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> FixedChance:
        """Make the folder, which must not exist."""
        folder.mkdir(parents=True)
        shutil.copyfile(PRELOAD, folder / "sitecustomize.py")
        return cls(folder)

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the same chance for whatever is started with it. Node's preload is there already."""
        given = base.get("PYTHONPATH")
        return {
            **base,
            "PYTHONPATH": f"{self.folder}{os.pathsep}{given}" if given else str(self.folder),
            "PYTHONHASHSEED": "0",
            SEED: _FIXED,
            MARK: str(self._mark),
        }

    @property
    def _mark(self) -> Path:
        return self.folder / "mark"

    def reached(self) -> bool:
        """Did it run in any program since it was asked last?"""
        seen = self._mark.exists()
        self._mark.unlink(missing_ok=True)
        return seen
