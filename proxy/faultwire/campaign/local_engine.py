"""Batches as processes of this machine, so many beside each other; needs nothing but Python.

A process whose command takes batch after batch is kept for the next one: its start is paid once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING

from faultwire.campaign.engine import ERRORS, Ended
from faultwire.errors import UsageError
from faultwire.parent_death import with_parent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.campaign.engine import Command

GRACE_S = 15.0
"""Seconds that a batch has to end its agents, its engine and its tape after it was asked to."""
LENGTH = 20
"""Bytes of the line with the length of an answer, at most."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    command: Command
    thread: threading.Thread | None = None


@dataclass
class LocalEngine:
    """`slots` processes at most."""

    slots: int
    _running: dict[str, _Worker] = field(default_factory=dict)
    _idle: list[_Worker] = field(default_factory=list)
    _ended: SimpleQueue[Ended] = field(default_factory=SimpleQueue)

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command once: all workers are this machine."""
        return [("this machine", self._play("", self._worker(command), text))]

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch. Raises UsageError where the command cannot be started."""
        worker = self._worker(command)

        def play() -> None:
            self._ended.put(self._play(batch, worker, text))

        worker.thread = threading.Thread(target=play, name=f"batch_{batch}", daemon=True)
        self._running[batch] = worker
        worker.thread.start()

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended."""
        found: list[Ended] = []
        try:
            found.append(self._ended.get(timeout=max(0.0, seconds)))
            while True:
                found.append(self._ended.get_nowait())
        except Empty:
            pass
        for one in found:
            self._running.pop(one.batch, None)
        return found

    def stop(self, batch: str) -> None:
        """SIGTERM: `faultwire worker` answers with what has finished."""
        if batch in self._running:
            self._running[batch].process.send_signal(signal.SIGTERM)

    def drop(self, batch: str) -> None:
        """SIGKILL; what it started ends with it."""
        worker = self._running.pop(batch, None)
        if worker is not None:
            worker.process.kill()

    def close(self) -> None:
        """End all processes: first by asking."""
        running, self._running = list(self._running.values()), {}
        for one in running:
            one.process.send_signal(signal.SIGTERM)
        for one in running:
            if one.thread is not None:
                one.thread.join(GRACE_S)
        left = {id(one): one for one in (*running, *self._idle)}.values()
        self._idle.clear()
        for one in left:
            _end_input(one)
        for one in left:
            _await_end(one)

    def _worker(self, command: Command) -> _Worker:
        """One that waits for its next batch, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None and worker.command == command:
                return worker
            worker.process.kill()
            _finish("", worker, b"")
        return self._start(command)

    def _play(self, batch: str, worker: _Worker, text: str) -> Ended:
        """Give a process a batch, and wait for the answer or its end; it waits for the next if it can."""
        data = text.encode("utf-8", "surrogatepass")
        if not worker.command.series:
            return _finish(batch, worker, data)
        try:
            output = _exchange(worker.process, data)
        except (OSError, ValueError):
            return _finish(batch, worker, b"")
        ended = Ended(batch, 0, output, _last_errors(worker))
        self._idle.append(worker)
        return ended

    def _start(self, command: Command) -> _Worker:
        errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when its process has ended
        try:
            process = subprocess.Popen(
                (*command.words, *command.series),
                cwd=command.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                process_group=0,  # Ctrl-C at a terminal is for the coordinator
                preexec_fn=with_parent(),
            )
        except OSError as error:
            errors.close()
            raise UsageError(
                f"cannot start a worker with `{command.words[0]}` in `{command.folder}`: {error.strerror}",
                code="usage.worker",
            ) from error
        return _Worker(process, errors, command)


def _exchange(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    """A batch of a series and its answer. Raises OSError or ValueError where there is none."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(data + b"\n")
    process.stdin.flush()
    size = int(process.stdout.readline(LENGTH))
    output = process.stdout.read(size)
    if len(output) != size:
        raise ValueError("it ended in the middle of its answer")
    return output


def _finish(batch: str, worker: _Worker, data: bytes) -> Ended:
    """Give a process the rest of its input and wait for its end."""
    process = worker.process
    try:
        output = process.communicate(data)[0]
    except (OSError, ValueError):
        output = b""
        process.wait()
    errors = _last_errors(worker)
    worker.errors.close()
    lost = f"its worker was ended by signal {-process.returncode}" if process.returncode < 0 else ""
    return Ended(batch, process.returncode, output, errors, lost)


def _await_end(worker: _Worker) -> None:
    """Wait for the end of a process, and bring it about where it takes too long."""
    late = threading.Timer(GRACE_S, worker.process.kill)
    late.start()
    worker.process.wait()
    late.cancel()
    if worker.process.stdout is not None:
        worker.process.stdout.close()
    worker.errors.close()


def _end_input(worker: _Worker) -> None:
    """Tell a process that no batch comes any more."""
    if worker.process.stdin is not None:
        with suppress(OSError):
            worker.process.stdin.close()


def _last_errors(worker: _Worker) -> str:
    """The end of what it wrote to its standard error. Its place in the file is the process's as well."""
    handle = worker.errors.fileno()
    size = os.fstat(handle).st_size
    return os.pread(handle, ERRORS, max(0, size - ERRORS)).decode("utf-8", "replace")
