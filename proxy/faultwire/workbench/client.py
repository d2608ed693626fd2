"""Starts a workbench in a process of its own beside a run, and ends it with the run."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from faultwire import child_process
from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.workbench.serve import Listen

STOP_TIMEOUT_S = 5.0


@contextmanager
def started(
    listen: Listen,
    tape: Path,
    control: Path,
    folder: Path,
    base: Path,
    *,
    on_gone: str = "resume",
    program: str | None = None,
    otel: str | None = None,
) -> Iterator[dict[str, Any]]:
    """A workbench over the tape that the engine at `control` writes; its link as `link`. Its log is in
    `folder`. `on_gone` is what becomes of what is held when no page is open any more, `program` a token for
    programs, `otel` where spans go.

    Raises UsageError where it cannot listen there, FaultwireError where it fails.
    """
    given = {
        "tape": str(tape.absolute()),
        "control": str(control),
        "on_gone": on_gone,
        "program": program,
        "otel": otel,
        "base": str(base.absolute()),
        "host": listen.host,
        "port": listen.port,
        "certificate": None if listen.certificate is None else str(listen.certificate.absolute()),
        "key": None if listen.key is None else str(listen.key.absolute()),
    }
    log = folder / "workbench.log"
    process = child_process.start("faultwire.workbench", [json.dumps(given)], log, os.environ)
    try:
        ready = child_process.first_word(process, "workbench", log)
        if "error" in ready:
            raise _as_error(ready["error"])
        yield ready
    finally:
        child_process.end(process, STOP_TIMEOUT_S)


def _as_error(error: dict[str, Any]) -> FaultwireError:
    kind = UsageError if error["exit_code"] == UsageError.exit_code else FaultwireError
    return kind(error["message"], code=error["code"], hint=error["hint"])
