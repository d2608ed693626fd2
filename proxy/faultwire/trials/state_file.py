"""A file that a search goes on from after a kill: a head, and one JSON line for each run, on disk before the
next one begins."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1


class StateFile:
    """An open state file; `earlier` are the lines that it held, without its head."""

    def __init__(self, path: Path, command: str, about: str, depends: str) -> None:
        """Open or start it. `about` is a digest of all that outcomes depend on, and `depends` says in words
        what that is. A last line that was cut off is dropped.

        Raises UsageError where it is another search's, is held by another process, or is no state file.
        """
        self.path, self.command = path, command
        self.earlier: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._hold()
            self._read(about, depends)
        except BaseException:
            os.close(self._handle)
            raise

    def append(self, line: dict[str, Any]) -> None:
        """Write down a line, and wait until it is on disk."""
        with self._lock:
            os.write(self._handle, orjson.dumps(line) + b"\n")
            os.fsync(self._handle)

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)

    def unreadable(self) -> UsageError:
        """What is raised for a line that the command does not write."""
        return self._error(f"found `{self.path}`, which is not a state file of `{self.command}`")

    def _hold(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"found `{self.path}` in use by another process, expected one search at a time",
                code=f"{self.command}.state",
            ) from None

    def _read(self, about: str, depends: str) -> None:
        with os.fdopen(os.dup(self._handle), "rb") as file:
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        head = f"faultwire_{self.command}"
        if whole:
            self._keep(whole.splitlines(), head, about, depends)
        os.truncate(self._handle, len(whole))
        os.lseek(self._handle, 0, os.SEEK_END)
        if not whole:
            self.append({head: VERSION, "about": about})

    def _keep(self, lines: list[bytes], head: str, about: str, depends: str) -> None:
        try:
            first, *self.earlier = map(orjson.loads, lines)
            if first[head] != VERSION:
                raise ValueError
            same = first["about"] == about
        except (ValueError, KeyError, TypeError):
            raise self.unreadable() from None
        if not same:
            found = f"found the state of another search in `{self.path}`"
            raise self._error(f"{found}, expected one with the same {depends}")

    def _error(self, message: str) -> UsageError:
        hint = "name another file with --state, or remove it"
        return UsageError(message, code=f"{self.command}.state", hint=hint)
