"""Less memory, processor, processes, files or disk for the agent's processes.

Open files are limited by `ulimit`, the rest by a control group of the agent's own. Where a limit cannot be
set, or a process cannot be put under it, this is an error before anything starts.
"""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from faultwire.errors import UsageError
from faultwire.load.control_group import ROOT, limited, place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Kind = Literal["memory", "cpu", "pids", "fds", "disk"]
MOST = 1e15
FORMS = "`memory=256M`, `cpu=0.5`, `pids=32`, `fds=64` or `disk=1M`"
ENTER = 'echo $$ > "$0"/cgroup.procs && exec "$@"'
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Pressure:
    """One limit: bytes of memory, processors (0.5: half of one), processes and threads, open files, or bytes
    a second of disk."""

    kind: Kind
    amount: float
    text: str

    @classmethod
    def parse(cls, text: str) -> Pressure:
        """From `memory=256M`, `cpu=0.5`, `pids=32`, `fds=64` or `disk=1M`. Raises UsageError."""
        kind, mark, value = text.partition("=")
        unit = _UNITS.get(value[-1:].upper(), 1)
        try:
            amount = float(value[:-1] if unit > 1 else value) * unit
        except ValueError:
            amount = 0.0
        whole = kind == "cpu" or amount % 1 == 0
        if not mark or kind not in get_args(Kind) or not 0 < amount < MOST or not whole:
            raise UsageError(f"found `{text}`, expected {FORMS}", code="load.pressure")
        return cls(kind, amount, text)  # type: ignore[arg-type]


@contextmanager
def pressed(pressure: Pressure, command: Sequence[str], root: Path = ROOT) -> Iterator[tuple[str, ...]]:
    """The command under a limit, as long as the context is open. Raises UsageError where it cannot be set."""
    if pressure.kind == "fds":
        shell = ("/bin/sh", "-c", f'ulimit -n {int(pressure.amount)} && exec "$@"', "sh")
        _try(shell, pressure)
        yield (*shell, *command)
        return
    with limited(pressure.kind, pressure.amount, pressure.text, root) as group:
        shell = ("/bin/sh", "-c", ENTER, str(group))
        _try(shell, pressure)
        yield (*shell, *command)


def available(pressures: Sequence[Pressure], root: Path = ROOT) -> None:
    """Raises UsageError with the reason where one of them cannot be set."""
    for one in pressures:
        if one.kind == "fds":
            with pressed(one, ()):
                pass
        else:
            place(one.kind, one.text, root)


def _try(shell: Sequence[str], pressure: Pressure) -> None:
    """See that a process comes under the limit: an agent that does not would seem to fail of it."""
    done = subprocess.run([*shell, "true"], capture_output=True, check=False)
    why = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode:
        raise UsageError(
            f"found `--pressure {pressure.text}`, under which not even `true` runs ({why[:200]}), expected a "
            "limit that can be set and leaves room for a process",
            code="load.pressure",
        )
