"""What may be claimed after a search for faults that break an agent: for a terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

WHY = {
    "a find": "hold a failure that was found, or act alike",
    "same call": "are two faults on one call, which takes one",
    "not met": "cannot both fire: with the one, the call of the other never comes",
    "together": "fired together in a run with further faults, which passed",
    "same reaction": "have one fault that the agent takes like another one, which was run",
    "lineage": "are on calls between which no bytes lead, and each alone changed nothing later",
    "undecided": "were run, and could not be judged",
    "open": "were not run",
}
"""By reason (`explore.claim.Reason`): what is true of the sets that have it."""


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
