"""The folder of one run: `.faultwire/runs/<id>/`, for its user alone (0700).

run.json       what was run, with which seed, and how it ended
events.jsonl   what happened, one JSON object a line, in order
run.tape       the recorded traffic
report.html    for people
report.json    for programs
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from faultwire import clock, dice
from faultwire.errors import FaultError, UsageError

STATE = Path(".faultwire")
"""Where everything that faultwire writes goes, below the working directory."""


ROOM, ROOM_NAME = 64 * 1024, ".room"
"""Bytes that a run keeps for the word of how it ended, should the disk be full by then, and where."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_WRITE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


def private_dir(path: Path) -> Path:
    """Make a folder and its missing parents, each for its owner alone."""
    missing = [path, *path.parents]
    for folder in reversed([p for p in missing if not p.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    return path


def state(base: Path = STATE) -> Path:
    """Make the folder for everything that faultwire writes; keys and tapes in it stay out of git.

    Raises UsageError.
    """
    try:
        private_dir(base)
        ignore = base / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise UsageError(
            f"cannot write below `{base}`: {error.strerror}",
            code="run.folder",
            hint="run from a folder that you may write to",
        ) from error
    return base


def is_held(path: Path) -> bool:
    """Does the process that writes a run's folder live? True where that cannot be found out."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


class RunFolder:
    """One run's folder, and the only writer of its `run.json`; the engine appends to its events, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._held: int | None = None

    @classmethod
    def create(cls, command: str, *, base: Path = STATE, **about: Any) -> RunFolder:
        """A new folder, named by the moment and eight random digits. Raises UsageError."""
        moment = clock.utc_now()
        name = f"{moment:%Y%m%dT%H%M%SZ}-{dice.token(4)}"
        try:
            path = private_dir(state(base) / "runs") / name
            path.mkdir(mode=0o700)
        except OSError as error:
            raise UsageError(
                f"cannot write the run's folder below `{base}`: {error.strerror}",
                code="run.folder",
                hint="run from a folder that you may write to",
            ) from error
        folder = cls(path)
        folder.hold()
        folder.make_room()
        folder.note(
            version="1", id=name, command=command, started_at=moment.isoformat(timespec="seconds"), **about
        )
        return folder

    def hold(self) -> None:
        """Lock the folder for as long as this process lives: what is `running` and not locked has died."""
        if sys.platform == "win32":
            return
        import fcntl

        with suppress(OSError):  # a file system without locks: nobody will say that it died
            self._held = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def make_room(self) -> None:
        """Take the space of `run.json` now; a disk that has none is told where something is written."""
        with suppress(OSError), self._open(ROOM_NAME, os.O_TRUNC) as file:
            file.write("\n" * ROOM)

    @property
    def id(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def removed(self) -> str | None:
        """What it means that the folder is gone; None where it is there."""
        if self.path.is_dir():
            return None
        return (
            f"its folder `{self.path}` was removed while it ran, and with it the tape and the certificates "
            "that clients were to trust"
        )

    @property
    def tape(self) -> Path:
        """Where the run's traffic is recorded."""
        return self.path / "run.tape"

    def note(self, **about: Any) -> None:
        """Add to `run.json`; replaced as a whole, so that a reader never sees half of it."""
        with self._lock:
            self._about.update(about)
            text = json.dumps(self._about, indent=2) + "\n"
            try:
                self._replace("run.json", text)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                (self.path / ROOM_NAME).unlink(missing_ok=True)
                self._replace("run.json", text)

    def event(self, kind: str, **fields: Any) -> None:
        """Append a line to `events.jsonl`."""
        line = json.dumps({"type": kind, "at": clock.iso(clock.wall_ms()), **fields})
        with self._lock, self._open("events.jsonl", os.O_APPEND) as file:
            file.write(line + "\n")

    def write(self, name: str, text: str) -> Path:
        """Write one of the run's files, whole or not at all."""
        with self._lock:
            return self._replace(name, text)

    def end(self, status: str, **about: Any) -> None:
        """Say how the run ended: `finished`, `interrupted` or `void`. Where that cannot be written only the
        first raises: whoever ends a run otherwise has a reason of their own."""
        try:
            self.note(status=status, ended_at=clock.utc_now().isoformat(timespec="seconds"), **about)
            (self.path / ROOM_NAME).unlink(missing_ok=True)
        except (FaultError, OSError):
            if status == "finished":
                raise
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _replace(self, name: str, text: str) -> Path:
        target, draft = self.path / name, f".{name}.draft"
        try:
            with self._open(draft, os.O_TRUNC) as file:
                file.write(text)
        except OSError:
            (self.path / draft).unlink(missing_ok=True)
            raise
        (self.path / draft).replace(target)
        return target

    def _open(self, name: str, mode: int) -> Any:
        try:
            handle = os.open(self.path / name, _WRITE | mode, 0o600)
        except FileNotFoundError:
            raise FaultError(f"the run is inconclusive: {self.removed}", code="run.folder") from None
        return os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace")
