"""Control groups of Linux, version 1 and 2: where a new group for agents can stand, and what limits it.

Of version 2 it takes a group that was delegated to us; of version 1 one of the controller's own hierarchy
below which we may make another. A limit is read again after it was written: what the kernel did not take is
an error, never a run without the limit.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.dice import token
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Limited = Literal["memory", "cpu", "pids", "disk"]
ROOT = Path("/sys/fs/cgroup")
CONTROLLERS: dict[Limited, tuple[str, str]] = {
    "memory": ("memory", "memory"), "cpu": ("cpu", "cpu"), "pids": ("pids", "pids"), "disk": ("io", "blkio"),
}  # fmt: skip
"""What limits each kind, in version 2 and in version 1."""
LEAF = "faultwire-self"
"""The group that our own processes go to in version 2, where one with processes has no limited children."""
PERIOD_US = 100_000
"""Of a limit of processors."""
PAGE = 65_536
"""Bytes to which a kernel may round a limit of memory, at most."""
REMEDY = "systemd-run --user --scope -p Delegate=yes faultwire load …"
_BUFFERED = "cgroup v1, which limits no buffered writes, for"


class Place(NamedTuple):
    """Where groups of ours are made: the group we are in, and the version of its hierarchy."""

    own: Path
    version: Literal[1, 2]


def place(kind: Limited, text: str, root: Path = ROOT, listed: str | None = None) -> Place:
    """Where a group with this limit can be made. `text` is the limit as it was given, `listed` what
    `/proc/self/cgroup` has. Raises UsageError with the reason where there is none."""
    listed = Path("/proc/self/cgroup").read_text() if listed is None else listed
    modern, old = CONTROLLERS[kind]
    own = second(root, listed)
    if own is not None and modern in _words(own / "cgroup.controllers"):
        return Place(_delegated(own, text), 2)
    first = _first(root, old, listed)
    if first is None and own is not None:
        raise _refused(text, f"a control group without the controller `{modern}` for")
    if first is None:
        raise _refused(text, f"no control groups at `{root}` for")
    if kind == "disk":
        raise _refused(text, _BUFFERED)
    if not os.access(first, os.W_OK | os.X_OK):
        raise _refused(text, f"a control group of `{old}` that this user may not divide for")
    return Place(first, 1)


def second(root: Path, listed: str) -> Path | None:
    """Our group in the hierarchy of version 2, which may be mounted beside others; or the one that an earlier
    limit has divided. None where it is not mounted."""
    for line in listed.splitlines():
        number, _, path = line.split(":", 2)
        for top in (root, root / "unified") if number == "0" else ():
            if (top / "cgroup.controllers").exists():
                found = top / path.lstrip("/")
                return found.parent if found.name == LEAF else found
    return None


def _first(root: Path, controller: str, listed: str) -> Path | None:
    """Our group in a controller's own hierarchy of version 1; None where it has none."""
    for line in listed.splitlines():
        number, names, path = line.split(":", 2)
        if number != "0" and controller in names.split(","):
            found = root / names / path.lstrip("/")
            return found if (found / "cgroup.procs").exists() else None
    return None


def settings(kind: Limited, amount: float, version: Literal[1, 2]) -> tuple[tuple[str, str], ...]:
    """The files of a group with what is written into each, in this order (the kernel's cgroup-v1 and
    cgroup-v2 documents). Bytes, processors, processes, or bytes a second of the working folder's device."""
    whole = int(amount)
    if kind == "pids":
        return (("pids.max", str(whole)),)
    quota = str(max(1000, int(amount * PERIOD_US)))
    if version == 1:
        if kind == "cpu":
            return (("cpu.cfs_period_us", str(PERIOD_US)), ("cpu.cfs_quota_us", quota))
        return (("memory.limit_in_bytes", str(whole)), ("memory.memsw.limit_in_bytes", str(whole)))
    if kind == "memory":
        return (("memory.max", str(whole)), ("memory.swap.max", "0"))
    if kind == "cpu":
        return (("cpu.max", f"{quota} {PERIOD_US}"),)
    number = os.stat(".").st_dev
    return (("io.max", f"{os.major(number)}:{os.minor(number)} rbps={whole} wbps={whole}"),)


OPTIONAL = frozenset({"memory.memsw.limit_in_bytes", "memory.swap.max"})
"""Files that a kernel without accounting of swap does not have."""


@contextmanager
def limited(kind: Limited, amount: float, text: str, root: Path = ROOT) -> Iterator[Path]:
    """A new group under a limit, as long as the context is open. Raises UsageError where that fails."""
    found = place(kind, text, root)
    group = _made(found, CONTROLLERS[kind][0], text)
    try:
        for name, value in settings(kind, amount, found.version):
            _write(group / name, value, text)
        yield group
    finally:
        with suppress(OSError):  # a process of it that is still ending; an empty group goes with its parent
            group.rmdir()


def _write(file: Path, value: str, text: str) -> None:
    """Set a limit, and see that it is set. Raises UsageError."""
    if file.name in OPTIONAL and not file.exists():
        return
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_TRUNC), "w") as opened:  # never a new file
            opened.write(value)
        taken = file.read_text().strip()
    except OSError as error:
        raise _refused(text, f"`{file.name}`, which cannot be set ({error.strerror}), for") from None
    if not _is_taken(value, taken):
        raise _refused(text, f"`{taken[:60]}` in `{file.name}` after `{value}` was written for")


def _is_taken(wanted: str, found: str) -> bool:
    if wanted.isdigit() and found.isdigit():
        return 0 <= int(wanted) - int(found) < PAGE
    return set(wanted.split()) <= set(found.split())


def _made(found: Place, controller: str, text: str) -> Path:
    """A new group. In version 2 a group with processes cannot have limited children, so ours go to a leaf."""
    own = found.own
    try:
        if found.version == 2:
            leaf = own / LEAF
            leaf.mkdir(exist_ok=True)
            for pid in (own / "cgroup.procs").read_text().split():
                (leaf / "cgroup.procs").write_text(pid)
            (own / "cgroup.subtree_control").write_text(f"+{controller}")
        group = own / f"faultwire-{token(4)}"
        group.mkdir()
    except OSError as error:
        raise _refused(text, f"a control group that cannot be divided ({error.strerror}) for") from None
    return group


def _delegated(own: Path, text: str) -> Path:
    if not os.access(own / "cgroup.subtree_control", os.W_OK):
        raise _refused(text, "a control group that was not delegated to this user for")
    if any(not _is_ours(int(pid)) for pid in _words(own / "cgroup.procs")):
        raise _refused(text, "a control group with processes that are not ours to move for")
    return own


def _is_ours(pid: int) -> bool:
    """Is it this process, or below it?"""
    while pid > 1 and pid != os.getpid():
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:  # it has ended
            return True
        pid = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:")), 0)
    return pid == os.getpid()


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def _refused(text: str, found: str) -> UsageError:
    return UsageError(
        f"found {found} `--pressure {text}`, expected a control group that we may divide",
        code="load.cgroup",
        hint=f"{REMEDY}, or as root with cgroup v1 (`fds` needs neither)",
    )
