"""What an engine is to a campaign: it runs commands somewhere, a few at once, and tells how they end.

`--on` names one: `local:N` (processes here) or `dask://HOST:PORT` (a Dask scheduler that is there already).
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOCAL = re.compile(r"local:([1-9][0-9]{0,2})\Z")
_DASK = re.compile(r"(?:dask://)?(?:(tcp|tls)://)?([^/\s@]+:[0-9]{1,5})\Z")
HINT = "`local:2` for two workers here, `dask://HOST:8786` for those of a Dask scheduler"


@dataclass(frozen=True, slots=True)
class Command:
    """What a worker starts: the words of the command, and the folder that it is started in."""

    words: tuple[str, ...]
    folder: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command of a batch ended. `lost`: its worker is gone or the engine has given it up."""

    batch: str
    code: int = 0
    output: bytes = b""
    errors: str = ""
    lost: str = ""


class Engine(Protocol):
    """Runs batches. Called from one thread."""

    @property
    def slots(self) -> int:
        """How many batches run beside each other."""

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command on every worker that there is: each worker's name, and how it ended there."""

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch; `text` goes to the command's standard input."""

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended; waits for the first that does, but no longer than this."""

    def stop(self, batch: str) -> None:
        """Ask a batch to end early and answer with what it has; it ends as any other."""

    def drop(self, batch: str) -> None:
        """End a batch of which nothing more is wanted, as far as that can be done."""

    def close(self) -> None:
        """End all that is under way, and let the engine go."""


def worker_words(python: str | None) -> tuple[str, ...]:
    """The command that a worker starts: `faultwire worker` of the interpreter `python`, by default ours."""
    return (python or sys.executable, "-m", "faultwire", "worker")


def open_engine(place: str) -> Engine:
    """The engine that `--on` names. Raises UsageError where there is none, or it cannot be reached."""
    local = _LOCAL.match(place)
    if local is not None:
        from faultwire.campaign.local_engine import LocalEngine

        return LocalEngine(int(local[1]))
    scheme = place.partition("://")[0]
    if scheme in ("ray", "kube"):
        raise UsageError(
            f"found `{place}` for --on, expected `local:N` or `dask://HOST:PORT`",
            code="usage.on",
            hint=f"there is no engine for {scheme} yet; {HINT}",
        )
    dask = _DASK.match(place) if place.startswith("dask://") else None
    if dask is not None:
        from faultwire.campaign.dask_engine import DaskEngine

        return DaskEngine(f"{dask[1] or 'tcp'}://{dask[2]}")
    raise UsageError(f"found `{place}` for --on, expected an engine", code="usage.on", hint=HINT)
