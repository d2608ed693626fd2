"""What may be claimed after a search for faults that break an agent: for a terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

WHY = {
    "a find": ("holds a failure that was found, or acts alike",
               "hold a failure that was found, or act alike"),
    "same call": ("has two faults on one call, which takes one",
                  "have two faults on one call, which takes one"),
    "not met": ("cannot fire as a whole: with one of its faults, the call of another never comes",
                "cannot fire as a whole: with one of the faults, the call of another never comes"),
    "together": ("fired in a run with further faults, which passed",) * 2,
    "same reaction": ("has one fault that the agent takes like another one, which was run",
                      "have one fault that the agent takes like another one, which was run"),
    "lineage": ("is on calls between which no bytes lead, and each fault alone changed nothing later",
                "are on calls between which no bytes lead, and each fault alone changed nothing later"),
    "undecided": ("was run, and could not be judged", "were run, and could not be judged"),
    "open": ("was not run", "were not run"),
}  # fmt: skip
"""By reason (`explore.claim.Reason`): what is true of one set that has it, and of several."""


def in_words(reason: str, count: int) -> str:
    """So many sets with the reason that they have."""
    noun = "set" if count == 1 else "sets"
    return f"{count:,} {noun} {WHY[reason][count != 1]}"


def sentence(
    sets: Mapping[Any, int], *, holds: bool, depth: int, faults: int, why_not: str, found: bool
) -> str:
    """The claim, or why there is none. `sets` counts sets of faults by reason, `faults` are those that could
    fire, of which up to `depth` did so at once; `found` says that there was a failure."""
    run, total = sets.get("run", 0), sum(sets.values())
    excluded = total - run - sets.get("open", 0) - sets.get("undecided", 0)
    counts = f"{run} of {counted(total, 'set')} run, {excluded} excluded"
    if not holds:
        return f"no claim: {counts}: {why_not}"
    some = "any one" if depth == 1 else f"any {depth}"
    by = "the only fault" if faults == 1 else f"{some} of these {faults} faults"
    return f"no {'other failure' if found else 'failure'} by {by} on this conversation: {counts}"
