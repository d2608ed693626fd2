"""Batches as processes of this machine, so many beside each other; needs nothing but Python."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import threading
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


@dataclass
class _Running:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    thread: threading.Thread | None = None


@dataclass
class LocalEngine:
    """`slots` processes at most."""

    slots: int
    _running: dict[str, _Running] = field(default_factory=dict)
    _ended: SimpleQueue[Ended] = field(default_factory=SimpleQueue)

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command once: all workers are this machine."""
        running = self._start(command)
        return [("this machine", _finish("", running, text))]

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch. Raises UsageError where the command cannot be started."""
        running = self._start(command)
        running.thread = threading.Thread(
            target=lambda: self._ended.put(_finish(batch, running, text)), name=f"batch_{batch}", daemon=True
        )
        self._running[batch] = running
        running.thread.start()

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
        running = self._running.pop(batch, None)
        if running is not None:
            running.process.kill()

    def close(self) -> None:
        """End all processes: first by asking."""
        left, self._running = list(self._running.values()), {}
        for one in left:
            one.process.send_signal(signal.SIGTERM)
        for one in left:
            if one.thread is not None:
                one.thread.join(GRACE_S)
            one.process.kill()
            one.process.wait()

    def _start(self, command: Command) -> _Running:
        errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_finish`
        try:
            process = subprocess.Popen(
                command.words,
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
        return _Running(process, errors)


def _finish(batch: str, running: _Running, text: str) -> Ended:
    """Give a process its input and wait for its end."""
    process = running.process
    try:
        output = process.communicate(text.encode("utf-8", "surrogatepass"))[0]
    except OSError:
        output = b""
    with running.errors as errors:
        size = errors.seek(0, 2)
        errors.seek(max(0, size - ERRORS))
        kept = errors.read().decode("utf-8", "replace")
    lost = f"its worker was ended by signal {-process.returncode}" if process.returncode < 0 else ""
    return Ended(batch, process.returncode, output, kept, lost)
