"""Start a program of ours in a process of its own, and hear its first word.

It lives as long as its standard input stays open: when this process ends, however it ends, so does it.
It says in one JSON line on its standard output that it listens, or why it does not.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

START_TIMEOUT_S = 30.0


def start(arguments: Sequence[str], log: Path | None, base: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A Python process with these arguments, this environment and our modules; `log` gets its stderr."""
    with _open_log(log) as errors:
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**base, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            # Ctrl-C at a terminal goes to the command, which ends its helpers in its own time.
            process_group=0,
        )


def first_word(process: subprocess.Popen[bytes], what: str, log: Path | None) -> dict[str, Any]:
    """What it says once it listens; `error` in it is for the caller. `what` names it in errors.

    Raises FaultwireError (`WHAT.start`) where it ends or says nothing in time.
    """
    code = f"{what}.start"
    if process.stdout is None:
        raise FaultwireError(f"the {what} was started without pipes", code=code)
    line = _line_within(process.stdout.fileno(), START_TIMEOUT_S)
    if line is None:
        raise FaultwireError(f"the {what} said nothing in `{START_TIMEOUT_S:.0f}` seconds", code=code)
    if not line:
        ended = process.wait()
        hint = f"see `{log}`" if log else None
        raise FaultwireError(f"the {what} ended with code `{ended}` before it listened", code=code, hint=hint)
    word: dict[str, Any] = json.loads(line)
    return word


def end(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    """Close its standard input, which ends it; kill it where that does not help."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _open_log(path: Path | None) -> IO[bytes]:
    if path is None:
        return open(os.devnull, "wb")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "ab")


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
