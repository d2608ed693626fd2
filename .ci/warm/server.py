"""Has imported faultwire, and forks a process for each start that `client.c` asks for.

    python [-I [-O]] server.py NAME SOCKETS CHILD_MAIN LOG

NAME is `command`, `engine` or `mock`. Says `ready` on its standard output once it listens, and ends when its
standard input does. LOG gets a line for each start: served, or the reason why it has to be cold.

A process that is served has the client's descriptors, environment, arguments, working directory, umask and
process group, runs the same module with the same code as a cold start, and leaves nothing that a second start
could see. What it cannot have is a start of the interpreter, so whatever would have changed that (a variable
that an import has read, a user, a limit, a namespace, an ignored signal) makes the start a cold one. It has
the server's seed of string hashes, and the server is its parent.
"""

import contextlib
import gc
import importlib
import io
import os
import resource
import runpy
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMMAND = (
    "faultwire.child_main",
    "faultwire.cli",
    "faultwire.cli.exec",
    "faultwire.cli._determinism",
    "faultwire.cli._observed",
    "faultwire.cli._summary",
    "faultwire.profile.load",
    "faultwire.runner.launch",
    "faultwire.replay.reader",
    "faultwire.mock.client",
    "faultwire.mitm.engine.client",
    "faultwire.capture.bypass_watch",
    "faultwire.report.replay",
    "cryptography.hazmat.backends.openssl.backend",
    "faultwire.cli.run",
    "faultwire.cli.contract",
)
"""What the server of the commands imports; a command imports what else it needs."""
HIGH = 700
"""Descriptors that were handed over wait here until their own numbers are free."""
SAME = ("LANG", "LC_", "TZ", "LD_", "GLIBC_", "MALLOC_", "OPENSSL_", "RUST", "RAYON", "TOKIO")
"""Variables that C and Rust libraries read when they are loaded, and the interpreter when it starts."""
STATUS = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")
STATUS += ("Seccomp", "Cpus_allowed")
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")


class Reads:
    """The names of the variables that are read while something is imported."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def during(self, action: Callable[[], None]) -> None:
        kind = type(os.environ)
        get = kind.__getitem__

        def read(environ: os._Environ, name: str) -> str:
            self.names.add(name)
            return get(environ, name)

        kind.__getitem__ = read  # type: ignore[method-assign]
        try:
            action()
        finally:
            kind.__getitem__ = get  # type: ignore[method-assign]


def warm_command() -> None:
    for module in COMMAND:
        importlib.import_module(module)


def _package(child_main: str) -> None:
    """As `child_main` does before it runs a module."""
    runpy.run_path(child_main)["run"]("faultwire.errors", [])


def warm_engine(child_main: str) -> None:
    """The imports of `faultwire.mitm.__main__`, in its order and with what it leaves out."""
    _package(child_main)
    from faultwire import plugins
    from faultwire.mitm import __main__ as engine
    from faultwire.mitm.engine.lazy_imports import LATER, import_later, spare_addons
    from faultwire.plugins import frozen

    spare_addons()
    for later in LATER:
        import_later(later)
    if not plugins.are_there():
        frozen.leave_unchecked()
    for module in engine.STEPS.values():
        importlib.import_module(module)


def warm_mock(child_main: str) -> None:
    _package(child_main)
    importlib.import_module("faultwire.mock.serving")


@dataclass
class Request:
    """What a client has and wants."""

    pid: int
    numbers: tuple[int, ...]
    fds: list[int]
    """The working directory, and the descriptors of `numbers`."""
    arguments: list[bytes]
    environment: dict[bytes, bytes]

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


def read(connection: socket.socket) -> Request:
    data, fds, _, _ = socket.recv_fds(connection, 3 * 4 + 4 * 250, 253)
    count, arguments, environment = struct.unpack_from("3i", data)
    numbers = struct.unpack_from(f"{count}i", data, 12)
    text = data[12 + 4 * count :]
    while len(text) < arguments + environment:
        piece = connection.recv(1 << 20)
        if not piece:
            raise OSError("the client ended in the middle of its request")
        text += piece
    words = [word.partition(b"=") for word in text[arguments:].split(b"\0") if b"=" in word]
    pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return Request(
        pid, numbers, fds, text[:arguments].split(b"\0")[:-1], {name: value for name, _, value in words}
    )


def surroundings(pid: int | str) -> Iterator[tuple[str, object]]:
    """What a process inherits that a fork of another one would not have."""
    place = Path("/proc", str(pid))
    for line in (place / "status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in STATUS:
            yield name, value.strip()
    for name in NAMESPACES:
        yield name, os.readlink(place / "ns" / name)
    yield "root", os.readlink(place / "root")
    yield "oom", (place / "oom_score_adj").read_text()
    behind = (place / "stat").read_text().rpartition(")")[2].split()
    yield "session", behind[3]
    yield "terminal", behind[4]
    yield "nice", behind[16]
    for kind in range(16):
        yield f"limit {kind}", resource.prlimit(os.getpid() if pid == "self" else int(pid), kind)


def ignored(pid: int) -> int:
    (line,) = (x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if x.startswith("SigIgn"))
    return int(line.split()[1], 16)


class Server:
    """Forks a process for each request; `serve` comes back in the forked ones alone, with the request."""

    def __init__(self, name: str, place: Path, log: Path, reads: Reads) -> None:
        self.name = name
        self.reads = reads
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place / name))
        self.listener.listen(128)
        self.children: dict[int, tuple[int, socket.socket]] = {}
        """By their pidfds."""
        self.clients: dict[int, int] = {}
        """The pidfd for each connection on which a signal can come."""
        self.ready = select.poll()
        self.environment = dict(os.environb)
        self.surroundings = dict(surroundings("self"))

    def differs(self, request: Request) -> str | None:
        """Why it cannot be served."""
        if not {0, 1, 2} <= set(request.numbers) or max(request.numbers) >= HIGH:
            return "other descriptors"
        if self.name == "command" and any(name.startswith(b"PYTHON") for name in request.environment):
            return "a PYTHON variable"
        for name in {*request.environment, *self.environment}:
            text = os.fsdecode(name)
            matters = text in self.reads.names or text.startswith(SAME)
            if matters and request.environment.get(name) != self.environment.get(name):
                return f"variable {text}"
        if ignored(request.pid) & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1):
            return "ignored signals"
        theirs = dict(surroundings(request.pid))
        return next((key for key, value in self.surroundings.items() if theirs.get(key) != value), None)

    def serve(self) -> Request | None:
        """None at the end of the standard input."""
        self.ready.register(0, select.POLLIN | select.POLLHUP)
        self.ready.register(self.listener, select.POLLIN)
        while True:
            fd = self.ready.poll()[0][
                0
            ]  # one at a time: what one does can close, and reuse, another's number
            if fd == 0:
                self._end()
                return None
            if fd == self.listener.fileno():
                request = self._answer(self.listener.accept()[0])
                if request is not None:
                    return request
            elif fd in self.children:
                self._ended(fd)
            else:
                self._signalled(fd)

    def _answer(self, connection: socket.socket) -> Request | None:
        """The request, in the forked process alone."""
        connection.settimeout(10)
        try:
            request = read(connection)
        except OSError as error:
            self._say(f"cold: {error}")
            connection.close()
            return None
        try:
            why = self.differs(request)
            group = os.getpgid(request.pid)
        except OSError as error:  # it was killed
            why = str(error)
        self._say(f"cold: {why}" if why else "served")
        if why:
            request.close()
            with connection, contextlib.suppress(OSError):
                connection.send(b"c")
            return None
        pid = os.fork()
        if not pid:
            os.setpgid(0, group)
            for mine in (self.listener, connection, *(other for _, other in self.children.values())):
                mine.detach()  # its number will be another file's
            return request
        self._forked(pid, group, request, connection)
        return None

    def _forked(self, pid: int, group: int, request: Request, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it has done so itself, and has ended
            os.setpgid(pid, group)
        request.close()
        pidfd = os.pidfd_open(pid)
        self.children[pidfd] = pid, connection
        self.clients[connection.fileno()] = pidfd
        self.ready.register(pidfd, select.POLLIN)
        self.ready.register(connection, select.POLLIN)
        with contextlib.suppress(OSError):  # a client that was killed is noticed by its connection
            connection.send(b"w")

    def _ended(self, pidfd: int) -> None:
        pid, connection = self.children.pop(pidfd)
        self.ready.unregister(pidfd)
        os.close(pidfd)
        if self.clients.pop(connection.fileno(), None) is not None:
            self.ready.unregister(connection)
        _, status = os.waitpid(pid, 0)
        with connection, contextlib.suppress(OSError):  # a client that was killed wants to know nothing
            connection.send(struct.pack("i", status))

    def _signalled(self, at: int) -> None:
        """Pass on a client's signal, and that it was killed."""
        pidfd = self.clients[at]
        try:
            number = self.children[pidfd][1].recv(1)
        except OSError:
            number = b""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, number[0] if number else signal.SIGKILL)
        if not number:
            self.ready.unregister(at)
            del self.clients[at]

    def _end(self) -> None:
        for pidfd, (pid, _) in self.children.items():
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _say(self, line: str) -> None:
        os.write(self.log, f"{self.name} {line}\n".encode())


def become(request: Request) -> None:
    """Take over what the client has, as if this had been executed in its place."""
    held = [os.dup2(fd, HIGH + n, inheritable=False) for n, fd in enumerate(request.fds)]
    os.fchdir(held[0])
    os.closerange(0, HIGH)
    for fd, number in zip(held[1:], request.numbers, strict=True):
        os.dup2(fd, number)
    os.closerange(HIGH, HIGH + len(held))
    status = Path(f"/proc/{request.pid}/status").read_text()
    os.umask(next(int(line.split()[1], 8) for line in status.splitlines() if line.startswith("Umask")))
    os.environb.clear()
    os.environb.update(request.environment)
    sys.stdin = sys.__stdin__ = _stream(0, sys.stdin)
    sys.stdout = sys.__stdout__ = _stream(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _stream(2, sys.stderr)


def _stream(fd: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = io.FileIO(fd, "r" if fd == 0 else "w", closefd=False)
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[fd]
    buffered = io.BufferedReader(raw) if fd == 0 else io.BufferedWriter(raw)
    lines = fd == 2 or os.isatty(fd)
    return io.TextIOWrapper(buffered, encoding=like.encoding, errors=like.errors, line_buffering=lines)


def run(name: str, words: list[str]) -> None:
    """Run what a cold interpreter would run with these arguments."""
    if name != "command":
        at = words.index("-O" if "-O" in words[:3] else "-I") + 1
        sys.argv[:] = words[at : at + 1] + words[at + 2 :]
        runpy.run_module(words[at + 1], run_name="__main__", alter_sys=True)
    elif words[1] == "-m":
        sys.argv[:] = ["-m", *words[3:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = words[1:]
        sys.path.insert(0, os.path.dirname(words[1]))
        runpy.run_path(words[1], run_name="__main__")


def main() -> None:
    name, place, child_main, log = sys.argv[1:]
    if name == "command":
        del sys.path[0]  # ours
    os.setpgid(0, 0)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):  # a shell in the background ignores some
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm = {
        "command": warm_command,
        "engine": lambda: warm_engine(child_main),
        "mock": lambda: warm_mock(child_main),
    }
    reads = Reads()
    gc.disable()
    reads.during(warm[name])
    gc.collect()
    gc.freeze()
    gc.enable()
    if len(os.listdir("/proc/self/task")) != 1:
        sys.exit("an import has started a thread: it would not be in a forked process")
    server = Server(name, Path(place), Path(log), reads)
    print("ready", flush=True)
    request = server.serve()
    if request is None:
        return
    words = [os.fsdecode(word) for word in request.arguments]
    become(request)
    run(name, words)


if __name__ == "__main__":
    main()
