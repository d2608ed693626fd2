"""What `ci --explain` found of the failures of a run: a row each, the same for every output format.

A row leads to the page of a search (`report.blame`), or says why there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from faultwire.report.blame import headline
from faultwire.report.comparison import invocation_places
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Reason = Literal["no-fault", "over-all", "recorded", "broken", "interrupted"]
LABELS = 3
"""Blamed parts that a row names."""


def failures(document: Mapping[str, Any], before: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The failed cells of a phase's report that are new: all but those that had failed in an earlier one, on
    the same prompt, in the same scenario and repeat."""
    known = set()
    if before is not None:
        places = invocation_places(before)
        known = {
            (places[cell["invocation"]], cell["invariant"])
            for cell in before["cells"]
            if cell["verdict"] == "fail"
        }
    places = invocation_places(document)
    return [
        cell
        for cell in document["cells"]
        if cell["verdict"] == "fail" and (places[cell["invocation"]], cell["invariant"]) not in known
    ]


def found_words(found: Mapping[str, Any]) -> str:
    """What a search came to, from the document of `blame.json`."""
    whole, calm = found["whole"], found["calm"]
    if found["ended"] == "not_reproduced":
        runs = whole["failed"] + whole["passed"]
        return f"not explained: it failed in {whole['failed']} of {counted(runs, 'run')} with the same faults"
    if found["ended"] == "no_difference":
        runs = calm["failed"] + calm["passed"]
        return f"not explained by its faults: without them {calm['failed']} of {counted(runs, 'run')} failed"
    if found["ended"] == "undecidable" and found["needs"]:
        return (
            f"not explained: its tape cannot tell how the run goes without its faults: needs {found['needs']}"
        )
    if found["ended"] == "undecidable":
        return f"not explained: runs could not be judged: {next(iter(found['undecided']), '')}"
    words = headline(dict(found)) + _labels(found)
    if found["ended"] == "budget":
        words += (
            f"; {counted(found['runs'], 'run')} did not decide everything: about {found['runs_left']} more"
        )
    if found["ended"] == "interrupted":
        words += f"; interrupted after {counted(found['runs'], 'run')}"
    if found["needs"]:
        words += f"; some runs could not be answered from the tape: needs {found['needs']}"
    return words


def _labels(found: Mapping[str, Any]) -> str:
    named = [found["parts"][at]["label"] for at in found["blamed"]]
    words = ", ".join(named[:LABELS])
    if len(named) > LABELS:
        words += f" and {len(named) - LABELS} more"
    return f": {words}" if named else ""


def why_not(reason: Reason, message: str = "") -> str:
    """Why a failure was not searched; `message` says more of what was `broken`."""
    if reason == "no-fault":
        return "not explained: no fault had reached the agent in it, so there is nothing to leave out"
    if reason == "over-all":
        return "not explained: it is judged over all invocations, and not over one"
    if reason == "recorded":
        return "not explained: an incident is played as it was recorded, and nothing of it can be left out"
    if reason == "broken":
        return f"not explained: its runs could not be made: {message}"
    return "not explained: interrupted before its search began"


def too_small(left: int, fewest: int, usual: int) -> str:
    """Why a failure was not searched: with so few runs `left` of the budget."""
    if not left:
        return f"not explained: no run was left for it; it usually takes about {usual}"
    return (
        f"not explained: {counted(left, 'run')} were left for it, and fewer than {fewest} decide nothing; "
        f"it usually takes about {usual}"
    )


def title(row: Mapping[str, Any]) -> str:
    """The failure itself."""
    words = f"{row['invariant']} ({row['severity']}) in {row['invocation']}"
    if row["also"]:
        words += f" and {counted(row['also'], 'more cell')}"
    return words


def lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For a terminal."""
    if rows:
        yield f"explained with {counted(sum(row['runs'] for row in rows), 'run')}:"
    for row in rows:
        yield f"  {line(title(row), 200)}"
        yield f"    {line(row['conclusion'], 400)}"
        if row["page"]:
            yield f"    page   {row['page']}"


def of_cell(rows: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The row of the group that a failed cell is in."""
    return next(
        (
            row
            for row in rows
            if row["invariant"] == cell["invariant"] and cell["invocation"] in row["invocations"]
        ),
        None,
    )
