"""Start an engine in its own process and drive it; imports no mitmproxy.

The engine reads its settings from its standard input and lives as long as that stays open: when this
process ends, however it ends, so does the engine. Everything after that goes over the engine's
control socket, one JSON object a line in each direction.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.settings import MAX_LINE

if TYPE_CHECKING:
    from types import TracebackType

    from faultwire.mitm.settings import EngineSettings

START_TIMEOUT_S = 30.0
REPLY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class SessionHandle:
    """How an agent's traffic is told to be of one session: `proxy_url` names it by user, `port` is
    a listener of its own for runtimes that cannot send a proxy user."""

    name: str
    user: str
    token: str
    port: int
    proxy_url: str


@dataclass(frozen=True)
class SessionSummary:
    """What an engine says of a closed session. `voids` tells why it proves nothing, if it does; `notes`
    what traffic there was that became no exchange."""

    name: str
    acknowledged: int
    exchanges: int
    by_kind: dict[str, int] = field(default_factory=dict)
    fired: dict[str, int] = field(default_factory=dict)
    voids: tuple[str, ...] = ()
    ledger_hash: str | None = None
    notes: tuple[str, ...] = ()


class Engine:
    """A running engine. A context manager: leaving it stops the engine."""

    def __init__(self, process: subprocess.Popen[bytes], ready: dict[str, Any]) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._lines = _Lines(_connect(Path(ready["control"])))
        self.host: str = ready["host"]
        self.port: int = ready["port"]
        self.ca_pem = Path(ready["ca_bundle_source"])
        self.control = Path(ready["control"])
        self.implicit: bool = bool(ready.get("implicit"))

    @classmethod
    def start(cls, settings: EngineSettings) -> Engine:
        """Start one and wait until it listens.

        Raises:
            UsageError: it refused its settings (port taken, CA expired, unknown fault).
            FaultwireError: it died or said nothing.
        """
        settings.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _open_log(settings.run_dir / "engine.log") as log:
            process = subprocess.Popen(
                [sys.executable, "-O", "-m", "faultwire.mitm"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_environment(),
                # Ctrl-C at a terminal goes to the command, which stops the engine in its own time.
                process_group=0,
            )
        try:
            ready = _first_word(process, settings)
        except BaseException:
            _end(process)
            raise
        return cls(process, ready)

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Is the process still there?"""
        return self._process.poll() is None

    def open_session(self, name: str, profile: dict[str, Any], seed: int, agent: str = "") -> SessionHandle:
        """Open a session; `profile` is a profile as JSON."""
        reply = self._call("open_session", name=name, profile=profile, seed=seed, agent=agent)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return SessionHandle(
            name=name,
            user=reply["user"],
            token=reply["token"],
            port=reply["port"],
            proxy_url=f"http://{reply['user']}:{reply['token']}@{host}:{self.port}",
        )

    def close_session(self, name: str) -> SessionSummary:
        """Close a session once its exchanges are committed, and hear what it did."""
        reply = self._call("close_session", name=name)
        reply["voids"], reply["notes"] = tuple(reply["voids"]), tuple(reply["notes"])
        return SessionSummary(**reply)

    def flush(self) -> int:
        """Commit everything recorded so far; the number of acknowledged exchanges."""
        return int(self._call("flush")["acknowledged"])

    def stats(self) -> dict[str, Any]:
        """Counters of the whole engine."""
        return self._call("stats")

    def stop(self, *, at_once: bool = False) -> None:
        """Let exchanges in flight end (a few seconds at most), commit the tape, end the process."""
        self._lines.close()
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
            if at_once:
                self._process.send_signal(signal.SIGINT)
        _end(self._process)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop(at_once=kind is KeyboardInterrupt)

    def _call(self, op: str, **arguments: Any) -> dict[str, Any]:
        with self._lock:
            try:
                reply = self._lines.ask({"op": op, **arguments})
            except OSError as error:
                raise self._gone(error) from error
        if "error" in reply:
            raise _as_error(reply["error"])
        return reply

    def _gone(self, error: OSError) -> FaultwireError:
        code = self._process.poll()
        how = f"ended with code `{code}`" if code is not None else f"does not answer: {error}"
        return FaultwireError(f"the engine {how}", code="engine.lost", hint="its log is `engine.log`")


class _Lines:
    """One JSON object a line over a Unix socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._file = connection.makefile("rb")

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self._socket.sendall(json.dumps(message).encode() + b"\n")
        line = self._file.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            raise ConnectionError("the control socket was closed")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def _connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(REPLY_TIMEOUT_S)
    connection.connect(str(path))
    return connection


def _environment() -> dict[str, str]:
    """Ours, without what would send the engine's own traffic through some proxy."""
    dropped = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
    kept = {key: value for key, value in os.environ.items() if key.lower() not in dropped}
    kept["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return kept


def _open_log(path: Path) -> Any:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    return os.fdopen(fd, "ab")


def _first_word(process: subprocess.Popen[bytes], settings: EngineSettings) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise FaultwireError("the engine was started without pipes", code="engine.start")
    try:
        process.stdin.write(settings.model_dump_json().encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        # It ended before it read its settings; what it printed, if anything, says why.
        pass
    line = _line_within(process.stdout.fileno(), START_TIMEOUT_S)
    if line is None:
        raise FaultwireError(
            f"the engine said nothing in `{START_TIMEOUT_S:.0f}` seconds", code="engine.start"
        )
    if not line:
        raise FaultwireError(
            f"the engine ended with code `{process.wait()}` before it listened",
            code="engine.start",
            hint=f"see `{settings.run_dir / 'engine.log'}`",
        )
    word: dict[str, Any] = json.loads(line)
    if "error" in word:
        raise _as_error(word["error"])
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


def _as_error(error: dict[str, Any]) -> FaultwireError:
    kind = UsageError if error.get("exit_code") == 2 else FaultwireError
    return kind(error["message"], code=error["code"], hint=error.get("hint"))


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
