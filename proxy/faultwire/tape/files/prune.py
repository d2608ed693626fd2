"""Old tapes are removed, with their seals and whatever SQLite left beside them."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import TapeError, UsageError
from faultwire.tape.format.file import SEAL
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_AGE = re.compile(r"([1-9][0-9]{0,5})([hdw])\Z")
_HOURS = {"h": 1, "d": 24, "w": 168}
_BESIDE = ("-wal", "-shm", "-journal", SEAL)


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
    found = (_old(path) for path in paths)
    return [one for one in found if one is not None and one.created_ms < before_ms]


def _old(path: Path) -> Old | None:
    """None where it is no file (any more)."""
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            return None
        size = sum(one.lstat().st_size for one in _files(path))
    except OSError:
        return None
    try:
        with TapeReader.open(path) as reader:
            created = reader.info().created_ms
    except TapeError:
        created = about.st_mtime_ns // 1_000_000
    return Old(path, created, size)


def remove(found: Old) -> bool:
    """Delete it; False where somebody is writing it. Raises OSError.

    The tape goes last: what was interrupted is found, and removed, the next time.
    """
    fd = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in _files(found.path):
            path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def _files(path: Path) -> list[Path]:
    beside = [path.with_name(path.name + end) for end in _BESIDE]
    return [*(one for one in beside if os.path.lexists(one)), path]
