"""One process of an agent, from start to end, with everything that it leaves behind.

Output is kept up to a limit and the rest is read and dropped, so that an agent that prints without end
neither fills our memory nor blocks on its pipe.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from faultwire import clock
from faultwire.errors import AgentError
from faultwire.parent_death import with_parent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from faultwire.agents._api import Watch

KEPT = 1 << 20
"""Bytes of stdout, and of stderr, that are kept; a mark says how many were not."""
UNSAID = "agent.prompt"
FILE_HINT = "set `stdin: true`, or use `{prompt_file}`"
_PIECE = 1 << 16
_DRAIN_S = 2.0
"""How long output is still read once the process group is gone."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended and what it printed. `message` is what it wrote to the descriptor of its own."""

    stdout: str
    stderr: str
    code: int
    duration_s: float
    timed_out: bool
    message: str = ""
    cut: bool = False
    """Was part of the message (without `message_pipe`: of stdout) dropped?"""


class Processes:
    """The processes that an agent has running. Used from several threads."""

    def __init__(self) -> None:
        self._live: set[int] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        data: bytes | None = None,
        timeout_s: float,
        cwd: Path | None = None,
        kept: int = KEPT,
        message_pipe: bool = False,
        watch: Watch = contextlib.nullcontext,
    ) -> Ended:
        """Run a command without a shell to its end; after `timeout_s` its process group is killed.

        `data` goes to its stdin, which is empty without. With `message_pipe` it gets a descriptor to write
        to: its number takes the place of `{fd}` in the command. `watch` is open while it, or what it left
        behind, is there. Raises AgentError where it does not start.
        """
        started = clock.monotonic()
        ours, theirs = os.pipe() if message_pipe else (None, None)
        try:
            parts = [part.replace("{fd}", str(theirs)) for part in command] if message_pipe else list(command)
            process = _start(parts, env, data is not None, cwd, () if theirs is None else (theirs,))
        except BaseException:
            if ours is not None:
                os.close(ours)
            raise
        finally:
            if theirs is not None:
                os.close(theirs)
        with self._lock:
            self._live.add(process.pid)
            if self._stopped:
                kill_group(process.pid)
        pipes = [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]
        if ours is not None:
            pipes.append(os.fdopen(ours, "rb", 0))
        drains = [Drain(pipe, kept) for pipe in pipes]
        feeder = _feed(process.stdin, data) if data is not None else None
        expired = self._wait(process, timeout_s, watch)
        duration = clock.monotonic() - started
        for thread in (*drains, *([feeder] if feeder else [])):
            thread.join(_DRAIN_S)
        stdout, stderr, *message = (drain.text() for drain in drains)
        return Ended(
            stdout,
            stderr,
            process.returncode,
            duration,
            expired and process.returncode == -signal.SIGKILL,
            message[0] if message else "",
            cut=bool(drains[2 if message_pipe else 0].dropped),
        )

    def _wait(self, process: subprocess.Popen[bytes], timeout_s: float, watch: Watch) -> bool:
        """Wait for the end of a process; True where its time ran out."""
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            kill_group(process.pid)

        timer = threading.Timer(timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            with watch(process.pid):
                process.wait()
        finally:
            timer.cancel()
            # Whatever the agent left behind goes too: it would hold our pipes and outlive its cell.
            kill_group(process.pid)
            with self._lock:
                self._live.discard(process.pid)
        return expired.is_set()

    def stop(self) -> None:
        """Kill every running process, and each that starts later."""
        with self._lock:
            self._stopped = True
            for pid in self._live:
                kill_group(pid)


def without_nul(text: str) -> str:
    """A text as an argument can carry it. Raises AgentError (`agent.prompt`)."""
    if "\0" in text:
        raise unsaid("found a NUL character in a prompt, which no argument can carry", FILE_HINT)
    return text


def unsaid(what: str, hint: str) -> AgentError:
    """The error of a prompt that cannot be passed to the agent; other prompts may still work."""
    return AgentError(what, code=UNSAID, hint=hint)


def kill_group(pid: int) -> None:
    """Kill a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is gone already
        os.killpg(pid, signal.SIGKILL)


def _start(
    command: Sequence[str], env: Mapping[str, str], fed: bool, cwd: Path | None, keep: Sequence[int]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=keep,
            start_new_session=True,
            preexec_fn=with_parent(),
        )
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise unsaid("found a prompt that is too long for an argument", FILE_HINT) from error
        raise AgentError(
            f"the agent `{command[0]}` did not start: {error.strerror or error}",
            hint="`command` runs without a shell: name a program in PATH, or its whole path",
        ) from error


class Drain(threading.Thread):
    """Reads a pipe to its end and keeps its beginning."""

    def __init__(self, pipe: IO[bytes], kept: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._room, self.dropped = pipe, kept, 0
        self._pieces: list[bytes] = []
        self.start()

    def run(self) -> None:
        """Read until the last writer is gone."""
        with self._pipe as pipe:
            while piece := os.read(pipe.fileno(), _PIECE):
                keep = piece[: self._room]
                self._room -= len(keep)
                self.dropped += len(piece) - len(keep)
                if keep:
                    self._pieces.append(keep)

    def text(self) -> str:
        """What was kept; bytes that are not UTF-8 become U+FFFD."""
        text = b"".join(self._pieces).decode("utf-8", "replace")
        return f"{text}\n[{self.dropped} more bytes were not kept]" if self.dropped else text


def _feed(pipe: IO[bytes] | None, data: bytes) -> threading.Thread:
    """Write the prompt without waiting for an agent that does not read it."""

    def write() -> None:
        # An agent that ended, or closed its stdin, before it read all: that is its own affair.
        with contextlib.suppress(BrokenPipeError):
            if pipe is not None:
                with pipe:
                    pipe.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread
