"""An agent that is a command: one process per invocation.

The answer is what it prints on stdout. Output is kept up to a limit and the rest is read and
dropped, so that an agent that prints without end neither fills our memory nor blocks on its pipe.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from faultwire import clock
from faultwire.errors import AgentError, ConfigError
from faultwire.events import AgentResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLACEHOLDER = "{prompt}"
KEPT = 1 << 20
"""Bytes of stdout, and of stderr, that are kept; a mark says how many were not."""
_PIECE = 1 << 16
_DRAIN_S = 2.0
"""How long output is still read once the process group is gone."""


@dataclass(frozen=True)
class CommandAgent:
    """How to start an agent. `command` is run as it stands, by no shell.

    The prompt goes where an argument holds `{prompt}`, or to stdin. Without a limit of its own, an
    invocation is stopped after `timeout_s`, with every process that it started.
    """

    command: tuple[str, ...]
    stdin: bool = False
    timeout_s: float = 30.0
    cwd: Path | None = None
    kept: int = KEPT
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Variables to set on top of a session's environment, or (None) to take out of it."""
    _live: set[int] = field(default_factory=set, init=False, repr=False, compare=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse settings under which the agent would never see a prompt."""
        if not self.command:
            raise ConfigError("found an empty `command`, expected a program", code="config.invalid_value")
        if not self.stdin and not any(PLACEHOLDER in part for part in self.command):
            raise ConfigError(
                f"found no `{PLACEHOLDER}` in `command`, expected a place for the prompt",
                code="config.no_prompt",
                hint=f"write `{PLACEHOLDER}` as an argument, or set `stdin: true`",
            )

    def invoke(self, prompt: str, env: Mapping[str, str]) -> AgentResult:
        """Run the agent once and wait for its end. Raises AgentError where it does not start."""
        started = clock.monotonic()
        process = self._start(prompt, env)
        with self._lock:
            self._live.add(process.pid)
            if self._stopped.is_set():
                _kill_group(process.pid)
        pipes = [_Drain(pipe, self.kept) for pipe in (process.stdout, process.stderr) if pipe is not None]
        feeder = _feed(process.stdin, prompt) if self.stdin else None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            _kill_group(process.pid)

        watch = threading.Timer(self.timeout_s, expire)
        watch.daemon = True
        watch.start()
        try:
            process.wait()
        finally:
            watch.cancel()
            # Whatever the agent left behind goes too: it would hold our pipes and outlive its cell.
            _kill_group(process.pid)
            with self._lock:
                self._live.discard(process.pid)
        duration = clock.monotonic() - started
        for thread in (*pipes, *([feeder] if feeder else [])):
            thread.join(_DRAIN_S)
        stdout, stderr = (pipe.text() for pipe in pipes)
        timed_out = expired.is_set() and process.returncode == -signal.SIGKILL
        return AgentResult(stdout, process.returncode, duration, stderr, timed_out)

    def stop(self) -> None:
        """Kill every running invocation, and each that starts later; their `invoke` calls return."""
        with self._lock:
            self._stopped.set()
            for pid in self._live:
                _kill_group(pid)

    def _start(self, prompt: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        if "\0" in prompt and not self.stdin:
            raise AgentError(
                "found a NUL character in a prompt, which no argument can carry",
                code="agent.prompt",
                hint="set `stdin: true`",
            )
        command = [part if self.stdin else part.replace(PLACEHOLDER, prompt) for part in self.command]
        try:
            return subprocess.Popen(
                command,
                env={k: v for k, v in {**env, **self.env}.items() if v is not None},
                cwd=self.cwd,
                stdin=subprocess.PIPE if self.stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentError(
                f"the agent `{command[0]}` did not start: {error.strerror or error}",
                hint="`command` runs without a shell: name a program in PATH, or its whole path",
            ) from error


class _Drain(threading.Thread):
    """Reads a pipe to its end and keeps its beginning."""

    def __init__(self, pipe: IO[bytes], kept: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._room, self._dropped = pipe, kept, 0
        self._pieces: list[bytes] = []
        self.start()

    def run(self) -> None:
        """Read until the last writer is gone."""
        with self._pipe as pipe:
            while piece := os.read(pipe.fileno(), _PIECE):
                keep = piece[: self._room]
                self._room -= len(keep)
                self._dropped += len(piece) - len(keep)
                if keep:
                    self._pieces.append(keep)

    def text(self) -> str:
        """What was kept; bytes that are not UTF-8 become U+FFFD."""
        text = b"".join(self._pieces).decode("utf-8", "replace")
        return f"{text}\n[{self._dropped} more bytes were not kept]" if self._dropped else text


def _feed(pipe: IO[bytes] | None, prompt: str) -> threading.Thread:
    """Write the prompt without waiting for an agent that does not read it."""

    def write() -> None:
        if pipe is None:
            return
        try:
            with pipe:
                pipe.write(prompt.encode("utf-8", "surrogatepass"))
        except BrokenPipeError:
            return  # the agent ended, or closed its stdin, before it read all: that is its own affair

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # the group is gone already
