"""Start a mock in its own process and stop it; imports nothing heavy.

The child lives as long as its standard input stays open: when this process ends, however it ends, so
does the mock.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import FaultwireError, Location, ScenarioError, UsageError
from faultwire.mock.hosts import routes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0


class Mock:
    """A running mock. A context manager: leaving it stops the mock.

    `http` and `https` are ports on 127.0.0.1; `https` and `ca` (a PEM file) are None without TLS.
    """

    def __init__(self, process: subprocess.Popen[bytes], ready: dict[str, Any]) -> None:
        self._process = process
        self.http: int = ready["http"]
        self.https: int | None = ready["https"]
        self.ca: str | None = ready["ca"]

    @classmethod
    def start(
        cls,
        script: Path | None = None,
        *,
        log: Path | None = None,
        tls: bool = False,
        port: int = 0,
        chunk_delay_ms: int = 0,
        first_event_delay_ms: int = 0,
    ) -> Mock:
        """Start one and wait until it listens. `log` gets what it says on stderr.

        Raises:
            ScenarioError: the script is not understood.
            UsageError: the port is taken.
            FaultwireError: it died or said nothing.
        """
        settings = {
            "script": None if script is None else str(script),
            "port": port,
            "tls": tls,
            "chunk_delay_ms": chunk_delay_ms,
            "first_event_delay_ms": first_event_delay_ms,
        }
        with _log(log) as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "faultwire.mock", json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                # Ctrl-C at a terminal goes to the command, which stops the mock after the engine.
                process_group=0,
            )
        try:
            ready = _first_word(process, log)
        except BaseException:
            _end(process)
            raise
        return cls(process, ready)

    @property
    def routes(self) -> Mapping[str, str]:
        """Where each provider's host name goes instead."""
        return routes(self.http)

    @property
    def pid(self) -> int:
        """The mock's process id."""
        return self._process.pid

    def stop(self) -> None:
        """Stop it."""
        _end(self._process)

    def __enter__(self) -> Mock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def _log(path: Path | None) -> IO[bytes]:
    if path is None:
        return open(os.devnull, "wb")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "ab")


def _first_word(process: subprocess.Popen[bytes], log: Path | None) -> dict[str, Any]:
    if process.stdout is None:
        raise FaultwireError("the mock was started without pipes", code="mock.start")
    line = _line_within(process.stdout.fileno(), START_TIMEOUT_S)
    if line is None:
        raise FaultwireError(f"the mock said nothing in `{START_TIMEOUT_S:.0f}` seconds", code="mock.start")
    if not line:
        code = process.wait()
        hint = f"see `{log}`" if log else None
        raise FaultwireError(
            f"the mock ended with code `{code}` before it listened", code="mock.start", hint=hint
        )
    word: dict[str, Any] = json.loads(line)
    if "error" in word:
        raise _as_error(word["error"], _kind(word["error"]))
    return word


def _line_within(fd: int, seconds: float) -> bytes | None:
    """One line from a pipe; empty at its end, None where the time ran out."""
    deadline = clock.monotonic() + seconds
    data = b""
    while not data.endswith(b"\n"):
        left = deadline - clock.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        piece = os.read(fd, 65536)
        if not piece:
            return b""
        data += piece
    return data


def _kind(error: dict[str, Any]) -> type[FaultwireError]:
    if error["code"].startswith("scenario."):
        return ScenarioError
    return UsageError if error["exit_code"] == UsageError.exit_code else FaultwireError


def _as_error(error: dict[str, Any], kind: type[FaultwireError]) -> FaultwireError:
    where = Location(**error["where"]) if error["where"] else None
    also = [_as_error(other, kind) for other in error["also"]]
    return kind(error["message"], code=error["code"], hint=error["hint"], where=where, also=also)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its standard input, which ends it; kill it where that does not help."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
