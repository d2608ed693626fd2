"""The folder that an audit's command starts in, as it was before the first run."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = 64 << 20
FILES = 5_000
LINKED = frozenset({".git", ".venv", "venv", "node_modules", "target", "__pycache__"})
"""Folders that are not copied but linked to: a run that writes there leaves that behind."""
LEFT_OUT = frozenset({".faultwire"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the folder, or why there is none."""

    kept: Path
    used: Path
    why_not: str = ""

    @classmethod
    def take(cls, folder: Path, place: Path) -> Snapshot:
        """Copy a folder below `place`, if it is small enough."""
        size = count = 0
        for path in _files(folder):
            try:
                size += path.lstat().st_size
            except OSError:
                continue
            count += 1
            if size > BYTES or count > FILES:
                most = f"{BYTES >> 20} MB and {FILES} files"
                return cls(place, place, f"the folder holds more than is copied ({most})")
        _copy(folder, place / "kept")
        return cls(place / "kept", place / "used")

    def fresh(self) -> Path:
        """The folder as it was, always at the same path."""
        shutil.rmtree(self.used, ignore_errors=True)
        _copy(self.kept, self.used)
        return self.used


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in LINKED | LEFT_OUT]
        yield from (Path(root) / name for name in names)


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for entry in os.scandir(source):
        if entry.name in LEFT_OUT:
            continue
        if entry.name in LINKED:
            (target / entry.name).symlink_to(Path(entry.path).resolve())
        elif entry.is_symlink():
            (target / entry.name).symlink_to(os.readlink(entry.path))
        elif entry.is_dir():
            _copy(Path(entry.path), target / entry.name)
        elif entry.is_file():
            shutil.copy2(entry.path, target / entry.name)
