"""Start a program of ours in a process of its own, and hear its first word.

It lives as long as its standard input stays open: when this process ends, however it ends, so does it.
It says in one JSON line on its standard output that it listens, or why it does not; lines before that one
report how far its start has come.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Any

from faultwire import child_main, clock
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

leave = child_main.leave
"""Ends such a program, with a code."""
START_TIMEOUT_S = 30.0
"""Seconds for each step of a start: on a busy machine what counts is that it goes on."""
LONGEST_START_S = 600.0
"""Seconds after which a start is given up, however many steps it reports."""
REPORTING = "FAULTWIRE_REPORTS_ITS_START"
"""Set for a program whose starter reads the steps that it reports."""
STAGE = "stage"
"""The member of a line that reports a step, in a few words; the first line without it is the first word."""


def start(
    module: str,
    arguments: Sequence[str],
    log: Path | None,
    base: Mapping[str, str],
    *,
    asserts: bool = True,
    fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """A Python process that runs one of our modules in this environment; `log` gets its stderr.

    It imports from our installation alone (`child_main`). Without `asserts` it runs with `-O`. It has the
    descriptors `fds` under the same numbers.
    """
    options = ["-I"] if asserts else ["-I", "-O"]
    return spawn([sys.executable, *options, child_main.__file__, module, *arguments], log, base, fds)


def spawn(
    command: Sequence[str], log: Path | None, base: Mapping[str, str], fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """A process with pipes that a start is reported on; `log` gets its stderr."""
    with _open_log(log) as errors:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**base, REPORTING: "1"},
            # Ctrl-C at a terminal goes to the command, which ends its helpers in its own time.
            process_group=0,
            pass_fds=fds,
        )


def first_word(
    process: subprocess.Popen[bytes], what: str, log: Path | None, timeout_s: float = START_TIMEOUT_S
) -> dict[str, Any]:
    """What it says once it listens; `error` in it is for the caller. `what` names it in errors.

    It has `timeout_s` for each step that it reports (`report`). Raises FaultwireError (`WHAT.start`) where it
    ends, or takes longer.
    """
    code = f"{what}.start"
    if process.stdout is None:
        raise FaultwireError(f"the {what} was started without pipes", code=code)
    lines = _Lines(process.stdout.fileno())
    began, stage = clock.monotonic(), "the start of Python"
    while True:
        left = began + LONGEST_START_S - clock.monotonic()
        line = lines.next(min(timeout_s, left))
        if line is None:
            raise _too_slow(what, stage, clock.monotonic() - began, log)
        if not line:
            ended = process.wait()
            hint = f"see `{log}`" if log else None
            raise FaultwireError(
                f"the {what} ended with code `{ended}` before it listened", code=code, hint=hint
            )
        word: dict[str, Any] = json.loads(line)
        if STAGE not in word:
            return word
        stage = str(word[STAGE])


def report(stage: str) -> None:
    """Report to whoever started us which step of our start comes next."""
    if REPORTING not in os.environ:
        return
    sys.stdout.write(json.dumps({STAGE: stage}) + "\n")
    sys.stdout.flush()


def _too_slow(what: str, stage: str, waited_s: float, log: Path | None) -> FaultwireError:
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    busy = load > cores
    cause = "wait until the machine is less busy, or give it fewer tasks at once" if busy else "try again"
    where = f"; its log is `{log}`" if log else ""
    return FaultwireError(
        f"the {what} was not ready after `{waited_s:.0f}` seconds: it did not get beyond `{stage}`, with a "
        f"load average of `{load:.1f}` on `{cores}` {'processor' if cores == 1 else 'processors'}",
        code=f"{what}.start",
        hint=f"{cause}{where}",
    )


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


class _Lines:
    """The lines of a pipe, as they come."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._data = b""

    def next(self, seconds: float) -> bytes | None:
        """The next line; empty at the end of the pipe, None where the time ran out."""
        deadline = clock.monotonic() + seconds
        while b"\n" not in self._data:
            left = deadline - clock.monotonic()
            if left <= 0 or not select.select([self._fd], [], [], left)[0]:
                return None
            piece = os.read(self._fd, 65536)
            if not piece:
                return b""
            self._data += piece
        line, _, self._data = self._data.partition(b"\n")
        return line + b"\n"
