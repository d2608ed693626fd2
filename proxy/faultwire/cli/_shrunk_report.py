"""What `faultwire shrink` prints: a line per run, the result, and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.cli.output import fields, say, show
from faultwire.errors import FaultError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.cli._shrunk_repro import Written
    from faultwire.cli._shrunk_subject import Subject
    from faultwire.shrink.session import Result, Shrinking
    from faultwire.trials.model import Outcome

WORDS = {True: "fails", False: "passes", None: "undecided"}
INTERRUPTED = 130


def progress(search: Shrinking, outcome: Outcome) -> None:
    """One run, and the smallest set so far."""
    smallest, total = len(search.smallest.pins), len(search.pins)
    left = f", about {search.search.runs_left()} runs left" if search.stage == "faults" else ""
    reason = f" ({outcome.reason})" if outcome.failed is None else ""
    say(
        f"run {search.series.runs}  {search.stage}  {WORDS[outcome.failed]}{reason}  "
        f"smallest: {smallest} of {total} decisions{left}"
    )


def report(result: Result, found: Subject, kept: Written | None, state: Path) -> None:
    """The smallest set, what it cost, and where the repro folder is."""
    from faultwire.cli._shrunk_repro import findings

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
        rows.append(("failed", f"{failed} of {failed + passed} runs with them: {result.last}"))
    rows += [
        ("runs", f"{result.runs}, {result.seconds:.0f} s, {result.cost_usd:.4f} dollars of models"),
    ]
    if result.case.prompt is not None:
        rows.append(("prompt", result.case.prompt))
    for reason, count in result.undecided.most_common(3):
        rows.append(("undecided", f"{count}: {reason}"))
    if kept is not None:
        seen = "it failed there" if kept.seen else f"it did not fail there in {kept.runs} runs"
        rows.append(
            ("repro", f"{kept.folder}/run.sh ({kept.exchanges} of {found.exchanges} exchanges; {seen})")
        )
    rows.append(("state", str(state)))
    show(fields(rows))


def _adequate(result: Result) -> str:
    return "needed" if result.ended == "found" else "left so far"


def explain(result: Result, found: Subject) -> int:
    """The exit code. Raises UsageError where the run has nothing to shrink, FaultError where the budget was
    too small."""
    from faultwire.trials.execute import NOT_ON_TAPE

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
                f"{count} of {count} runs could not be judged: {reason}", code="shrink.undecided"
            )
        raise UsageError(
            f"found no failure: the run with all its {len(found.pins)} decisions passed in {result.runs} "
            "runs, expected one that fails",
            code="shrink.no_failure",
            hint="a run that fails in less than a quarter of its repeats takes more runs than this is for; "
            "--oracle, --expect and --contract say what a failure is",
        )
    if result.ended == "no_cause":
        raise UsageError(
            f"found a failure without any fault, in {result.runs} runs, expected one that faults cause",
            code="shrink.no_cause",
            hint="the oracle says `fails` of calm runs as well: change --oracle, --expect or --contract",
        )
    if result.ended == "budget":
        raise FaultError(
            f"the budget ended after {result.runs} runs, before the smallest set was found; about "
            f"{result.runs_left} more are needed",
            code="shrink.budget",
            hint=f"the same command with `--max-runs {result.runs + max(1, result.runs_left)}` goes on",
        )
    return INTERRUPTED if result.ended == "interrupted" else 0
