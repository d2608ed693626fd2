"""A tape that an engine has closed: no run ends well on one that does not verify."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import TapeError, TapeTampered

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = 16 * 1024 * 1024
"""Bytes of a tape up to which all of it is verified. Of a longer one the engine has read its last commit
again, which is chained to every other event, and watched its files; `faultwire tape verify` does the rest."""
WHO = ("seal_untrusted", "seal_required")
"""Findings about whose a tape is: the engine has just sealed it."""


def check(tape: Path) -> None:
    """Verify a tape. Raises TapeError where it cannot be read, TapeTampered where it was changed."""
    from faultwire.tape.evidence.verify import verify

    try:
        if tape.stat().st_size > WHOLE:
            return
    except OSError as error:
        raise TapeError(f"the tape `{tape}` is gone: {error.strerror}", code="tape.lost") from error
    bad = [finding for finding in verify(tape).findings if not finding.is_note and finding.code not in WHO]
    if bad:
        raise TapeTampered(
            f"the tape `{tape}` does not verify: {bad[0].message}",
            hint="something changed it while it was recorded; `faultwire tape verify` has all findings",
        )
