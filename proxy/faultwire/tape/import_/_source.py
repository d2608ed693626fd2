"""Opening files that others wrote: regular ones only, and no more of them than memory holds."""

from __future__ import annotations

import io
import json
import os
import stat
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.errors import TapeError, TapeNotFound

if TYPE_CHECKING:
    from pathlib import Path

MAX_WHOLE = 256 << 20
"""A file that must be read as one is not longer."""
MAX_DOCUMENT = 64 << 20
"""Nor is JSON that must be parsed as one: its values may take many times its size."""
_BOM = b"\xef\xbb\xbf"


class Bounded(io.BufferedReader):
    """A file of which nobody can ask for more than there is: a format's claim of 10 GB allocates nothing."""

    def __init__(self, fd: int) -> None:
        super().__init__(io.FileIO(fd, "rb"), 1 << 16)
        self.size = os.fstat(fd).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """As of any file, with `size` no larger than what is left."""
        left = max(0, self.size - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))


def opened(path: Path) -> Bounded:
    """The file at `path`. Raises TapeNotFound, or TapeError where it is no regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise TapeNotFound(f"no file at `{path}`") from error
    except OSError as error:
        why = "is a symbolic link" if path.is_symlink() else error.strerror
        raise TapeError(f"cannot open `{path}`: {why}", code="tape.import_unreadable") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TapeError(f"`{path}` is not a file", code="tape.import_unreadable")
    return Bounded(fd)


def whole(path: Path, most: int = MAX_WHOLE) -> bytes:
    """All of a file, without a byte order mark. Raises TapeError where it is too long."""
    with opened(path) as source:
        if source.size > most:
            raise TapeError(
                f"`{path}` has {source.size} bytes, expected at most {most}", code="tape.import_size"
            )
        try:
            return source.read().removeprefix(_BOM)
        except OSError as error:
            why = error.strerror
            raise TapeError(f"cannot read `{path}`: {why}", code="tape.import_unreadable") from error


def parsed(data: bytes, *, exact: bool = False) -> Any:
    """The value of JSON text, bytes that are no UTF-8 in it replaced; `exact` keeps integers of any length.

    Raises ValueError for anything that is no JSON, or nested deeper than a reader can follow.
    """
    if not exact:
        with suppress(ValueError):
            return orjson.loads(data)
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def dumped(value: Any) -> bytes:
    """JSON text of a value that `parsed` gave, or that came out of one."""
    try:
        return orjson.dumps(value, default=str)
    except (TypeError, ValueError):  # an integer beyond 64 bits, half of a surrogate pair
        pass
    try:
        return json.dumps(value, default=str).encode()
    except RecursionError:
        return b"null"


def digest_of(path: Path) -> str:
    """SHA-256 (hex) of a file. Raises as `opened` does."""
    digest = sha256()
    with opened(path) as source:
        try:
            while data := source.read(1 << 20):
                digest.update(data)
        except OSError as error:
            why = error.strerror
            raise TapeError(f"cannot read `{path}`: {why}", code="tape.import_unreadable") from error
    return digest.hexdigest()
