"""The process that makes the namespaces, with the standard library alone: it has to start fast.

It is started with one descriptor, a socket to whoever starts the command. It unshares, waits until its users
are mapped, makes every address local, opens the listeners, and hands all of that over (SCM_RIGHTS). Then it
puts files in the place of others, as it is told, and ends: what keeps the namespaces are the descriptors, and
no process is left that could fail. A closed socket ends it at any time.

Messages are JSON, one for each packet: `unshared` → `mapped`; `ready`, with descriptors → `mount` →
`mounted`. An error has the step that failed and its errno.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import socket
import sys
from functools import partial
from typing import Any

from faultwire.capture.netns import mounts, refusals, rtnetlink

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
BACKLOG = 512
DNS = 53
LOOPBACK: dict[int, str] = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
WILDCARD: dict[int, str] = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}
IP_PKTINFO = 8
ROOM = 1 << 20


class _Failed(Exception):
    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(step)
        self.answer = {"error": {"step": step, "errno": error.errno or 0, "text": error.strerror or ""}}


def main() -> int:
    """Make them; the exit code is 0 where it was done, or where nobody wants it any more."""
    talk = socket.socket(fileno=int(sys.argv[1]))
    asked = json.loads(sys.argv[2])
    try:
        _step("unshare", _unshare)
        _send(talk, {"unshared": True})
        if not _receive(talk):
            return 0
        named = _made(asked)
        fds = [each.detach() if isinstance(each, socket.socket) else each for _, each in named]
        _send(talk, {"ready": [name for name, _ in named]}, fds)
        for fd in fds:
            os.close(fd)
        wanted = _receive(talk)
        if wanted:
            _send(talk, {"mounted": mounts.apply(wanted["files"], wanted["folders"])})
    except _Failed as failed:
        _send(talk, failed.answer)
        return 1
    return 0


def _made(asked: dict[str, Any]) -> list[tuple[str, Any]]:
    """Everything that is handed over, each with its name."""
    route = _step("netlink", rtnetlink.connect)
    lo = socket.if_nametoindex("lo")
    _step("link", lambda: rtnetlink.ask(route, rtnetlink.link_up(lo)))
    _step("mount", mounts.private)
    named: list[tuple[str, Any]] = [("route", route)]
    for family in (socket.AF_INET, socket.AF_INET6):
        if family == socket.AF_INET6 and not _has_ipv6():
            continue
        _step("route", partial(rtnetlink.ask, route, rtnetlink.local_default(family, lo)))
        named += _sockets(family, asked)
    for name in ("user", "net", "mnt"):
        here = partial(os.open, f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        named.append((name, _step("open", here)))
    return named


def _sockets(family: int, asked: dict[str, Any]) -> list[tuple[str, socket.socket]]:
    number = 4 if family == socket.AF_INET else 6
    tcp, dns = f"tcp{number}", f"dns{number}"
    named = []
    for port in asked["ports"]:
        named.append((tcp, _step(f"listen:{port}", partial(_listen, family, port, WILDCARD))))
    for port in asked["local_ports"]:
        named.append((tcp, _step(f"listen:{port}", partial(_listen, family, port, LOOPBACK))))
    named.append((dns, _step(f"listen:{DNS}", partial(_datagrams, family))))
    named.append((dns, _step(f"listen:{DNS}", partial(_listen, family, DNS, WILDCARD))))
    protocol = refusals.ETH_P_IP if family == socket.AF_INET else refusals.ETH_P_IPV6
    named.append((f"refused{number}", _step("packet", partial(refusals.watch, "lo", protocol))))
    return named


def _listen(family: int, port: int, where: dict[int, str]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((where[family], port))
        made.listen(BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _datagrams(family: int) -> socket.socket:
    """Datagrams come with the address that they were sent to: the answer must come from there."""
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        else:
            made.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        made.bind((WILDCARD[family], DNS))
    except BaseException:
        made.close()
        raise
    return made


def _has_ipv6() -> bool:
    """Does the kernel know it, and has `lo` its address? It may be turned off (`ipv6.disable=1`, sysctl)."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _unshare() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for flag in (CLONE_NEWUSER, CLONE_NEWNET | CLONE_NEWNS):
        if libc.unshare(flag) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))


def _step(name: str, act: Any) -> Any:
    try:
        return act()
    except OSError as error:
        raise _Failed(name, error) from error


def _send(talk: socket.socket, message: dict[str, Any], fds: list[int] | None = None) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        talk.sendmsg([json.dumps(message).encode()], rights)
    except BrokenPipeError:
        sys.exit(0)  # nobody wants it any more


def _receive(talk: socket.socket) -> dict[str, Any]:
    data = talk.recv(ROOM)
    return dict(json.loads(data)) if data else {}


if __name__ == "__main__":
    sys.exit(main())
