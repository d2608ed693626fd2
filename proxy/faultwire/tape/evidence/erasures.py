"""Bodies that are gone from a tape: those that a sealed `erasure` names, and those that are missing.

A body is excused only where an event says that it was erased, it is indeed gone, and a seal after that event
signs it: whoever cannot seal a tape cannot make a missing body look like an erased one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.clock import iso
from faultwire.tape.format.validate import is_date, is_digest
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from faultwire.tape.format.events import Event

BodyFinding = tuple[str, str, int]
"""A code, what is to be said, and of which event."""


@dataclass(frozen=True, slots=True)
class _Erasure:
    seq: int
    blobs: frozenset[str]
    is_known: bool
    """Does an event before it name each of its bodies?"""
    text: str


class Erasures:
    """What events named and no row held, and what erasures said."""

    def __init__(self) -> None:
        self._missing: dict[str, list[int]] = {}
        self._erasures: list[_Erasure] = []

    def missing(self, blob: str, seq: int) -> None:
        """An event names a body that is not there."""
        self._missing.setdefault(blob, []).append(seq)

    def event(self, seq: int, event: Event, named: Container[str]) -> None:
        """An event that says which bodies were erased; `named` has those that events before it name.

        Raises KeyError, TypeError or ValueError where it is none.
        """
        blobs, at, by, reason = event["blobs"], event["at_ms"], event["by"], event["reason"]
        if not isinstance(blobs, list) or not blobs or not all(map(is_digest, blobs)):
            raise ValueError("`blobs` names no bodies")
        if not is_date(at) or not isinstance(by, str) or not isinstance(reason, str):
            raise ValueError("`at_ms`, `by` or `reason` is not what an erasure has")
        held = frozenset(blobs)
        what = counted(len(held), "body was", "bodies were")
        text = f"{what} erased on {iso(at)} by {by}: {reason}"
        self._erasures.append(_Erasure(seq, held, all(blob in named for blob in held), text))

    def close(self, sealed: int | None, there: Container[str]) -> Iterator[BodyFinding]:
        """What is to be said at the end: `sealed` is the event of the last seal that is what it says, `there`
        has the bodies on the tape."""
        erased: set[str] = set()
        for one in self._erasures:
            if not one.is_known or any(blob in there for blob in one.blobs):
                message = f"the erasure at event {one.seq} names a body that is not erased"
                yield "erasure_invalid", message, one.seq
            elif sealed is not None and one.seq < sealed:
                erased |= one.blobs
                yield "body_erased", one.text, one.seq
        for blob, events in self._missing.items():
            if blob not in erased:
                yield from (("blob_missing", f"blob `{blob}` is missing", seq) for seq in events)
