"""Searches that go on in other terminals, as their state files say: how far they are, and what came last.

A state file has a line for each run of the agent, on the disk before the next one begins. That a process
holds it is read from the kernel's list, never tried out: a lock of ours could turn away the command that
wants it.
`evolve` has no state file; its runs are the sessions on the tape of its folder.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import TapeError
from faultwire.report.text import line
from faultwire.runner.folder import is_held
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.redact.redactor import Redactor, fresh_key
from faultwire.workbench.analyses import result_of

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("explore", "shrink", "blame")
"""Commands with a state file, which are also the names of their folders."""
LOOK_S = 1.0
"""Seconds between two looks, however many pages are open."""
MOST, NEWEST = 20, 20
"""Searches that are told, and run folders that are looked at, the newest."""
RECENT_S = 60.0
"""Where no list of locks can be read, a file that was written so lately counts as held."""
LOCKS = Path("/proc/locks")
REASON = 300
_LONGEST = 1 << 20
"""Bytes of a file that one look reads."""


@dataclass(slots=True)
class Search:
    """One search: the runs of its agent by outcome. None: they are not known."""

    kind: str
    id: str
    path: Path
    running: bool = True
    runs: int = 0
    failed: int | None = 0
    unjudged: int | None = 0
    last: str = ""
    result: bool = False
    read: int = field(default=0, repr=False)
    """Bytes of its file that were read."""

    def dump(self) -> dict[str, Any]:
        """For the page; texts are inert."""
        return {
            "kind": self.kind, "id": line(self.id), "running": self.running, "runs": self.runs,
            "failed": self.failed, "unjudged": self.unjudged, "last": self.last, "result": self.result,
        }  # fmt: skip


class Searches:
    """The searches below a folder that go on, and those that ended since somebody looks. Any thread asks."""

    def __init__(self, base: Path | None) -> None:
        self._base, self._lock = base, threading.Lock()
        self._known: dict[Path, Search] = {}
        self._looked: float | None = None
        self._redactor = Redactor(fresh_key())

    def look(self) -> list[dict[str, Any]]:
        """What is known now, at most so old as two looks are apart."""
        if self._base is None:
            return []
        with self._lock:
            now = clock.monotonic()
            if self._looked is None or now - self._looked >= LOOK_S:
                self._looked = now
                self._look(self._base)
            return [one.dump() for one in self._known.values()]

    def _look(self, base: Path) -> None:
        going_on = {one.path: one for one in (*_journals(base), *_evolutions(base))}
        for path, found in going_on.items():
            if path in self._known or len(self._known) < MOST:
                self._known.setdefault(path, found)
        for path, search in self._known.items():
            if not search.running and search.result:
                continue
            search.running = path in going_on
            (self._count_sessions if search.kind == "evolve" else self._count_lines)(search)
            if not search.running and not search.result:
                search.result = result_of(base, search.kind, line(search.id)) is not None

    def _count_lines(self, search: Search) -> None:
        """Take the lines that were added. What is no line of a search says nothing."""
        try:
            with search.path.open("rb") as file:
                file.seek(search.read)
                data = file.read(_LONGEST)
        except OSError:
            return  # it was removed: `shrink` removes one without any run
        whole = data[: data.rfind(b"\n") + 1]
        search.read += len(whole)
        for text in whole.splitlines():
            self._take(search, text)

    def _take(self, search: Search, text: bytes) -> None:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(found, dict) or "failed" not in found:
            return  # the head of the file
        failed = found["failed"]
        search.runs += 1
        search.failed = (search.failed or 0) + (failed is True)
        search.unjudged = (search.unjudged or 0) + (failed is None)
        words = {True: "failed", False: "passed"}.get(failed, "could not be judged")
        reason = self._redactor.text(str(found.get("reason", ""))[: 4 * REASON], {})
        search.last = line(f"{words}: {reason}" if reason else words, REASON)

    def _count_sessions(self, search: Search) -> None:
        try:
            with TapeReader.open(search.path) as reader:
                search.runs = sum(1 for one in reader.sessions() if one.ended_ms is not None)
        except TapeError:
            return  # it is being made


def _journals(base: Path) -> Iterator[Search]:
    held = _held()
    for kind in KINDS:
        for path in sorted((base / kind).glob("*.jsonl")):
            about = path.lstat() if path.is_file() and not path.is_symlink() else None
            if about is not None and _is_held(about, held):
                yield Search(kind, path.stem, path)


def _is_held(about: os.stat_result, held: frozenset[int] | None) -> bool:
    if held is None:
        return clock.wall_ms() / 1000 - about.st_mtime < RECENT_S
    return about.st_ino in held


def _held() -> frozenset[int] | None:
    """The inodes of files that a process has locked for itself; None where no list of them can be read."""
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    words = (one.split() for one in lines)
    return frozenset(
        int(one[5].rpartition(":")[2])
        for one in words
        if len(one) > 5 and one[1] == "FLOCK" and one[3] == "WRITE"
    )


def _evolutions(base: Path) -> Iterator[Search]:
    for folder in sorted((base / "runs").glob("*"), reverse=True)[:NEWEST]:
        try:
            about = json.loads((folder / "run.json").read_bytes()[:_LONGEST])
        except (OSError, ValueError, RecursionError):
            continue
        if (
            isinstance(about, dict)
            and (about.get("command"), about.get("status")) == ("evolve", "running")
            and is_held(folder)
        ):
            yield Search("evolve", folder.name, folder / "run.tape", failed=None, unjudged=None)
