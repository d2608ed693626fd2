"""What a labelled set gives: texts, what is in them, and which third of them errors may be looked at.

The two other thirds are only measured. The third follows from the text alone, so it is the same in every run.
"""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One text: `kind` as the set names it, whether something is to be found, and where (characters)."""

    kind: str
    text: str
    positive: bool
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def held_back(self) -> bool:
        """Whether the row is only measured."""
        return zlib.crc32(self.text.encode("utf-8", "replace")) % 3 != 0


@dataclass
class Figures:
    """Counts over rows: positive rows, those found, negative rows, those flagged, and the errors."""

    positive: int = 0
    found: int = 0
    negative: int = 0
    flagged: int = 0
    missed_rows: list[Row] | None = None
    flagged_rows: list[Row] | None = None

    def line(self) -> str:
        """The figures as one line."""
        recall = self.found / self.positive if self.positive else float("nan")
        wrong = 100 * self.flagged / self.negative if self.negative else float("nan")
        return (
            f"{self.found} of {self.positive} found ({recall:.3f}); "
            f"{self.flagged} of {self.negative} negative rows flagged ({wrong:.1f} %)"
        )


def measure(rows: Iterable[Row], finds: Callable[[Row], bool]) -> Figures:
    """Runs `finds` over the rows."""
    figures = Figures(missed_rows=[], flagged_rows=[])
    for row in rows:
        hit = finds(row)
        if row.positive:
            figures.positive += 1
            figures.found += hit
        else:
            figures.negative += 1
            figures.flagged += hit
        if hit != row.positive:
            errors = figures.missed_rows if row.positive else figures.flagged_rows
            assert errors is not None
            errors.append(row)
    return figures
