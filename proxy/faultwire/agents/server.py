"""A server that is the agent, started by us behind the proxy and ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire import clock
from faultwire.agents._dial import Dialler, NoReply
from faultwire.agents._log import Log
from faultwire.agents._process import kill_group
from faultwire.agents._request import call, pieces
from faultwire.agents._reset import quotable
from faultwire.errors import AgentError
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

POLL_S = 0.05
"""Seconds between two looks at whether a server is ready."""
LOOK_S = 2.0
"""Seconds that one look may take."""
DYING_S = 0.5
"""Seconds that a server may take to end once its connections have."""
LEAVING_S = 2.0
"""Seconds that a server may take to end at the end of a run."""
SHOWN = 600
"""How many characters of a server's last output an error quotes."""
TAIL = 4096


class Server:
    """One server process, restarted where what it still does would count for another cell.

    Used from several threads. A context manager: entering it starts the server and waits until it answers
    at `ready_url`; leaving it ends it. What it says goes to `log`.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        ready_url: str,
        log: Path,
        *,
        timeout_s: float = 30.0,
        cwd: Path | None = None,
    ) -> None:
        self._command = list(command)
        self._env = dict(env)
        self._ready_url = ready_url
        self._log = log
        self._timeout_s = timeout_s
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._output: Log | None = None
        self._stale = False
        self._lock = threading.Lock()

    def __enter__(self) -> Server:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGTERM)  # it may have something to write
                process.wait(LEAVING_S)
        self._end()

    @property
    def pid(self) -> int:
        """The server's process id, 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def ready(self) -> None:
        """Start it again where it is to forget what it does, or has ended. Raises AgentError."""
        with self._lock:
            if self._stale or self._ended() is not None:
                self._end()
                self._start()

    def stale(self) -> None:
        """What it does now is nobody's: it is started again before it is asked the next time."""
        with self._lock:
            self._stale = True

    def news(self, *, failed: bool = False) -> str:
        """Says that it ended by itself, and what it printed last; empty while it runs.

        Where a connection `failed`, it may be about to end: that is waited for.
        """
        process = self._process
        if failed and process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(DYING_S)
        code = self._ended()
        return (
            "" if code is None else f"faultwire: the agent's server exited with `{code}`{self._last_words()}"
        )

    def _ended(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def _start(self) -> None:
        if _look(self._ready_url, Dialler()) is None:
            raise AgentError(
                f"found a server at `{self._ready_url}` already running, "
                "expected none before the agent's server is started",
                code="agent.server",
                hint="its traffic would not go through the proxy: end it, or let `start` use another port",
            )
        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._env,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentError(
                f"the agent's server `{self._command[0]}` did not start: {error.strerror or error}",
                hint="`start.command` runs without a shell: name a program in PATH, or its whole path",
            ) from error
        if self._process.stdout is not None:
            self._output = Log(self._process.stdout, self._log)
        self._stale = False
        self._wait()

    def _wait(self) -> None:
        """Wait until it answers at its address, whatever it answers. Raises AgentError."""
        dialler = Dialler()
        why: str | None = ""
        deadline = clock.monotonic() + self._timeout_s
        while clock.monotonic() < deadline:
            code = self._ended()
            if code is not None:
                raise AgentError(
                    f"the agent's server exited with `{code}` before it was ready{self._last_words()}",
                    code="agent.server",
                    hint=f"its output is in `{self._log}`",
                )
            why = _look(self._ready_url, dialler)
            if why is None:
                return
            dialler.wait(POLL_S)
        raise AgentError(
            f"the agent's server was not ready within {self._timeout_s:g} s: `{self._ready_url}` {why}"
            f"{self._last_words()}",
            code="agent.server",
            hint=f"its output is in `{self._log}`; `start.timeout` gives it more time",
        )

    def _end(self) -> None:
        """Kill it and all that it started."""
        process, self._process = self._process, None
        if process is not None:
            kill_group(process.pid)
            process.wait()
            if self._output is not None:
                self._output.settle()

    def _last_words(self) -> str:
        """The last lines of its log, for an error."""
        if self._output is not None and self._ended() is not None:
            self._output.settle()
        if not self._log.exists():
            return ""
        with self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - TAIL))
            lines = file.read(TAIL).decode("utf-8", "replace").splitlines()
        printed = quotable(" / ".join(line.strip() for line in lines if line.strip()), SHOWN, last=True)
        return f", after printing `{safe(printed)}`" if printed else ""


def _look(address: str, dialler: Dialler) -> str | None:
    """Is somebody there? None, or why not."""
    asked = call("GET", urlsplit(address))
    try:
        reply = dialler.ask(asked, pieces(asked), timeout_s=LOOK_S)
    except NoReply as error:
        return error.why
    return None if reply.status < 500 else f"answered HTTP {reply.status}"
