"""Start a mock in its own process and stop it; imports nothing heavy."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from faultwire import child_process
from faultwire.errors import FaultwireError, Location, ScenarioError, UsageError
from faultwire.mock.hosts import routes

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

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
            FaultwireError: it died or sent no message.
        """
        settings = {
            "script": None if script is None else str(script),
            "port": port,
            "tls": tls,
            "chunk_delay_ms": chunk_delay_ms,
            "first_event_delay_ms": first_event_delay_ms,
        }
        process = child_process.start("faultwire.mock", [json.dumps(settings)], log, os.environ)
        try:
            ready = child_process.first_word(process, "mock", log)
            if "error" in ready:
                raise _as_error(ready["error"], _kind(ready["error"]))
        except BaseException:
            child_process.end(process, STOP_TIMEOUT_S)
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
        child_process.end(self._process, STOP_TIMEOUT_S)

    def __enter__(self) -> Mock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def _kind(error: dict[str, Any]) -> type[FaultwireError]:
    if error["code"].startswith("scenario."):
        return ScenarioError
    return UsageError if error["exit_code"] == UsageError.exit_code else FaultwireError


def _as_error(error: dict[str, Any], kind: type[FaultwireError]) -> FaultwireError:
    where = Location(**error["where"]) if error["where"] else None
    also = [_as_error(other, kind) for other in error["also"]]
    return kind(error["message"], code=error["code"], hint=error["hint"], where=where, also=also)
