"""Chosen sessions of many tapes on one: of each tape those that are asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.tape.files.copy import Copy

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import SignerKey
    from faultwire.tape.format.events import Event

AGAIN = "~"
"""Stands between a session's name and the number of a further try."""


class Collected(Copy):
    """`wanted` are the sessions of each tape; further tries of a session come with it, and so does what
    belongs to no session."""

    def __init__(self, target: Path, origin: str, wanted: Mapping[Path, Collection[str]]) -> None:
        super().__init__(target, "merge", origin)
        self._wanted = wanted

    def _one(self, draft: sqlite3.Connection, source: Path, keep: Callable[[Event], bool]) -> set[str]:
        names = self._wanted[source]

        def chosen(event: Event) -> bool:
            session = event.get("session")
            return not session or session.partition(AGAIN)[0] in names

        return super()._one(draft, source, chosen)


def collect(
    wanted: Mapping[Path, Collection[str]], target: Path, origin: str, signer: SignerKey | None
) -> Collected:
    """Make the tape. Raises TapeTampered where one of the others does not verify, UsageError where the target
    exists, and TapeError where it cannot be written."""
    made = Collected(target, origin, wanted)
    made.make(list(wanted), lambda _event: True, signer)
    return made
