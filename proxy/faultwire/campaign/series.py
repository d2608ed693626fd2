"""Batch after batch in one worker: one proxy, one mock and one agent for all of them, started once.

Each batch is held to what a worker of its own holds it to: the configuration is read anew, and another one,
other files of the agent or other profiles end in a refusal. Its sessions are as separate as those of one
process, and none is played twice on the same proxy. Its tape is the proxy's log up to then, sealed by this
machine's key; so it has the sessions of the batches before as well, which are read from their own tapes.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from faultwire.campaign.snapshot import snapshot
from faultwire.campaign.worker import check, opened, packed, play_batch, surroundings
from faultwire.errors import FaultwireError
from faultwire.tape.evidence.keyring import KeyRing

if TYPE_CHECKING:
    from types import TracebackType

    from faultwire.agents._api import Agent
    from faultwire.campaign.cell import Surroundings
    from faultwire.campaign.worker import Request
    from faultwire.config.model import Config
    from faultwire.runner.started_run import Run

KEPT = 500
"""Cells of one proxy. Every tape has all of them so far: with more, copies cost more than another start."""
SENT = 2000
"""Sessions on all tapes of one proxy, for the same reason where batches are small."""


class Series:
    """A context manager: leaving it ends what was started."""

    def __init__(self, base: Path) -> None:
        """`base` is the folder for all that faultwire writes."""
        self._base = base
        self._stack = ExitStack()
        self._of: Surroundings | None = None
        self._started: tuple[Run, Agent] | None = None
        self._played: set[str] = set()
        self._sent = 0

    def answer(self, request: Request, config: Config) -> tuple[dict[str, Any], bytes]:
        """Play a batch: the answer and the tape, as `worker.answer`; raises as that does.

        After an error nothing that was started is used again.
        """
        here = surroundings(config)
        check(request, here)
        if not request.cells:
            return {"checked": True}, b""
        try:
            return self._answer(request, config, here)
        except BaseException:
            with suppress(FaultwireError):  # what is raised says why
                self.close()
            raise

    def _answer(self, request: Request, config: Config, here: Surroundings) -> tuple[dict[str, Any], bytes]:
        run, agent = self._ready(request, config, here)
        played = play_batch(request, agent, run)
        self._sent += len(self._played)
        run.close_tapes()
        key = KeyRing(self._base / "keys").signer_or_new(self._base.absolute().parent.name)
        with TemporaryDirectory(dir=run.folder.path) as place:
            copy = Path(place) / "batch.tape"
            snapshot(run.tape, copy, key)
            return packed(request, agent, played, copy)

    def _ready(self, request: Request, config: Config, here: Surroundings) -> tuple[Run, Agent]:
        """What the last batch was played with, or else new ones."""
        wanted = {cell.invocation.id for cell in request.cells.values()}
        if self._started is not None and self._worn(wanted, here, self._started[0]):
            self.close()
        if self._started is None:
            self._stack.callback(self._forget)
            self._started = self._stack.enter_context(opened(config, self._base))
            self._of = here
        self._played |= wanted
        return self._started

    def _worn(self, wanted: set[str], here: Surroundings, run: Run) -> bool:
        """Must another proxy play these invocations?"""
        return (
            self._of != here
            or len(self._played) + len(wanted) > KEPT
            or self._sent > SENT
            # A session has its name for itself on a tape; a cell comes again when its first batch was lost.
            or not self._played.isdisjoint(wanted)
            or not run.engine.alive
        )

    def _forget(self) -> None:
        self._started, self._of, self._sent = None, None, 0
        self._played.clear()

    def close(self) -> None:
        """End what was started. Raises FaultwireError where it failed."""
        self._stack.close()

    def __enter__(self) -> Series:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(FaultwireError):  # every batch has been answered
            self._stack.__exit__(kind, error, traceback)
