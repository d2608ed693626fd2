"""The repro folders of what `faultwire explore` found: one for each failure, as `shrink` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.cli._shrunk_repro import Written
    from faultwire.explore.execute import Executor
    from faultwire.explore.found import Find
    from faultwire.explore.search import Result
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome

MOST = 5
"""Failures that get a folder: each takes two runs or more."""


def write_repros(
    result: Result,
    executor: Executor,
    runner: TrialRunner,
    home: Path,
    redact: Callable[[str], str],
    oracle: str | None,
) -> list[Written | None]:
    """A folder below `home` for each of the first finds; None where it did not fail once more, where its
    folder cannot be written, or where the budget is spent. Those of an earlier start are made anew. Its runs
    are made here, also where those of the search were not."""
    made: list[Written | None] = []
    for number, find in enumerate(result.finds[:MOST], 1):
        if result.ended == "interrupted" or executor.over():
            break
        made.append(_write(home / str(number), find, executor, runner, redact, oracle))
    return made


def _write(
    folder: Path,
    find: Find,
    executor: Executor,
    runner: TrialRunner,
    redact: Callable[[str], str],
    oracle: str | None,
) -> Written | None:
    import shutil

    from faultwire.cli._shrunk_repro import Case, write_case
    from faultwire.trials.execute import NEVER
    from faultwire.trials.model import Trial

    profile, pins = executor.pinned(find.faults)
    acting = tuple(sorted(pin for pin in pins if pin.call != NEVER))
    case = Case(executor.seed, find.failed / find.runs, profile, acting, oracle)

    def record(tape: Path) -> Outcome:
        outcome = runner.run(Trial(pins, executor.seed, profile), keep=tape)
        executor.seconds += outcome.seconds
        executor.started_s += outcome.seconds
        executor.take(outcome.cost_usd, outcome.unpriced, outcome.tokens)
        return outcome

    shutil.rmtree(folder, ignore_errors=True)
    return write_case(folder, case, runner, record, redact)
