"""What redaction is going to do to a text: spans, and what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = tuple[int, int, str | None, str, str, int]
"""An edit as the core gives it."""

MARK = "redacted:v1:"
"""What every placeholder begins with."""


class Edit(NamedTuple):
    """A secret's place. `what` is None for the rest of one that is replaced further left."""

    start: int
    end: int
    what: str | None
    value: str
    quote: str = ""
    """What must surround the placeholder, where a number becomes a string."""
    lead: int = -1
    """Where that begins which tells that this is a secret, if further left: its name, its first part."""

    @property
    def begin(self) -> int:
        """How far left one must look to find this again."""
        return self.start if self.lead < 0 else self.lead


def edits_of(rows: Iterable[Row]) -> list[Edit]:
    """What the core found."""
    return list(map(Edit._make, rows))


def merged(found: list[Edit]) -> list[Edit]:
    """Sorted, overlaps joined: the first of several keeps its class and swallows the others. Of two in one
    place, that stands which knows the quotes that must surround the placeholder."""
    out: list[Edit] = []
    for edit in sorted(found, key=lambda e: (e.start, -e.end, not e.quote)):
        if out and edit.start < out[-1].end:
            begin = min(out[-1].begin, edit.begin)
            lead = begin if begin < out[-1].start else -1
            out[-1] = out[-1]._replace(end=max(out[-1].end, edit.end), lead=lead)
        else:
            out.append(edit)
    return out
