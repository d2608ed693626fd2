"""Why a run of `exec` proves nothing, and what mends that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import FaultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.runner.started_run import Run


def error(run: Run, closed: SessionSummary, command: Sequence[str]) -> FaultError:
    """The error of a run that ours made void."""
    if (removed := run.folder.removed) is not None:
        return FaultError(
            f"the run is inconclusive: {removed}",
            code="run.folder",
            hint="keep `.faultwire` out of what the command cleans",
        )
    return FaultError(
        f"the run is inconclusive: {'; '.join(closed.voids)}",
        code="run.void",
        hint=trust(closed, command) or f"the engine's log is `{run.folder.path / 'engine.log'}`",
    )


def trust(closed: SessionSummary, command: Sequence[str]) -> str | None:
    """What the program needs to accept our certificate, if it refused it."""
    from faultwire.capture.trust import needed

    return next((needed(one, command) for one in closed.handshakes), None)
