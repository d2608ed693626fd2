"""Small files that anybody may have put there: seals, keys, proofs."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def small_file(
    path: Path, most: int, *, links: bool = False, judge: Callable[[int], None] | None = None
) -> bytes:
    """All of a regular file of at most `most` bytes; `links` follows a symbolic link to it.

    `judge` gets its mode before anything is read, and may raise. Raises OSError, whose `strerror` says why:
    a pipe is not waited for, a device not read, and no more of a long file than `most` bytes.
    """
    if not links and path.is_symlink():
        raise OSError(0, "it is a symbolic link")
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(path, flags if links else flags | os.O_NOFOLLOW)
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is not a file")
        if judge is not None:
            judge(mode)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(fd)
    if len(data) > most:
        raise OSError(0, f"it is longer than {most} bytes")
    return data
