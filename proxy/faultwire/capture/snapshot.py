"""What one look at the sockets of processes shows: worked out once, for all watches that share a process.

Cells of a server watch the same process, sixteen of them at a time; it is asked once in each look what it
holds and where that leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.capture.bypass import counts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from faultwire.capture.bypass import OutboundSocket
    from faultwire.capture.processes import ProcessTable
    from faultwire.events import Bypass

    class Watch(Protocol):
        """Who watches processes: a `bypass_watch.InvocationWatch`."""

        mine: dict[int, int]
        """Processes that are watched, and when they started."""
        unread: set[int]
        """Those of them whose sockets we may not see."""

        def unsettled(self, inodes: set[int]) -> set[int]:
            """The sockets of which is not known yet where they lead."""


class SocketSnapshot:
    """What one look at a network namespace showed, worked out once for all who watch there."""

    def __init__(self, each: Iterable[OutboundSocket], listening: set[int]) -> None:
        self.settled: set[int] = set()
        """TCP sockets of which is known now where they lead."""
        self.outward: dict[Bypass, set[int]] = {}
        """Where those lead that the process itself connected, with their inodes."""
        self.udp: list[OutboundSocket] = []
        for one in each:
            if one.to.transport == "udp":
                self.udp.append(one)
                continue
            self.settled.add(one.inode)
            if one.local_port not in listening and counts(one.to):
                self.outward.setdefault(one.to, set()).add(one.inode)


class ProcessSockets:
    """What processes hold as one look finds it: several watches may share a process, and it is asked once."""

    def __init__(self, procs: ProcessTable) -> None:
        self._procs = procs
        self._sockets: dict[int, frozenset[int] | None] = {}
        self._spaces: dict[tuple[int, int], str | None] = {}

    def unsettled(self, watch: Watch) -> dict[str, tuple[int, set[int]]]:
        """By network namespace: a process in it, and the sockets of this watch that are not settled."""
        held: dict[int, frozenset[int]] = {}
        for pid in watch.mine:
            if pid not in self._sockets:
                self._sockets[pid] = self._procs.sockets(pid)
            inodes = self._sockets[pid]
            if inodes is None:
                watch.unread.add(pid)
            elif inodes:
                held[pid] = inodes
        left = watch.unsettled(set().union(*held.values()))
        found: dict[str, tuple[int, set[int]]] = {}
        for pid, inodes in held.items():
            space = self._space(pid, watch.mine[pid]) if inodes & left else None
            if space is not None:
                found.setdefault(space, (pid, set()))[1].update(inodes & left)
        return found

    def _space(self, pid: int, started: int) -> str | None:
        """The network namespace of a process; None where it is another one by now."""
        which = pid, started
        if which not in self._spaces:
            # Asked after its sockets were: what was seen is then certainly of this one.
            still = self._procs.is_still(pid, started)
            self._spaces[which] = self._procs.space(pid) if still else None
        return self._spaces[which]
