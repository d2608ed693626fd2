"""Less memory, processor, files or disk for the agent's processes.

Open files are limited by `ulimit`, the rest by a control group of the agent's own (cgroup v2), which takes a
group that was delegated to us. Where it was not, this is said before anything starts.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from faultwire.dice import token
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["memory", "cpu", "fds", "disk"]
ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = {"memory": "memory", "cpu": "cpu", "disk": "io"}
MOST = 1e15
LEAF = "faultwire-self"
"""The group that our own processes go to."""
PERIOD_US = 100_000
"""Of `cpu.max`."""
REMEDY = "systemd-run --user --scope -p Delegate=yes faultwire load …"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Pressure:
    """One limit: bytes of memory, processors (0.5: half of one), open files, or bytes a second of disk."""

    kind: Kind
    amount: float
    text: str

    @classmethod
    def parse(cls, text: str) -> Pressure:
        """From `memory=256M`, `cpu=0.5`, `fds=64` or `disk=1M`. Raises UsageError."""
        kind, mark, value = text.partition("=")
        unit = _UNITS.get(value[-1:].upper(), 1)
        try:
            amount = float(value[:-1] if unit > 1 else value) * unit
        except ValueError:
            amount = 0.0
        whole = kind == "cpu" or amount % 1 == 0
        if not mark or kind not in get_args(Kind) or not 0 < amount < MOST or not whole:
            raise UsageError(
                f"found `{text}`, expected `memory=256M`, `cpu=0.5`, `fds=64` or `disk=1M`",
                code="load.pressure",
            )
        return cls(kind, amount, text)  # type: ignore[arg-type]


@contextmanager
def pressed(pressure: Pressure, command: Sequence[str], root: Path = ROOT) -> Iterator[tuple[str, ...]]:
    """The command under a limit, as long as the context is open. Raises UsageError where it cannot be set."""
    if pressure.kind == "fds":
        yield ("/bin/sh", "-c", f'ulimit -n {int(pressure.amount)} && exec "$@"', "sh", *command)
        return
    group = _group(root, CONTROLLERS[pressure.kind])
    try:
        for name, value in settings(pressure).items():
            (group / name).write_text(value)
        enter = 'echo $$ > "$0"/cgroup.procs && exec "$@"'
        yield ("/bin/sh", "-c", enter, str(group), *command)
    finally:
        with suppress(OSError):  # a process of it that is still ending; an empty group goes with its parent
            group.rmdir()


def available(pressures: Sequence[Pressure], root: Path = ROOT) -> None:
    """Raises UsageError with the remedy where one of them cannot be set."""
    for one in pressures:
        if one.kind != "fds":
            _delegated(root, CONTROLLERS[one.kind], one.text)


def settings(pressure: Pressure) -> dict[str, str]:
    """The files of a group, with what is written into each."""
    if pressure.kind == "memory":
        return {"memory.max": str(int(pressure.amount)), "memory.swap.max": "0"}
    if pressure.kind == "cpu":
        return {"cpu.max": f"{max(1000, int(pressure.amount * PERIOD_US))} {PERIOD_US}"}
    number = os.stat(".").st_dev
    rate = int(pressure.amount)
    return {"io.max": f"{os.major(number)}:{os.minor(number)} rbps={rate} wbps={rate}"}


def own_group(root: Path, text: str | None = None) -> Path | None:
    """The group of this process in the hierarchy of version 2, or the one that an earlier limit has divided;
    None where that is not what is mounted."""
    listed = Path("/proc/self/cgroup").read_text() if text is None else text
    for line in listed.splitlines():
        number, _, path = line.split(":", 2)
        if number == "0" and (root / "cgroup.controllers").exists():
            found = root / path.lstrip("/")
            return found.parent if found.name == LEAF else found
    return None


def _delegated(root: Path, controller: str, what: str) -> Path:
    own = own_group(root)
    if own is None:
        raise _refused(what, f"no cgroup v2 at `{root}`")
    if controller not in (own / "cgroup.controllers").read_text().split():
        raise _refused(what, f"a control group without the controller `{controller}`")
    if not os.access(own / "cgroup.subtree_control", os.W_OK):
        raise _refused(what, "a control group that was not delegated to this user")
    if any(not _is_ours(int(pid)) for pid in (own / "cgroup.procs").read_text().split()):
        raise _refused(what, "a control group with processes that are not ours to move")
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


def _refused(what: str, found: str) -> UsageError:
    return UsageError(
        f"found {found} for `--pressure {what}`, expected one of cgroup v2 that was delegated",
        code="load.cgroup",
        hint=f"{REMEDY} (`fds` needs none)",
    )


def _group(root: Path, controller: str) -> Path:
    """A new group for agents. A group with processes cannot have limited children, so ours go to a leaf."""
    own = _delegated(root, controller, controller)
    leaf = own / LEAF
    try:
        leaf.mkdir(exist_ok=True)
        for pid in (own / "cgroup.procs").read_text().split():
            (leaf / "cgroup.procs").write_text(pid)
        (own / "cgroup.subtree_control").write_text(f"+{controller}")
        group = own / f"faultwire-{token(4)}"
        group.mkdir()
    except OSError as error:
        raise _refused(controller, f"a control group that cannot be divided ({error.strerror})") from None
    return group
