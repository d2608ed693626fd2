"""Processes and their sockets by psutil, for systems without Linux's `/proc` and netlink (macOS).

It works on Linux too, where the tests hold it to the same results as `ProcFs`. It reads the sockets of each
process by itself, so it knows of a listening port only where a watched process has it.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import psutil

from faultwire.capture.bypass import OutboundSocket, SocketTable, plain
from faultwire.capture.processes import ProcessTable, Stat
from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from faultwire.capture.bypass import Transport

    Key = tuple[Any, ...]
    """Family, kind, local and remote address of a socket."""

CONNECTED = frozenset(
    {
        psutil.CONN_ESTABLISHED,
        psutil.CONN_SYN_SENT,
        psutil.CONN_FIN_WAIT1,
        psutil.CONN_FIN_WAIT2,
        psutil.CONN_CLOSE_WAIT,
    }
)
"""What a process holds that has connected, or tries to (`bypass.CONNECTED`)."""


class PsutilTable(ProcessTable):
    """All processes as psutil shows them. The number of a socket stands for its addresses: psutil does not
    say which descriptors of two processes are one socket."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[Key, int] = {}
        self._before: dict[Key, int] = {}
        self._made = 0
        self._open: dict[int, OutboundSocket] = {}
        self._listening: set[int] = set()

    def pids(self) -> list[int]:
        """The numbers of all processes. With them a new look begins: sockets that two looks have not seen are
        forgotten."""
        self._before, self._numbers = self._numbers, {}
        self._open.clear()
        self._listening.clear()
        return psutil.pids()

    def stat(self, pid: int) -> Stat | None:
        """Parent, start in milliseconds, and `Z` for a process that has ended; None where it is gone."""
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
                return Stat(process.ppid(), round(process.create_time() * 1000), "Z" if ended else "S")
        except psutil.Error:
            return None

    def sockets(self, pid: int) -> frozenset[int] | None:
        """Its TCP and UDP sockets; `read` tells where they lead."""
        try:
            each = psutil.Process(pid).net_connections(kind="inet")
        except psutil.AccessDenied:
            found = self.stat(pid)
            return None if found is not None and not found.ended else frozenset()
        except psutil.Error:
            return frozenset()  # it is gone
        return frozenset(self._take(one) for one in each)

    def space(self, pid: int) -> str:
        """One for all: a process of another namespace is seen like any other."""
        return "psutil"

    def table(self, pid: int, name: str) -> str:
        """None: there are no files."""
        return ""

    def read(self, wanted: Container[int] | None = None) -> SocketTable:
        """What the last look saw: all that listen, and with a peer those that are `wanted`."""
        each = self._open.items()
        return SocketTable(set(self._listening), [one for at, one in each if wanted is None or at in wanted])

    def _take(self, one: Any) -> int:
        key = (one.family, one.type, one.laddr, one.raddr)
        number = self._numbers.get(key) or self._before.get(key)
        if number is None:
            self._made += 1
            number = self._made
        self._numbers[key] = number
        if one.status == psutil.CONN_LISTEN:
            self._listening.add(one.laddr.port)
        elif one.raddr and (one.type == socket.SOCK_DGRAM or one.status in CONNECTED):
            peer = plain(socket.inet_pton(one.family, one.raddr.ip.partition("%")[0]))
            transport: Transport = "udp" if one.type == socket.SOCK_DGRAM else "tcp"
            self._open[number] = OutboundSocket(
                number, one.laddr.port, Bypass(peer, one.raddr.port, transport)
            )
        return number
