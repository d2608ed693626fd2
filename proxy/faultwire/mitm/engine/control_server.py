"""The engine's control socket: JSON lines over a Unix socket that only our own user can open.

Operations: `open_session`, `close_session`, `share`, `flush`, `stats`, `drain`, `shutdown`, and for
runtime control `arm`, `break`, `hold`, `disarm`, `armed`, `held`, `look`, `decide`. None takes a path, a
command or code.

What a connection arms is armed for as long as it is open and says something often enough: whoever arms
faults and is killed leaves none behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from faultwire.errors import FaultwireError, UsageError
from faultwire.events import Bypass
from faultwire.mitm.network.bypassed import CloseSettings
from faultwire.mitm.settings import (
    MAX_LINE,
    BreakSettings,
    DecisionSettings,
    DisarmSettings,
    HeldSettings,
    InterventionSettings,
    SessionSettings,
    ShareSettings,
    engine_file,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from faultwire.mitm.flow.runtime_control import RuntimeControl

    Operation = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

MAX_PATH = 100
"""Linux takes 107 bytes as a socket's path."""


class Controlled(Protocol):
    """What the socket drives."""

    async def open_session(self, settings: SessionSettings) -> dict[str, Any]:
        """A session's user, token and port."""

    async def close_session(self, name: str, seen: Sequence[Bypass] = (), more: int = 0) -> dict[str, Any]:
        """A session's summary; its agent was seen connected to these addresses, and `more`."""

    async def share(self, settings: ShareSettings) -> dict[str, Any]:
        """A shared user, its token and port."""

    async def flush(self) -> int:
        """The number of acknowledged exchanges."""

    @property
    def runtime(self) -> RuntimeControl:
        """What is armed."""

    def describe(self) -> dict[str, Any]:
        """Counters."""

    def drain_off(self, within_s: float) -> None:
        """Take no new sessions; those there are have so long to finish."""

    def stop(self) -> None:
        """Begin to end."""


class Control:
    """The server side. `path` is where it listens."""

    def __init__(self, engine: Controlled, run_dir: Path, number: int = 1) -> None:
        self._engine = engine
        self._folder: Path | None = None
        self.path = run_dir / engine_file("control.sock", number)
        if len(os.fsencode(self.path)) > MAX_PATH:
            self._folder = Path(tempfile.mkdtemp(prefix="faultwire-"))
            self.path = self._folder / self.path.name
        self._operations: dict[str, Operation] = {
            "open_session": self._open_session,
            "close_session": self._close_session,
            "share": self._share,
            "flush": self._flush,
            "stats": self._stats,
            "drain": self._drain,
            "shutdown": self._shutdown,
        }
        self._runtime = {
            "arm": self._arm,
            "break": self._break,
            "held": self._held,
            "look": self._look,
            "decide": self._decide,
            "hold": self._listed,
            "disarm": self._disarm,
            "armed": self._listed,
        }
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._controllers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen. Raises UsageError where the folder cannot hold the socket."""
        self.path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, self.path, limit=MAX_LINE)
        except OSError as error:
            raise UsageError(
                f"the control socket `{self.path}` cannot be made: {error.strerror}", code="engine.control"
            ) from error
        finally:
            os.umask(before)

    def close(self) -> None:
        """Stop listening and remove the socket."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.close()
        self.path.unlink(missing_ok=True)
        if self._folder is not None:
            self._folder.rmdir()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if _peer(writer)[1] != os.getuid():
                return
            while line := await reader.readline():
                reply = await self._answer(line, writer)
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            pass  # the other side left, or sent a line that is too long: either way it is over
        finally:
            self._writers.discard(writer)
            if writer in self._controllers:
                self._controllers.discard(writer)
                self._engine.runtime.lose(writer)
            writer.close()

    async def _answer(self, line: bytes, owner: asyncio.StreamWriter) -> dict[str, Any]:
        try:
            message = json.loads(line)
            name = str(message.pop("op", None)) if isinstance(message, dict) else ""
            if name in self._runtime:
                self._controllers.add(owner)
                self._engine.runtime.renew(owner)
                return self._runtime[name](message, owner)
            operation = self._operations.get(name)
            if operation is None:
                raise UsageError("found an unknown operation", code="engine.operation")
            return await operation(message)
        except FaultwireError as error:
            return as_json(error)
        except (ValidationError, json.JSONDecodeError, RecursionError) as error:
            return as_json(UsageError(f"found a bad message ({type(error).__name__})", code="engine.message"))
        except Exception as error:  # noqa: BLE001 - the caller must hear it, and the engine go on
            what = f"the operation failed (`{type(error).__name__}`)"
            return as_json(FaultwireError(what, code="engine.internal"))

    async def _open_session(self, message: dict[str, Any]) -> dict[str, Any]:
        return await self._engine.open_session(SessionSettings.model_validate(message))

    async def _close_session(self, message: dict[str, Any]) -> dict[str, Any]:
        settings = CloseSettings.model_validate(message)
        seen = tuple(Bypass(str(one.address), one.port, one.transport) for one in settings.seen)
        return await self._engine.close_session(settings.name, seen, settings.more)

    async def _share(self, message: dict[str, Any]) -> dict[str, Any]:
        return await self._engine.share(ShareSettings.model_validate(message))

    def _arm(self, message: dict[str, Any], owner: asyncio.StreamWriter) -> dict[str, Any]:
        settings = InterventionSettings.model_validate_json(json.dumps(message))
        return {"id": self._engine.runtime.arm(settings, owner, _named(owner))}

    def _break(self, message: dict[str, Any], owner: asyncio.StreamWriter) -> dict[str, Any]:
        settings = BreakSettings.model_validate_json(json.dumps(message))
        return {"id": self._engine.runtime.set_break(settings, owner, _named(owner))}

    def _held(self, _message: dict[str, Any], _owner: asyncio.StreamWriter) -> dict[str, Any]:
        return {"held": self._engine.runtime.desk.listed(), "interventions": self._engine.runtime.listed()}

    def _look(self, message: dict[str, Any], _owner: asyncio.StreamWriter) -> dict[str, Any]:
        return self._engine.runtime.desk.look(HeldSettings.model_validate(message).held)

    def _decide(self, message: dict[str, Any], owner: asyncio.StreamWriter) -> dict[str, Any]:
        asked = DecisionSettings.model_validate_json(json.dumps(message))
        return self._engine.runtime.desk.decide(asked, _named(owner))

    def _disarm(self, message: dict[str, Any], _owner: asyncio.StreamWriter) -> dict[str, Any]:
        asked = DisarmSettings.model_validate(message)
        return self._engine.runtime.disarm(asked.id, asked.why)

    def _listed(self, _message: dict[str, Any], _owner: asyncio.StreamWriter) -> dict[str, Any]:
        return {"interventions": self._engine.runtime.listed()}

    async def _flush(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"acknowledged": await self._engine.flush()}

    async def _stats(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._engine.describe()

    async def _drain(self, message: dict[str, Any]) -> dict[str, Any]:
        from faultwire.mitm.engine.drain_settings import DrainSettings

        self._engine.drain_off(DrainSettings.model_validate(message).within_s)
        return {"draining": True}

    async def _shutdown(self, message: dict[str, Any]) -> dict[str, Any]:
        self._engine.stop()
        return {"stopping": True}


def as_json(error: FaultwireError) -> dict[str, Any]:
    """An error as the other side reads it."""
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "exit_code": error.exit_code,
        }
    }


def _named(writer: asyncio.StreamWriter) -> str:
    pid, uid = _peer(writer)
    return f"process {pid} of user {uid}"


def _peer(writer: asyncio.StreamWriter) -> tuple[int, int]:
    """The process at the other end, and its user; 0 and our own where the system cannot say."""
    sock = writer.get_extra_info("socket")
    option = getattr(socket, "SO_PEERCRED", None)
    if sock is None or option is None:
        return 0, os.getuid()
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return int(pid), int(uid)
