"""What `faultwire explore` prints: a line per run, the failures by cause, and what may be claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.cli.output import fields, say, show
from faultwire.errors import FaultError, UsageError
from faultwire.report.explored import WHY, in_words, sentence
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from faultwire.cli._shrunk_repro import Written
    from faultwire.explore.claim import Claim
    from faultwire.explore.execute import Executor
    from faultwire.explore.found import Find
    from faultwire.explore.search import Explorer, Result
    from faultwire.trials.series import Budget, Limit

LISTED = 20
"""Sets that were left out, in a terminal; the file has all."""
INTERRUPTED = 130


def progress(explorer: Explorer) -> None:
    """How far the search is."""
    finds = len(explorer.finds)
    say(f"run {explorer.runs}  {finds} {'failure' if finds == 1 else 'failures'} found")


def report(
    result: Result,
    executor: Executor,
    written: Path,
    depth: int,
    failing: str,
    repros: Sequence[Written | None] = (),
) -> None:
    """The failures, the claim, and what it cost; `failing` says when a run is a failure."""
    if result.claim is None:
        return
    for line in lines(result, depth, failing, repros):
        show(safe(line))
    rows = [("runs", f"{result.runs}, {executor.seconds:.0f} s, {executor.spent.words}")]
    rows += [("state", str(executor.journal.path)), ("all sets", str(written))]
    show(fields(rows))


def lines(result: Result, depth: int, failing: str, repros: Sequence[Written | None] = ()) -> Iterator[str]:
    """The result in words. What is no failure to the oracle is none here, so it says when a run is one;
    `repros` are the folders of its finds, in their order, as far as there are any."""
    from faultwire.explore.found import groups

    kept = dict(zip(map(id, result.finds), repros, strict=False))
    for number, (cause, finds) in enumerate(groups(list(result.finds)).items(), 1):
        yield f"failure {number}: {' and '.join(cause)}"
        for find in finds:
            yield f"  {_faults(find)}: failed {find.failed} of {counted(find.runs, 'run')}: {find.reason}"
            if (folder := kept.get(id(find))) is not None:
                seen = (
                    "it failed there"
                    if folder.seen
                    else f"it did not fail there in {counted(folder.runs, 'run')}"
                )
                yield f"    repro: {folder.folder}/run.sh ({seen})"
    for faults in result.flaky:
        yield f"flaky: failed once, and not again: {', '.join(point.text for point in sorted(faults))}"
    if result.claim is not None:
        yield from _claimed(result, result.claim, depth)
        yield f"  a run is a failure where {failing}"


def _faults(find: Find) -> str:
    return " with ".join(point.entry for point in sorted(find.faults))


def _claimed(result: Result, claim: Claim, depth: int) -> Iterator[str]:
    yield sentence(
        claim.counts,
        holds=claim.holds,
        depth=depth,
        faults=claim.faults,
        why_not=claim.why_not,
        found=bool(result.finds),
    )
    counts: Mapping[Any, int] = claim.counts
    for reason in WHY:
        count = counts[reason]
        if count:
            yield f"  {in_words(reason, count)}"
            named = [faults for faults, why in claim.excluded if why == reason][:LISTED]
            yield from (f"    {', '.join(point.text for point in sorted(one))}" for one in named[:3])
            if count > 3 and named:
                yield f"    and {count - min(3, len(named))} more"


def as_json(
    result: Result, executor: Executor, failing: str, repros: Sequence[Written | None] = ()
) -> dict[str, Any]:
    """For programs, and the file with every set that was left out."""
    claim = result.claim
    kept = dict(zip(map(id, result.finds), repros, strict=False))
    return {
        "ended": result.ended,
        "runs": result.runs,
        "seconds": round(executor.seconds, 3),
        "cost_usd": executor.cost_usd,
        "tokens": executor.tokens,
        "failing": failing,
        "failures": [
            {
                "cause": list(find.cause),
                "faults": [_point(point, executor) for point in sorted(find.faults)],
                "failed": find.failed,
                "runs": find.runs,
                "reason": find.reason,
                "repro": _folder(kept.get(id(find))),
            }
            for find in result.finds
        ],
        "flaky": [[point.text for point in sorted(faults)] for faults in result.flaky],
        "claim": None
        if claim is None
        else {
            "holds": claim.holds,
            "why_not": claim.why_not or None,
            "depth": claim.depth,
            "faults": claim.faults,
            "sets": dict(claim.counts),
            "excluded": [
                {"faults": [point.text for point in sorted(faults)], "reason": reason}
                for faults, reason in claim.excluded
            ],
        },
    }


def _folder(kept: Written | None) -> dict[str, Any] | None:
    return None if kept is None else {"folder": str(kept.folder), "failed_there": kept.seen}


def _point(point: Any, executor: Executor) -> dict[str, Any]:
    return {
        "entry": point.entry,
        "place": point.call.place,
        "call": point.call.number,
        "calls": executor.count(point),
    }


def explain(result: Result, budget: Budget, limit: Limit | None) -> int:
    """The exit code. Raises UsageError where the agent fails without faults, FaultError where nothing could
    be learned, or the budget ended before that."""
    from faultwire.trials.execute import NOT_ON_TAPE
    from faultwire.trials.series import ended_by, goes_on

    if result.ended == "calm_fails":
        raise UsageError(
            f"found an agent that fails without any fault: {result.reason}; expected one that is fine so far",
            code="explore.calm",
            hint="`faultwire shrink` is for runs that fail; --expect and --oracle say what a failure is",
        )
    if result.ended == "undecided":
        raise FaultError(
            f"the run without faults cannot be judged: {result.reason}",
            code="explore.undecided",
            hint="answer what the tape lacks: --mock, --script, or a tape with all calls"
            if result.reason.startswith(NOT_ON_TAPE)
            else "`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    if result.ended == "interrupted":
        return INTERRUPTED
    if result.finds:
        return 1
    claim = result.claim
    if claim is not None and not claim.holds and result.ended == "budget":
        raise FaultError(
            f"{ended_by(limit or 'runs', budget)} ended the search after {counted(result.runs, 'run')}: "
            f"{claim.why_not}",
            code="explore.budget",
            hint=goes_on(limit or "runs", budget, result.runs),
        )
    return 0 if claim is not None and claim.holds else 3
