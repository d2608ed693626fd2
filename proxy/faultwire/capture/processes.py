"""The processes of this machine: who started whom, and which sockets each of them has.

`ProcessTable` is what a watch asks. `ProcFs` reads `/proc` (`proc(5)`, Linux); `psutil_table` has the one for
every other system. Reading a process costs time, so one that was seen before is not read again; a number that
was given to a new process is recognised by the instant at which that started.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_SOCKET = "socket:["
_LINE = 4096


class Stat(NamedTuple):
    """`parent` is a process id; `started` counts from a fixed instant, in a unit of the table's own."""

    parent: int
    started: int
    state: str

    @property
    def ended(self) -> bool:
        """Does only its number remain, for its parent to ask how it ended?"""
        return self.state in "ZX"


class ProcessTable(ABC):
    """What is known of all processes; used by one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[int, Stat] = {}
        self._children: dict[int, list[int]] = {}

    @property
    def readable(self) -> bool:
        """Can processes and their sockets be seen on this system? Asked of our own process."""
        pid = os.getpid()
        return self.stat(pid) is not None and self.sockets(pid) is not None

    @abstractmethod
    def pids(self) -> list[int]:
        """The numbers of all processes; none where nobody says."""

    @abstractmethod
    def stat(self, pid: int) -> Stat | None:
        """What the system says of a process; None where it is gone."""

    @abstractmethod
    def sockets(self, pid: int) -> frozenset[int] | None:
        """A number for each of a process's sockets, the same for as long as the socket is open; None where
        we may not look."""

    @abstractmethod
    def space(self, pid: int) -> str:
        """The network namespace of a process, empty where nobody says."""

    @abstractmethod
    def table(self, pid: int, name: str) -> str:
        """A table of `/proc/PID/net` for a process's network namespace; empty where there is none."""

    def forget(self, pid: int | None = None) -> None:
        """What was known of a process is old: its number may have been given to another; so with all."""
        if pid is None:
            self._known.clear()
        else:
            self._known.pop(pid, None)

    def refresh(self) -> None:
        """Look who is there."""
        before, self._known = self._known, {}
        for pid in sorted(self.pids()):
            found = before.get(pid) or self.stat(pid)
            if found is not None:
                self._known[pid] = found
        self._children = {}
        for pid, found in self._known.items():
            self._children.setdefault(found.parent, []).append(pid)

    def family(self, mine: dict[int, int]) -> None:
        """Add whom the processes in `mine` (number and start) have started; leave out who is gone.

        One whose parent has ended stays: it was seen while it was its child.
        """
        for pid in [pid for pid, started in mine.items() if self._started(pid) != started]:
            del mine[pid]
        waiting = list(mine)
        while waiting:
            parent = waiting.pop()
            for pid in self._children.get(parent, ()):
                started = self._started(pid)
                if pid not in mine and started is not None and started >= mine[parent]:
                    mine[pid] = started
                    waiting.append(pid)

    def _started(self, pid: int) -> int | None:
        found = self._known.get(pid)
        return found.started if found is not None else None

    def is_still(self, pid: int, started: int) -> bool:
        """Is it the same process as the one that started then? Asked of the kernel, not of what is known."""
        found = self.stat(pid)
        return found is not None and found.started == started


class ProcFs(ProcessTable):
    """The table of `/proc`. The numbers of sockets are their inodes."""

    def __init__(self, proc: Path) -> None:
        super().__init__()
        self._proc = str(proc)

    @property
    def readable(self) -> bool:
        """Is there a `/proc`, and are we in it under our own number? In a container that shows the processes
        of another one, a number says nothing."""
        try:
            return os.readlink(f"{self._proc}/self") == str(os.getpid()) and super().readable
        except OSError:
            return False

    def pids(self) -> list[int]:
        """The folders that are named by a number."""
        try:
            return [int(name) for name in os.listdir(self._proc) if name.isdecimal()]
        except OSError:
            return []

    def stat(self, pid: int) -> Stat | None:
        """What the kernel says of a process; None where it is gone."""
        try:
            line = _read(f"{self._proc}/{pid}/stat")
        except OSError:
            return None
        # The program's name stands in parentheses, and may hold some.
        words = line[line.rfind(b")") + 1 :].split()
        try:
            return Stat(int(words[1]), int(words[19]), words[0].decode("latin-1"))
        except (IndexError, ValueError):
            return None

    def sockets(self, pid: int) -> frozenset[int] | None:
        """The inodes of a process's sockets; None where we may not look."""
        folder = f"{self._proc}/{pid}/fd"
        try:
            names = os.listdir(folder)
        except PermissionError:
            found = self.stat(pid)
            return None if found is not None and not found.ended else frozenset()
        except OSError:
            return frozenset()  # it is gone
        return frozenset(filter(None, (_inode(f"{folder}/{name}") for name in names)))

    def space(self, pid: int) -> str:
        """The network namespace of a process, empty where nobody says."""
        try:
            return os.readlink(f"{self._proc}/{pid}/ns/net")
        except OSError:
            return ""

    def table(self, pid: int, name: str) -> str:
        """A table of the sockets in a process's network namespace; empty where there is none."""
        try:
            with open(f"{self._proc}/{pid}/net/{name}", encoding="ascii", errors="replace") as file:
                return file.read()
        except OSError:
            return ""


def _read(path: str) -> bytes:
    """A file of `/proc` that is one short line; a file object would ask the kernel three times as often."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _LINE)
    finally:
        os.close(file)


def _inode(link: str) -> int | None:
    """The inode of a socket that a descriptor stands for."""
    try:
        target = os.readlink(link)
    except OSError:
        return None
    digits = target.removeprefix(_SOCKET).removesuffix("]") if target.startswith(_SOCKET) else ""
    return int(digits) if digits.isdecimal() else None
