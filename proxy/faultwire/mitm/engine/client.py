"""Start an engine in its own process and drive it; imports no mitmproxy.

The engine reads its settings from its standard input and lives as long as that stays open: when this
process ends, however it ends, so does the engine. Everything after that goes over the engine's
control socket, one JSON object a line in each direction.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import child_process
from faultwire.errors import FaultwireError, UsageError
from faultwire.events import Bypass, FailedHandshake
from faultwire.mitm.engine.control_client import ControlClient
from faultwire.mitm.settings import engine_file

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from types import TracebackType

    from faultwire.mitm.settings import EngineSettings
    from faultwire.replay.settings import SessionAnswers

STOP_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class SessionHandle:
    """How an agent's traffic is assigned to one session: `proxy_url` names it by user, `port` is
    a listener of its own for runtimes that cannot send a proxy user."""

    name: str
    user: str
    token: str
    port: int
    proxy_url: str
    trace: str = ""
    """What a call names to be of this session where several share a user; no secret."""


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
    replay: dict[str, Any] | None = None
    """What was replayed, and what was not, where a tape answered."""
    incomplete: str | None = None
    """Why part of its traffic is not on the tape, where it passed all the same."""
    bypassed: tuple[Bypass, ...] = ()
    """Where its processes were seen connected past the proxy (`notes` say it in words), ..."""
    bypassed_more: int = 0
    """... and how many addresses more."""
    handshakes: tuple[FailedHandshake, ...] = ()
    """Handshakes that its clients gave up; `program` is a path here."""


class Engine:
    """A running engine. A context manager: leaving it stops the engine.

    May be used from several threads: calls at the same time have connections of their own, so that a session
    which takes its time to close keeps nobody waiting. `token` is the implicit session's, empty without one.
    """

    def __init__(self, process: subprocess.Popen[bytes], ready: dict[str, Any]) -> None:
        self._process = process
        self.host: str = ready["host"]
        self.port: int = ready["port"]
        self.ca_pem = Path(ready["ca_bundle_source"])
        self.control = Path(ready["control"])
        self.implicit: bool = bool(ready.get("implicit"))
        self.user: str = ready.get("user") or ""
        self.guarded: bool = bool(ready.get("guarded"))
        """Can others reach it, so that everybody needs a token?"""
        self.token: str = ready.get("token") or ""
        self._asking = ControlClient.at(self.control)

    @classmethod
    def start(cls, settings: EngineSettings) -> Engine:
        """Start one and wait until it listens.

        Raises:
            UsageError: it refused its settings (port taken, CA expired, unknown fault).
            FaultwireError: it died or sent no message.
        """
        handed = settings.namespace.descriptors if settings.namespace is not None else ()
        with StartingEngine(settings.run_dir, handed) as starting:
            return starting.configure(settings)

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the process ended; None while it is there."""
        return self._process.poll()

    @property
    def alive(self) -> bool:
        """Is the process still there?"""
        return self._process.poll() is None

    def open_session(
        self,
        name: str,
        profile: dict[str, Any],
        seed: int,
        agent: str = "",
        *,
        via: str = "",
        dice: str = "",
        answers: SessionAnswers | None = None,
    ) -> SessionHandle:
        """Open a session; `profile` is a profile as JSON, `via` the shared user that its traffic comes by,
        and `dice` the session whose dice it has, where that is another. `answers` says what of a replayed
        tape answers it, where that is not all of it."""
        about: dict[str, Any] = {"profile": profile, "seed": seed, "agent": agent, "via": via, "dice": dice}
        if answers is not None:
            about["answers"] = answers.model_dump(mode="json")
        return self._handle(name, self._call("open_session", name=name, **about))

    def share(self, name: str, *, unnamed: bool = False) -> SessionHandle:
        """Open a user that several sessions share; with `unnamed`, of traffic without a user as well."""
        return self._handle(name, self._call("share", name=name, unnamed=unnamed))

    def _handle(self, name: str, reply: dict[str, Any]) -> SessionHandle:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return SessionHandle(
            name=name,
            user=reply["user"],
            token=reply["token"],
            port=reply["port"],
            proxy_url=f"http://{reply['user']}:{reply['token']}@{host}:{self.port}",
            trace=reply.get("trace", ""),
        )

    def close_session(self, name: str, seen: Sequence[Bypass] = (), more: int = 0) -> SessionSummary:
        """Close a session once its exchanges are committed, and hear what it did.

        `seen` are the addresses that its agent's processes were connected to, our own among them, without
        names; there were `more`.
        """
        peers = [{"address": one.address, "port": one.port, "transport": one.transport} for one in seen]
        reply = self._call("close_session", name=name, seen=peers, more=more)
        reply["voids"], reply["notes"] = tuple(reply["voids"]), tuple(reply["notes"])
        reply["bypassed"] = tuple(Bypass(**one) for one in reply["bypassed"])
        reply["handshakes"] = tuple(FailedHandshake(**one) for one in reply["handshakes"])
        return SessionSummary(**reply)

    def flush(self) -> int:
        """Commit everything recorded so far; the number of acknowledged exchanges."""
        return int(self._call("flush")["acknowledged"])

    def stats(self) -> dict[str, Any]:
        """Counters of the whole engine."""
        return self._call("stats")

    def notes(self) -> tuple[str, ...]:
        """What traffic there was that belongs to no session, in words."""
        return tuple(self.stats()["notes"])

    def stop(self, *, at_once: bool = False) -> None:
        """Let exchanges in flight end (a few seconds at most), commit the tape, end the process."""
        self._asking.close()
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
            if at_once:
                self._process.send_signal(signal.SIGINT)
        child_process.end(self._process, STOP_TIMEOUT_S)

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
        try:
            reply = self._asking.ask({"op": op, **arguments})
        except OSError as error:
            raise self._gone(error) from error
        if "error" in reply:
            raise _as_error(reply["error"])
        return reply

    def _gone(self, error: OSError) -> FaultwireError:
        code = self._process.poll()
        how = f"ended with code `{code}`" if code is not None else f"does not answer: {error}"
        return FaultwireError(f"the engine {how}", code="engine.lost", hint="its log is `engine.log`")


class StartingEngine:
    """The process of an engine, which imports what it needs while its starter makes up its settings.

    A context manager: leaving it ends a process that got no settings. `run_dir` is made where it is missing;
    `descriptors` are handed to it under the same numbers; `number` is which engine of the run it is, from 1.
    """

    def __init__(self, run_dir: Path, descriptors: Sequence[int] = (), number: int = 1) -> None:
        run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._log = run_dir / engine_file("engine.log", number)
        self._process = child_process.start(
            "faultwire.mitm", (), self._log, _environment(), asserts=False, fds=descriptors
        )
        self._asked = self._configured = False

    def configure(self, settings: EngineSettings) -> Engine:
        """Hand it its settings, and wait until it listens; raises as `Engine.start` does."""
        self._asked = True
        _send_settings(self._process, settings)
        ready = child_process.first_word(self._process, "engine", self._log)
        if "error" in ready:
            raise _as_error(ready["error"])
        self._configured = True
        return Engine(self._process, ready)

    def __enter__(self) -> StartingEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._asked:
            self._process.kill()  # it has touched nothing yet, and would first import the rest
        if not self._configured:
            child_process.end(self._process, STOP_TIMEOUT_S)


def _environment() -> dict[str, str]:
    """Ours, without the user's proxies: which of them the engine uses is among its settings.

    What is given back of a large body goes to the system: left to itself, glibc keeps up to 32 MB of each.
    Where that is set, it gives back every 128 KB at the end of its heap as well, to be mapped anew for the
    next body: a quarter of what a megabyte costs. It may keep 8 MB there.
    """
    dropped = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
    kept = {key: value for key, value in os.environ.items() if key.lower() not in dropped}
    return {"MALLOC_MMAP_THRESHOLD_": str(1 << 20), "MALLOC_TRIM_THRESHOLD_": str(8 << 20), **kept}


def _send_settings(process: subprocess.Popen[bytes], settings: EngineSettings) -> None:
    if process.stdin is None:
        raise FaultwireError("the engine was started without pipes", code="engine.start")
    # Where it ended before it read its settings, what it printed, if anything, says why.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(settings.model_dump_json().encode() + b"\n")
        process.stdin.flush()


def _as_error(error: dict[str, Any]) -> FaultwireError:
    kind = UsageError if error.get("exit_code") == 2 else FaultwireError
    return kind(error["message"], code=error["code"], hint=error.get("hint"))
