"""A tape that is still recorded, as it is now: a sealed copy, whose log is the first part of the other's."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from faultwire.errors import TapeError
from faultwire.tape.evidence.sealer import seal_tape
from faultwire.tape.format.file import log_of

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey

TRIES = 10
"""How often a copy is made of a tape that changes meanwhile."""


def snapshot(tape: Path, target: Path, key: SignerKey) -> None:
    """Copy what is committed to a tape, and seal it. Its recorder should be at rest: between two batches no
    session is open.

    Raises TapeError where the tape changes all the time, and TapeTampered where the copy's chain does not
    hold.
    """
    for _ in range(TRIES):
        before = _state(tape)
        _copy(tape, target)
        if _state(tape) == before:
            seal_tape(target, key)
            return
    raise TapeError(
        f"tape `{tape}` is written to all the time, expected a recorder at rest between two batches",
        code="campaign.tape",
        hint="an agent that goes on calling after its end keeps it busy",
    )


def _copy(tape: Path, target: Path) -> None:
    shutil.copyfile(tape, target)
    log = log_of(target)
    try:
        shutil.copyfile(log_of(tape), log)
    except FileNotFoundError:  # folded into the tape
        log.unlink(missing_ok=True)


def _state(tape: Path) -> list[tuple[int, int] | None]:
    """Size and moment of the last change of the tape and its log."""
    found: list[tuple[int, int] | None] = []
    for path in (tape, log_of(tape)):
        try:
            about = path.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((about.st_size, about.st_mtime_ns))
    return found
