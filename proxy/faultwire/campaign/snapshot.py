"""A tape that is still recorded, as it is now: a sealed copy, whose log is the first part of the other's."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from faultwire.errors import TapeError
from faultwire.tape.evidence.sealer import seal_path, seal_tape
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import log_of

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey

TRIES = 10
"""How often a copy is made of a tape that changes meanwhile."""


def snapshot(tape: Path, target: Path, key: SignerKey) -> None:
    """Copy what is committed to a tape, and seal it. Its recorder should be at rest: between two batches no
    session is open. The copy is held against the tape's own log, since a log that is cut in the middle of a
    write looks like a shorter one.

    Raises TapeError where the tape changes all the time, or the copy is another than the tape.
    """
    why = "it is written to all the time"
    for _ in range(TRIES):
        expected = verify(tape)
        _remove(target)
        _copy(tape, target)
        try:
            found = seal_tape(target, key)
        except TapeError as error:
            why = error.message
            continue
        if (found.size, found.root.hex()) == (expected.events, expected.root):
            return
    _remove(target)
    raise TapeError(
        f"no copy of tape `{tape}` has the {expected.events} events that are there: {why}",
        code="campaign.tape",
        hint="an agent that goes on calling after its end keeps it busy",
    )


def _remove(target: Path) -> None:
    for path in (target, log_of(target), seal_path(target)):
        path.unlink(missing_ok=True)


def _copy(tape: Path, target: Path) -> None:
    shutil.copyfile(tape, target)
    with suppress(FileNotFoundError):  # folded into the tape
        shutil.copyfile(log_of(tape), log_of(target))
