"""The tables of processes and sockets give the same answers about real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from faultwire.capture import sock_diag
from faultwire.capture.bypass_watch import PROC, BypassWatch, system_tables
from faultwire.capture.processes import ProcessTable, ProcFs
from faultwire.capture.psutil_table import PsutilTable
from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.capture.bypass_watch import Tables

CHILD = """
import socket, subprocess, sys
port = int(sys.argv[1])
if len(sys.argv) > 2:
    inner = subprocess.Popen([sys.executable, "-c", sys.argv[2], str(port)], stdin=subprocess.PIPE)
else:
    client = socket.create_connection(("127.0.0.1", port))
    quic = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    quic.connect(("127.0.0.1", 443))
    server = socket.create_server(("127.0.0.1", 0))
    caller = socket.create_connection(server.getsockname())
    taken, _ = server.accept()
    print(server.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Agent(NamedTuple):
    pid: int
    upstream: int
    """The port that its child has connected to."""
    own: int
    """The port that its child listens on, and has connected to itself."""


@pytest.fixture(params=["proc", "psutil"])
def tables(request: pytest.FixtureRequest) -> tuple[ProcessTable, Tables]:
    if request.param == "proc":
        if sys.platform != "linux":
            pytest.skip("only Linux has /proc and netlink")
        return ProcFs(PROC), sock_diag.read
    table = PsutilTable()
    return table, table.read


@pytest.fixture
def agent() -> Iterator[Agent]:
    """A process whose child has a TCP and a UDP socket with a peer, and a connection to itself."""
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        port = upstream.getsockname()[1]
        command = [sys.executable, "-c", CHILD, str(port), CHILD]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            yield Agent(process.pid, port, int(process.stdout.readline()))
            process.kill()


def test_our_own_process_is_seen(tables: tuple[ProcessTable, Tables]) -> None:
    procs, _ = tables
    found = procs.stat(os.getpid())
    assert procs.readable
    assert found is not None
    assert (found.parent, found.ended) == (os.getppid(), False)
    assert os.getpid() in procs.pids()
    assert procs.is_still(os.getpid(), found.started)
    assert not procs.is_still(os.getpid(), found.started - 1)


def test_an_ended_process_is_distinguished_from_one_that_is_gone(tables: tuple[ProcessTable, Tables]) -> None:
    procs, _ = tables
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its number remains
    found = procs.stat(process.pid)
    assert found is not None
    assert found.ended
    assert procs.sockets(process.pid) == frozenset()
    process.wait()
    assert (procs.stat(process.pid), procs.sockets(process.pid)) == (None, frozenset())


def test_a_family_and_where_its_sockets_lead(tables: tuple[ProcessTable, Tables], agent: Agent) -> None:
    procs, read = tables
    found = procs.stat(agent.pid)
    assert found is not None
    mine = {agent.pid: found.started}
    procs.refresh()
    procs.family(mine)
    (child,) = mine.keys() - {agent.pid}
    sockets = procs.sockets(child)
    assert sockets is not None
    assert procs.sockets(child) == sockets  # the numbers stay
    table = read(sockets)
    to = {one.to for one in table.open if one.inode in sockets and one.to.transport == "tcp"}
    assert {Bypass("127.0.0.1", agent.upstream), Bypass("127.0.0.1", agent.own)} <= to
    assert agent.own in table.listening
    assert [one for one in read(frozenset()).open if one.inode in sockets] == []


def test_a_watch_finds_what_the_family_connected_and_nothing_else(
    tables: tuple[ProcessTable, Tables], agent: Agent
) -> None:
    lookout = BypassWatch(*tables)
    watch = lookout.watch()
    with watch(agent.pid):
        lookout.look([watch])
        lookout.look([watch])  # a UDP socket counts at second sight
    peers = {Bypass("127.0.0.1", agent.upstream), Bypass("127.0.0.1", 443, "udp")}
    # Its connection to itself has two ends: one that it connected, and one that came in.
    assert set(watch.found) == {*peers, Bypass("127.0.0.1", agent.own)}
    assert watch.unread == set()


def test_each_system_has_its_tables() -> None:
    procs, read = system_tables("linux")
    assert (type(procs), read) == (ProcFs, sock_diag.read)
    procs, read = system_tables("darwin")
    assert isinstance(procs, PsutilTable)
    assert read == procs.read
