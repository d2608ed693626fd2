"""Why a run of `exec` proves nothing, and what mends that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import FaultError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from faultwire.events import History
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.runner.started_run import Run

FULL = "disk is full"
"""What SQLite says of a file that cannot grow."""
ROOM = "free disk space, or let --record name a tape where there is room"


def error(run: Run, closed: SessionSummary, command: Sequence[str]) -> FaultError:
    """The error of a run that ours made void."""
    if (removed := run.folder.removed) is not None:
        return FaultError(
            f"the run is inconclusive: {removed}",
            code="run.folder",
            hint="keep `.faultwire` out of what the command cleans",
        )
    log = f"the engine's log is `{run.folder.path / 'engine.log'}`"
    full = any(FULL in why for why in closed.voids)
    return FaultError(
        f"the run is inconclusive: {'; '.join(closed.voids)}",
        code="run.void",
        hint=trust(closed, command) or (f"{ROOM}; {log}" if full else log),
    )


def unrecorded(run: Run, closed: SessionSummary, history: History) -> tuple[str, ...]:
    """What is not on a tape that could not be written any more."""
    if not closed.voids or not run.engine.alive:
        return ()
    return left_out(run.engine.stats(), closed.exchanges - len(history.exchanges))


def left_out(stats: Mapping[str, Any], lost: int) -> tuple[str, ...]:
    """So many exchanges that had passed, and the calls that were refused since, by the engine's `stats`."""
    if not stats.get("refusing"):
        return ()
    words, refused = [], stats.get("voided", 0)
    if lost > 0:
        words.append(f"{counted(lost, 'exchange')} passed and {'is' if lost == 1 else 'are'} not on the tape")
    if refused:
        calls = f"{counted(refused, 'call')} {'was' if refused == 1 else 'were'}"
        words.append(f"{calls} answered 503 by the proxy, since what cannot be recorded does not pass")
    return tuple(words)


def trust(closed: SessionSummary, command: Sequence[str]) -> str | None:
    """What the program needs to accept our certificate, if it refused it."""
    from faultwire.capture.trust import needed

    return next((needed(one, command) for one in closed.handshakes), None)
