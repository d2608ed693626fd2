"""Child processes: started, spoken to in JSON lines, measured, and always ended."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
END_S = 10.0


class Child:
    """A process that prints one JSON line when it is ready. A context manager that ends it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        ready_s: float = 60.0,
        speaks: bool = True,
    ) -> None:
        self._log = log
        with log.open("ab") as stderr:
            self.process = subprocess.Popen(
                list(command),
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if speaks else stderr,
                stderr=stderr,
            )
        self._buffer = b""
        try:
            self.ready = self._line(ready_s) if speaks else {}
        except BaseException:
            self.end()
            raise

    @classmethod
    def python(cls, module: str, *arguments: str, log: Path) -> Self:
        """One of the modules here."""
        path = os.pathsep.join(dict.fromkeys([str(ROOT), *(p for p in sys.path if p)]))
        return cls([sys.executable, "-m", module, *arguments], log=log, env={"PYTHONPATH": path})

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, line: str) -> None:
        """Hand over one line of input."""
        if self.process.stdin is None:
            raise RuntimeError("the child has no standard input")
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds: float) -> dict[str, Any]:
        """The next line of output. Raises TimeoutError, and RuntimeError where the child is gone."""
        return self._line(seconds)

    def ask(self, message: dict[str, Any] | str, *, seconds: float = 600.0) -> dict[str, Any]:
        """Send a line and wait for the answer."""
        self.send(message if isinstance(message, str) else json.dumps(message))
        return self._line(seconds)

    def _line(self, seconds: float) -> dict[str, Any]:
        if self.process.stdout is None:
            raise RuntimeError("the child has no standard output")
        fd, deadline = self.process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise TimeoutError(f"nothing from process {self.pid} in {seconds:.0f} s; see {self._log}")
            piece = os.read(fd, 1 << 20)
            if not piece:
                raise RuntimeError(f"process {self.pid} ended with {self.process.wait()}; see {self._log}")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.terminate()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def cpu_s(pid: int) -> float:
    """User and system seconds that a process has used, all its threads, ended ones included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB (10^6 bytes)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def pin(pid: int, cpus: set[int]) -> None:
    """Keep all threads of a process on some CPUs; threads that it makes later inherit it."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cpus)


def wait_for_port(port: int, pid_alive: subprocess.Popen[bytes], seconds: float = 30.0) -> None:
    """Return once something listens there."""
    import socket

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if pid_alive.poll() is not None:
            raise RuntimeError(f"process {pid_alive.pid} ended with {pid_alive.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port} after {seconds:.0f} s")
