"""What `faultwire shrink` prints: a line per run, the result, and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.cli.output import fields, say, show
from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.cli._shrunk_repro import Written
    from faultwire.cli._shrunk_subject import Subject
    from faultwire.shrink.session import Result, Shrinking
    from faultwire.trials.model import Outcome
    from faultwire.trials.series import Budget

WORDS = {True: "fails", False: "passes", None: "undecided"}
INTERRUPTED = 130


def progress(search: Shrinking, outcome: Outcome) -> None:
    """One run, and the smallest set so far."""
    smallest, total = len(search.smallest.pins), len(search.pins)
    known = f", {search.search.needed()} known to be needed" if search.stage == "faults" else ""
    reason = f" ({outcome.reason})" if outcome.failed is None else ""
    say(
        f"run {search.series.runs}  {search.stage}  {WORDS[outcome.failed]}{reason}  "
        f"smallest: {smallest} of {total} {'decision' if total == 1 else 'decisions'}{known}"
    )


def report(result: Result, found: Subject, kept: Written | None, state: Path) -> None:
    """The smallest set, what it cost, and where the repro folder is."""
    from faultwire.cli._shrunk_repro import findings
    from faultwire.trials.model import Spent
    from faultwire.trials.repeats import once

    if result.ended in ("not_reproduced", "no_cause"):
        return
    profile = result.case.profile(found.profile)
    assert profile is not None
    needed, all_of = len(result.case.pins), len(found.pins)
    one = "decision is" if all_of == 1 else "decisions is" if needed == 1 else "decisions are"
    show(f"{needed} of {all_of} {one} {_adequate(result)}:")
    for line in findings(result.case.pins, profile):
        show(f"  {line}")
    for pin in result.untestable:
        show(f"  {pin.text} is kept: no run without it could be judged")
    failed, passed = result.counts
    rows = []
    if failed:
        rows.append(("failed", f"{failed} of {counted(failed + passed, 'run')} with them: {result.last}"))
    rows += [
        ("runs", f"{result.runs}, {result.seconds:.0f} s, {Spent(result.cost_usd, result.unpriced).words}"),
    ]
    if result.repeated:
        rows.append(("repeats", once(result.repeated)))
    if result.case.prompt is not None:
        rows.append(("prompt", result.case.prompt))
    for reason, count in result.undecided.most_common(3):
        rows.append(("undecided", f"{count}: {reason}"))
    if kept is not None:
        seen = "it failed there" if kept.seen else f"it did not fail there in {counted(kept.runs, 'run')}"
        rows.append(
            (
                "repro",
                f"{kept.folder}/run.sh ({kept.exchanges} of {counted(found.exchanges, 'exchange')}; {seen})",
            )
        )
    rows.append(("state", str(state)))
    show(fields(rows))


def _adequate(result: Result) -> str:
    return "needed" if result.ended == "found" else "left so far"


def explain(result: Result, found: Subject, budget: Budget) -> int:
    """The exit code. Raises UsageError where the run has nothing to shrink, FaultError where the budget was
    too small."""
    from faultwire.trials.execute import NOT_ON_TAPE
    from faultwire.trials.series import ended_by, goes_on

    failed, passed = result.counts
    if result.ended == "not_reproduced":
        reason, count = next(iter(result.undecided.most_common(1)), ("", 0))
        if count == result.runs and reason.startswith(NOT_ON_TAPE):
            raise UsageError(
                f"found a tape that cannot answer the run again: {reason}, expected all answers on it",
                code="shrink.answers",
                hint="--mock or --script FILE answers in its place",
            )
        if count == result.runs:
            raise FaultError(
                f"{count} of {counted(count, 'run')} could not be judged: {reason}", code="shrink.undecided"
            )
        raise UsageError(
            f"found no failure: with all its {counted(len(found.pins), 'decision')} "
            f"{failed} of {counted(failed + passed, 'run')} failed, expected a run that fails",
            code="shrink.no_failure",
            hint="a failure that comes in less than a quarter of the runs takes more of them than are made; "
            "--oracle, --expect and --contract say what a failure is",
        )
    if result.ended == "no_cause":
        raise UsageError(
            f"found a failure without any fault: {result.calm[0]} of {counted(sum(result.calm), 'run')} "
            "without faults failed, expected one that faults cause",
            code="shrink.no_cause",
            hint="runs without faults fail to the oracle as well: change --oracle, --expect or --contract",
        )
    if result.ended == "budget":
        raise FaultError(
            f"{ended_by(result.limit, budget)} ended the search after {counted(result.runs, 'run')}, before "
            "the smallest set was found",
            code="shrink.budget",
            hint=goes_on(result.limit, budget, result.runs),
        )
    return INTERRUPTED if result.ended == "interrupted" else 0
