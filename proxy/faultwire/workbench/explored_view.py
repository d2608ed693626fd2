"""What `faultwire explore` found, for the page: the failures, and what may be claimed of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.report.explored import WHY, in_words, sentence
from faultwire.workbench.shrunk_view import reproduced
from faultwire.workbench.written import Shape, Words, read

if TYPE_CHECKING:
    from pathlib import Path

FINDS, SETS = 200, 200
"""Failures that are shown, and sets of one reason."""


class Fault(Shape):
    """One fault on one call."""

    entry: str
    place: str
    call: int


class Repro(Shape):
    """The folder that shows a failure."""

    folder: str
    failed_there: bool


class Find(Shape):
    """One failure."""

    cause: list[str]
    faults: list[Fault]
    failed: int
    runs: int
    reason: str
    repro: Repro | None = None


class Excluded(Shape):
    """A set that was not run, or not as a set of its own."""

    faults: list[str]
    reason: str


class Claim(Shape):
    """What may be said of all sets."""

    holds: bool
    why_not: str | None
    depth: int
    faults: int
    sets: dict[str, int]
    excluded: list[Excluded]


class Explored(Shape):
    """The file."""

    ended: str
    runs: int
    seconds: float
    failing: str
    failures: list[Find]
    flaky: list[list[str]]
    claim: Claim | None


def explored(path: Path) -> dict[str, Any]:
    """The file of a search. Raises UsageError where it is none."""
    found, words = read(path, Explored, "explore"), Words()
    folder = path.with_name(f"{path.stem}-repro")
    return {
        "ended": words.line(found.ended),
        "runs": found.runs,
        "seconds": round(found.seconds, 1),
        "failing": words.line(found.failing),
        "failures": [_find(one, folder / str(at), words) for at, one in enumerate(found.failures[:FINDS], 1)],
        "failures_not_shown": max(0, len(found.failures) - FINDS),
        "flaky": [words.line(", ".join(one)) for one in found.flaky[:SETS]],
        "claim": None if found.claim is None else _claim(found.claim, bool(found.failures), words),
    }


def _find(find: Find, folder: Path, words: Words) -> dict[str, Any]:
    repro = None
    if find.repro is not None:
        repro = reproduced(folder, words) | {"failed_there": find.repro.failed_there}
    return {
        "cause": words.line(" and ".join(find.cause)),
        "faults": [
            {"entry": words.line(one.entry, 80), "call": words.line(f"{one.place}, call {one.call}")}
            for one in find.faults
        ],
        "failed": find.failed,
        "runs": find.runs,
        "reason": words.line(find.reason),
        "repro": repro,
    }


def _claim(claim: Claim, found: bool, words: Words) -> dict[str, Any]:
    sets: dict[str, list[str]] = {}
    for one in claim.excluded:
        sets.setdefault(one.reason, []).append(words.line(", ".join(one.faults)))
    reasons = [
        {
            "reason": reason,
            "count": claim.sets[reason],
            "words": in_words(reason, claim.sets[reason]),
            "sets": sets.get(reason, [])[:SETS],
            "sets_not_shown": max(0, len(sets.get(reason, [])) - SETS),
        }
        for reason in WHY
        if claim.sets.get(reason)
    ]
    claimed = sentence(
        claim.sets,
        holds=claim.holds,
        depth=claim.depth,
        faults=claim.faults,
        why_not=claim.why_not or "",
        found=found,
    )
    return {"holds": claim.holds, "sentence": words.line(claimed), "reasons": reasons}
