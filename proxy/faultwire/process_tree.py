"""Every process that an agent has started, however deep, and its end.

What we start for an agent carries a mark in its environment, and whatever it starts inherits it: the way in
which CI servers end what a job has left behind. A process in a session of its own, whose parents have ended,
is found by it as well. One that empties its environment is found as long as what started it is there.

Linux only (`proc(5)`): elsewhere nothing is found. Processes of another user cannot be read.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from faultwire import clock

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "FAULTWIRE_RUN"
"""The variable whose value names the run, or the engine of a part of it."""
PROC = "/proc"
GRACE_S = 0.25
"""Seconds for what is asked to end to do it by itself."""
LOOK_S = 0.01
"""Seconds between two looks."""
LONGEST_S = 2.0
"""Seconds after which it is given up: a process can wait for a disk where no signal reaches it."""


def marked(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    """An environment for a process that is to be found by this mark."""
    return {**environment, MARK: mark}


def unmarked(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for a process that is its user's to end."""
    return {name: value for name, value in environment.items() if name != MARK}


def members(mark: str) -> set[int]:
    """The ids of all processes with this mark, and of all that these have started; never our own."""
    if not mark:
        return set()
    word = f"{MARK}={mark}".encode()
    parents, found = {}, set()
    for name in _entries():
        pid = int(name)
        parents[pid] = _parent(pid)
        if word in _environment(pid):
            found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def end(mark: str, *, grace_s: float = 0.0) -> int:
    """End them all: ask them to, where there is `grace_s`, and kill what is left after that. Returns how many
    there were."""
    began = clock.monotonic()
    seen: set[int] = set()
    while (left := members(mark)) and clock.monotonic() - began < grace_s + LONGEST_S:
        polite = clock.monotonic() - began < grace_s
        for pid in left - seen if polite else left:
            _send(pid, signal.SIGTERM if polite else signal.SIGKILL)
        seen |= left
        clock.pause(LOOK_S)
    return len(seen)


def _entries() -> list[str]:
    try:
        return [name for name in os.listdir(PROC) if name.isdigit()]
    except FileNotFoundError:  # no Linux
        return []


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it has ended, or is somebody else's
        return []


def _parent(pid: int) -> int:
    """The parent's id; 0 where it has none, or has ended itself."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b") ")[2].split()[:2]
    except (OSError, ValueError):
        return 0
    return 0 if state in (b"Z", b"X") else int(parent)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended, or is somebody else's by now
        os.kill(pid, number)
