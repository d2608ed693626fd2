"""Old tapes are removed, with their seals and whatever SQLite left beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import TapeError, UsageError
from faultwire.tape.read import TapeReader
from faultwire.tape.seal import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_AGE = re.compile(r"([1-9][0-9]{0,5})([hdw])\Z")
_HOURS = {"h": 1, "d": 24, "w": 168}
_BESIDE = ("-wal", "-shm", "-journal", SUFFIX)


@dataclass(frozen=True, slots=True)
class Old:
    """A tape that is older than was asked for."""

    path: Path
    created_ms: int
    size: int
    """Bytes, with what stands beside it."""


def age_ms(text: str) -> int:
    """Milliseconds of `12h`, `30d` or `8w`. Raises UsageError."""
    found = _AGE.match(text)
    if found is None:
        raise UsageError(
            f"found age `{text}`, expected a number of hours, days or weeks", code="usage.age", hint="30d"
        )
    return int(found[1]) * _HOURS[found[2]] * 3_600_000


def old(paths: Iterable[Path], before_ms: int) -> list[Old]:
    """Those recorded before an instant; one that cannot be read has the age of its file."""
    return [found for path in paths if (found := _old(path)).created_ms < before_ms]


def _old(path: Path) -> Old:
    try:
        with TapeReader.open(path) as reader:
            created = reader.info().created_ms
    except TapeError:
        created = path.lstat().st_mtime_ns // 1_000_000
    return Old(path, created, sum(one.lstat().st_size for one in _files(path)))


def remove(found: Old) -> None:
    """Delete it. Raises OSError."""
    for path in _files(found.path):
        path.unlink()


def _files(path: Path) -> list[Path]:
    beside = [path.with_name(path.name + end) for end in _BESIDE]
    return [path, *(one for one in beside if one.exists())]
