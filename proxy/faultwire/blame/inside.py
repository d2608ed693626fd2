"""Which piece of a blamed answer made the outcome: designs over groups of pieces, the blamed ones taken apart
again until each is a single piece.

What is asked of a piece is what was asked of the part: necessary, with the rest of the run as in the failed
one; sufficient, with the rest of the answer as in the calm one. Where the part was *enough* and not needed,
the rest of the run is calm, for otherwise another part would fail it in any case.

Pure: the caller runs what `candidate` asks for and hands in what came of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from faultwire.blame.design import Design, usual_runs
from faultwire.blame.findings import Finding, findings, ranked

if TYPE_CHECKING:
    from faultwire.blame.findings import Verdict
    from faultwire.blame.pieces import Pieces

GROUPS = 8
"""Groups of pieces that one design compares."""
Group = tuple[int, ...]
ONLY = "it is the only place in which the answers differ"


@dataclass(frozen=True, slots=True)
class BlamedPiece:
    """A group of pieces that could not be taken apart further, and what the runs say of it."""

    group: Group
    finding: Finding


@dataclass
class Inside:
    """The search in the answer of one blamed part; `note` says why there is no more than `found`."""

    part: int
    pieces: Pieces
    verdict: Verdict
    error: float = 0.05
    seed: int = 0
    found: list[BlamedPiece] = field(default_factory=list)
    note: str = ""
    design: Design | None = None
    groups: list[Group] = field(default_factory=list)
    ended: bool = False
    _asked: frozenset[int] | None = None

    def __post_init__(self) -> None:
        """Start with all pieces in a few groups."""
        self.rest_fails = self.verdict != "enough"
        """Is the rest of the run as in the failed one?"""
        self._outside = self.rest_fails
        """Are pieces of this answer that were not blamed as in the failed run?"""
        everything = tuple(range(len(self.pieces.pieces)))
        self._level(_cut(everything, GROUPS))

    def candidate(self) -> frozenset[int] | None:
        """The pieces of the next run that are as in the failed answer; None at the end."""
        while not self.ended:
            assert self.design is not None
            self._asked = self.design.candidate()
            if self._asked is not None:
                return self._pieces_of(self._asked)
            self._next()
        return None

    def record(self, failed: bool | None, digest: str = "") -> None:
        """What came of that run, and its digest; None where it could not be judged."""
        assert self.design is not None
        assert self._asked is not None
        self.design.record(self._asked, failed, digest)

    def runs_left(self) -> int:
        """About how many runs the rest takes."""
        if self.ended or self.design is None:
            return 0
        deeper = max(map(len, self.groups)) > 1
        return self.design.runs_left() + (usual_runs(GROUPS) if deeper else 0)

    def _pieces_of(self, chosen: frozenset[int]) -> frozenset[int]:
        held = {piece for at in chosen for piece in self.groups[at]}
        if self._outside:
            grouped = {piece for group in self.groups for piece in group}
            held |= set(range(len(self.pieces.pieces))) - grouped
        return frozenset(held)

    def _level(self, groups: list[Group]) -> None:
        self.groups = groups
        if len(groups) == 1:
            self.ended, self.note = True, ONLY
            return
        self.design = Design(len(groups), self.error, self.seed)

    def _next(self) -> None:
        """A design has ended: take apart what it blames."""
        assert self.design is not None
        if self.design.state != "found":
            self.ended = True
            self.note = _why(self.design)
            return
        blamed = ranked(findings(self.design))
        if not blamed:
            self.ended = True
            self.note = self.note or "no piece of it makes the failure on its own or is needed for it"
            return
        self.found = [BlamedPiece(self.groups[one.part], one) for one in blamed]
        if all(len(one.group) == 1 for one in self.found):
            self.ended = True
            return
        self._outside = any(one.verdict in ("cause", "needed") for one in blamed)
        each = max(2, GROUPS // len(self.found))
        self._level([smaller for one in self.found for smaller in _cut(one.group, each)])


def _why(design: Design) -> str:
    whole, calm = design.of(design.whole), design.of(design.calm)
    if design.state == "undecidable":
        return "runs with another answer could not be judged"
    return (
        f"given from the tape, the failed answer fails in {whole.failed} of {whole.runs} runs and the calm "
        f"one in {calm.failed} of {calm.runs}: no difference to take apart"
    )


def _cut(pieces: Group, most: int) -> list[Group]:
    """At most so many groups of neighbours, as even as can be."""
    count = min(most, len(pieces))
    ends = [round(len(pieces) * at / count) for at in range(count + 1)]
    return [pieces[start:end] for start, end in pairwise(ends)]
