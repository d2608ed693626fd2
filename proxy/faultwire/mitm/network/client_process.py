"""The program at the other end of a connection from this machine."""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from faultwire.mitm.network import peer_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.mitm.network.peer_user import Place

RECENT = 4
"""Processes that are asked before all others: most connections come from one that had some before."""
_OPEN = frozenset({"01", "08"})
"""States of a socket whose process has it open, as `/proc/net/tcp` has them: up, and ended by its peer."""


class Process(NamedTuple):
    """A process, by its number and the path of its program: with another program it is another client."""

    number: int
    program: str


class Processes:
    """Finds whose a connection is, on Linux: nobody is found elsewhere."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._recent: deque[int] = deque(maxlen=RECENT)

    def of(self, theirs: Place, ours: Place, *, apart: bool = False) -> Process | None:
        """The process whose socket is at `theirs` and leads to `ours`. `apart`: in a network namespace other
        than ours, in which a connection may lead to any address.

        None where nobody says: it has closed the socket or ended, runs on another machine, or belongs to
        another user. Takes 0.1 ms for a process that was found before, some milliseconds for others.
        """
        if not peer_user.KNOWN:
            return None
        try:
            wanted = self._apart(theirs) if apart else peer_user.inode_of(theirs, ours)
            return self._holder(wanted) if wanted else None
        except (OSError, ValueError):
            return None

    def _pids(self) -> Iterator[int]:
        """Those that were found before, then the newest first: a client has often just been started."""
        yield from list(self._recent)
        yield from sorted((int(name) for name in os.listdir(self._proc) if name.isdigit()), reverse=True)

    def _holder(self, inode: int) -> Process | None:
        link = f"socket:[{inode}]"
        own = os.getpid()
        for pid in self._pids():
            with suppress(OSError):  # it has ended, or is not ours to look at
                if pid != own and self._holds(pid, link):
                    if pid not in self._recent:
                        self._recent.appendleft(pid)
                    return Process(pid, os.readlink(f"{self._proc}/{pid}/exe"))
        return None

    def _holds(self, pid: int, link: str) -> bool:
        folder = f"{self._proc}/{pid}/fd"
        for number in sorted(map(int, os.listdir(folder)), reverse=True):
            with suppress(FileNotFoundError):
                if os.readlink(f"{folder}/{number}") == link:
                    return True
        return False

    def _apart(self, theirs: Place) -> int | None:
        seen = {os.stat(f"{self._proc}/self/ns/net").st_ino}
        for pid in self._pids():
            with suppress(OSError):
                space = os.stat(f"{self._proc}/{pid}/ns/net").st_ino
                if space not in seen:
                    seen.add(space)
                    for name in ("tcp", "tcp6"):
                        with open(f"{self._proc}/{pid}/net/{name}", encoding="ascii") as table:
                            found = inode_at(table, theirs, version6=name == "tcp6")
                        if found:
                            return found
        return None


def inode_at(table: Iterable[str], theirs: Place, *, version6: bool) -> int | None:
    """The socket in a table as `/proc/net/tcp` has it whose own end is at `theirs`."""
    wanted = peer_user.hexadecimal(theirs, version6)
    for line in table:
        fields = line.split()
        if fields[1] == wanted and fields[3] in _OPEN and fields[9] != "0":
            return int(fields[9])
    return None


def program_of(theirs: tuple[str, int], ours: tuple[str, int]) -> str | None:
    """The path of the program whose socket is at `theirs` and leads to `ours`.

    None where nobody says: the program has closed it or ended, runs on another machine, or belongs to another
    user. Takes some milliseconds, so that it belongs into a thread.
    """
    import psutil  # 6 ms that a start without a refused certificate does not need

    try:
        for one in psutil.net_connections(kind="tcp"):
            if one.laddr == theirs and one.raddr == ours and one.pid:
                return psutil.Process(one.pid).exe() or None
    except (psutil.Error, OSError):
        return None
    return None
