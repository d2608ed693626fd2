"""The namespaces of one command: started, filled, entered, and let go.

`begin` starts the process that makes them, which goes on beside us; `Namespace.made` waits for it. What it
gives us are descriptors: listeners for the engine, and the namespaces themselves. Nothing of it has to be
cleaned up: the kernel forgets a namespace when the last process and the last descriptor of it are gone.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import child_main
from faultwire.capture.netns import forbidden, idmap, rtnetlink
from faultwire.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

MODULE = "faultwire.capture.netns.inside"
KINDS = (("user", 0x10000000), ("net", 0x40000000), ("mnt", 0x20000))
"""Namespaces in the order in which they are entered, with their flags for `setns(2)`."""
WAIT_S = 30.0
MOST_FDS = 253
"""Descriptors in one message (SCM_MAX_FD)."""
MOST_PORTS = 100
"""Ports to listen on: two descriptors each, in one message."""
DEVICES = ("lo",)
FALLBACKS = ("tunl", "gre", "gretap", "erspan", "ip_vti", "ip6_vti", "sit", "ip6tnl", "ip6gre")
INET = (socket.AF_INET, socket.AF_INET6)
_ROOM = 1 << 20


def begin(ports: Iterable[int], local_ports: Iterable[int] = ()) -> Namespace:
    """Start to make the namespaces: a listener on each of `ports` at every address, on each of `local_ports`
    at 127.0.0.1 and ::1. Raises CaptureError where this is no Linux."""
    if sys.platform != "linux":
        raise CaptureError(
            f"found `--capture netns` on `{sys.platform}`, expected Linux",
            code="capture.no_namespace",
            hint="network namespaces are a part of Linux; leave it out to capture by proxy variables",
        )
    every = sorted(set(ports))
    local = sorted(set(local_ports) - set(every))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(WAIT_S)
    asked = json.dumps({"ports": every, "local_ports": local})
    # Without `site`: all it needs is the standard library and this package.
    command = [sys.executable, "-I", "-S", child_main.__file__, MODULE, str(theirs.fileno()), asked]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()], process_group=0,
        )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return Namespace(process, ours, tuple(every))


class Namespace:
    """A context manager: leaving it lets everything go. `ports` are those that are captured."""

    def __init__(self, process: subprocess.Popen[bytes], talk: socket.socket, ports: tuple[int, ...]) -> None:
        self.ports = ports
        self.sockets: dict[str, list[int]] = {}
        """Descriptors for the engine, by what they are: `tcp4`, `dns4`, `refused4`, and the same with 6."""
        self._process = process
        self._talk = talk
        self._spaces: dict[str, int] = {}
        self._route: socket.socket | None = None
        self._setns: Any = ctypes.CDLL(None, use_errno=True).setns
        self._inherited = 0

    def __enter__(self) -> Namespace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    @property
    def families(self) -> str:
        """What is captured, in words."""
        return "IPv4 and IPv6" if "tcp6" in self.sockets else "IPv4 only: this system has no IPv6"

    # ------------------------------------------------------------ making them

    def made(self) -> None:
        """Wait until they are there. Raises CaptureError that names what forbids it."""
        self._receive()
        try:
            idmap.write(self._process.pid)
        except OSError as error:
            raise self._refused("uid_map", error.errno or 0) from error
        self._send({"mapped": True})
        names, fds = self._receive()
        for name, fd in zip(names.get("ready", ()), fds, strict=True):
            if name in dict(KINDS):
                self._spaces[name] = fd
            elif name == "route":
                self._route = socket.socket(fileno=fd)
                self._route.settimeout(rtnetlink.WAIT_S)
            else:
                self.sockets.setdefault(name, []).append(fd)

    def release(self) -> None:
        """Close our copies of the engine's sockets: once it is gone, nobody listens."""
        for fds in self.sockets.values():
            for fd in fds:
                os.close(fd)
        self.sockets = {name: [] for name in self.sockets}

    def mount(self, files: Iterable[tuple[str, str]], folders: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Put files in the place of others inside, and let the process that made it all end; the places where
        that failed, each with the reason."""
        self._send({"files": list(files), "folders": {name: dict(held) for name, held in folders.items()}})
        answer, _ = self._receive()
        self._end()
        return list(answer.get("mounted", ()))

    # ------------------------------------------------------------ using them

    def entry(self) -> Callable[[], None]:
        """What a new process does before it starts its program, to be inside. Raises OSError there.

        After it, a program of a user who is not root has no capability inside, and none has any outside.
        """
        setns, get_errno = self._setns, ctypes.get_errno
        spaces = [(self._spaces[name], flag) for name, flag in KINDS]
        folder = os.getcwd()
        self._inherited = _inherited_sockets()

        def enter() -> None:
            for fd, flag in spaces:
                if setns(fd, flag) != 0:
                    raise OSError(get_errno(), "setns")
            os.chdir(folder)  # it was that of another mount namespace

        return enter

    def sealed(self) -> str | None:
        """Why it cannot be said that nothing could leave; None where nothing could.

        Holds for packets: a program outside that is asked over a Unix socket (a container daemon, say) is no
        part of the namespace.
        """
        if self._inherited:
            return f"{self._inherited} sockets that lead outside were handed down to the command"
        if self._route is None:
            return "its interfaces are not known"
        try:
            found = rtnetlink.links(self._route)
        except OSError as error:
            return f"its interfaces cannot be read: {error}"
        extra = [name for name in found if name not in DEVICES and not _is_fallback(name)]
        return f"it was given the interface `{extra[0]}`" if extra else None

    def close(self) -> None:
        """Let everything go."""
        self.release()
        self._end()
        for fd in self._spaces.values():
            os.close(fd)
        self._spaces.clear()
        if self._route is not None:
            self._route.close()
            self._route = None

    # ------------------------------------------------------------ talking to the process

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._talk.send(json.dumps(message).encode())
        except OSError as error:
            raise self._lost() from error

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        room = socket.CMSG_SPACE(MOST_FDS * array.array("i").itemsize)
        try:
            # Without the flag the command would inherit the descriptors, and with them the ways out.
            data, rights, *_ = self._talk.recvmsg(_ROOM, room, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise self._lost() from error
        fds = array.array("i")
        for _, _, held in rights:
            fds.frombytes(held[: len(held) - len(held) % fds.itemsize])
        if not data:
            raise self._lost()
        message = dict(json.loads(data))
        if "error" in message:
            raise self._refused(message["error"]["step"], int(message["error"]["errno"]))
        return message, list(fds)

    def _refused(self, step: str, code: int) -> CaptureError:
        self._end()
        return forbidden.explain(step, code, _setting, root=os.geteuid() == 0)

    def _lost(self) -> CaptureError:
        self._end()
        errors = self._process.stderr.read().decode("utf-8", "replace") if self._process.stderr else ""
        last = f": {errors.strip().splitlines()[-1][:200]}" if errors.strip() else ""
        code = self._process.returncode
        return CaptureError(
            f"the process that makes the command's namespaces ended with code `{code}`{last}",
            code="capture.no_namespace",
            hint=f"try again, {forbidden.INSTEAD}",
        )

    def _end(self) -> None:
        """The process ends when its socket is closed; it is killed where it does not."""
        self._talk.close()
        with ExitStack() as stack:
            if self._process.stderr is not None and self._process.returncode is None:
                stack.callback(self._process.poll)
            try:
                self._process.wait(2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def _setting(path: str) -> str | None:
    try:
        return (Path("/proc/sys") / path).read_text()
    except OSError:
        return None


def _inherited_sockets() -> int:
    """Sockets of the network that a program of ours would get from us."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.get_inheritable(int(name)):
                continue
            with socket.socket(fileno=os.dup(int(name))) as one:
                found += one.family in INET
        except OSError:
            continue  # no socket, or gone
    return found


def _is_fallback(name: str) -> bool:
    """The kernel makes some in every new network namespace; they lead to other interfaces of the same one."""
    return name.rstrip("0123456789") in FALLBACKS
