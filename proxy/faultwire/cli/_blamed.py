"""What `faultwire blame` does: read the run, search, and write the result."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.cli._blamed_subject import Asked, Subject, subject
from faultwire.errors import UsageError
from faultwire.runner.folder import private_dir, state
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.blame.inside import Inside
    from faultwire.blame.rates import Coalition
    from faultwire.blame.session import Blaming, Splitting
    from faultwire.cli.options import Traffic
    from faultwire.trials.journal import Journal
    from faultwire.trials.model import Outcome
    from faultwire.trials.series import Budget

LIVE_USD = 5.0
"""What runs against real servers may cost unless --max-cost says otherwise."""


def blame(source: str, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> int:
    """Search, and report; the exit code. Raises UsageError, TapeError, FaultError."""
    from faultwire.capture import child
    from faultwire.cli._placed import placed

    if asked.output is not None:
        placed(asked.output / "blame.html")
        placed(asked.output / "blame.json")
    if asked.state is not None:
        placed(asked.state)
    child.find(command, os.environ)
    with tempfile.TemporaryDirectory(prefix="faultwire-blame-") as folder, ExitStack() as stack:
        found = subject(source, command, asked, traffic, Path(folder), stack)
        return _blame(found, command, asked, traffic)


def _blame(found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> int:
    from faultwire._core import sha256_hex
    from faultwire.blame.design import exact_runs, usual_runs
    from faultwire.cli._blamed_report import announce, explain, report
    from faultwire.cli.output import say
    from faultwire.trials.journal import Journal
    from faultwire.trials.series import Budget

    usual = usual_runs(len(found.parts), curve=asked.curve)
    runs = asked.max_runs if asked.max_runs is not None else 2 * usual
    cost = LIVE_USD if asked.live and asked.max_cost is None else asked.max_cost
    budget = Budget(runs, asked.max_time, cost, assumed=asked.max_cost is None)
    enough(len(found.parts), budget, usual)
    about = sha256_hex(json.dumps(_identity(found, command, asked, traffic)).encode())
    home = private_dir(state() / "blame")
    output = asked.output or home / f"{about[:12]}"
    journal = Journal.open(asked.state or home / f"{about[:12]}.jsonl", about, "blame")
    try:
        if not asked.quiet:
            announce(found, budget, usual, journal, exact_runs(len(found.parts), curve=asked.curve))
            if budget.condition:
                say(budget.condition)
        search = _search(found, asked, traffic, journal, budget)
        search.run()
        if code := explain(search, found):
            return code
        return report(search, found, command, asked, traffic, output)
    finally:
        journal.close()


def _search(found: Subject, asked: Asked, traffic: Traffic, journal: Journal, budget: Budget) -> Blaming:
    from faultwire.blame.design import Design
    from faultwire.blame.session import Blaming
    from faultwire.cli._blamed_report import progress
    from faultwire.cli._failed_run import redactor

    secret_free = redactor(traffic)

    def attempt(coalition: Coalition) -> Outcome:
        outcome = found.attempt(coalition)
        if not search.series.runs:
            affordable(len(found.parts), budget, outcome)
            budget.must_hold("blame", outcome.unpriced)
        return replace(outcome, reason=secret_free(outcome.reason))

    design = Design(len(found.parts), asked.error, found.session.seed, curve=asked.curve)
    search = Blaming(
        found.parts, attempt, journal, budget, design, (lambda *_: None) if asked.quiet else progress,
        splitting=_splitting(found, asked, secret_free),
    )  # fmt: skip
    return search


def _splitting(found: Subject, asked: Asked, clean: Callable[[str], str]) -> Splitting | None:
    """How blamed answers are taken apart, unless the user does not want it."""
    given = found.splitting
    if given is None or not asked.fields:
        return None

    def attempt(inside: Inside, pieces: frozenset[int]) -> Outcome:
        outcome = given.attempt(inside, pieces)
        return replace(outcome, reason=clean(outcome.reason))

    return replace(given, attempt=attempt, free=asked.max_runs is None)


def enough(parts: int, budget: Budget, usual: int) -> None:
    """Refuse a budget in runs that decides nothing. Raises UsageError."""
    from faultwire.blame.design import fewest_runs

    fewest = fewest_runs(parts)
    if budget.runs < fewest:
        raise UsageError(
            f"found `--max-runs {budget.runs}`, expected at least {fewest}: fewer decide nothing; "
            f"{counted(parts, 'part')} usually {'takes' if parts == 1 else 'take'} about {usual} runs",
            code="blame.budget",
        )


def affordable(parts: int, budget: Budget, first: Outcome) -> None:
    """Refuse a budget in time or money that decides nothing, once it is known what a run takes.

    Raises UsageError."""
    from faultwire.blame.design import fewest_runs

    fewest = fewest_runs(parts)
    if budget.seconds is not None and budget.seconds < fewest * first.seconds:
        raise UsageError(
            f"found `--max-time` of {budget.seconds:g} s, expected at least {fewest * first.seconds:.0f} s: "
            f"a run takes {first.seconds:.1f} s, and fewer than {fewest} runs decide nothing",
            code="blame.budget",
        )
    if budget.cost_usd is not None and budget.cost_usd < fewest * first.cost_usd:
        raise UsageError(
            f"found a limit of {budget.cost_usd:g} dollars, expected at least "
            f"{fewest * first.cost_usd:.4f}: a run costs {first.cost_usd:.4f} dollars, and fewer than "
            f"{fewest} runs decide nothing",
            code="blame.budget",
            hint="--max-cost sets the limit",
        )


def _identity(found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> list[object]:
    """All that outcomes depend on, for a digest."""
    from faultwire.cli._failed_run import surroundings

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    contract = "" if asked.contract is None else asked.contract.read_text(errors="replace")
    parts = [part.identity for part in found.parts]
    options = [
        asked.oracle,
        asked.expect,
        contract,
        asked.error,
        asked.timeout,
        asked.curve,
        asked.live,
        asked.fields,
    ]
    answers = [traffic.mock, script, str(found.tape.absolute()), asked.calm, *surroundings(command)]
    faults = [list(traffic.profile), list(traffic.fault)]
    return [parts, found.session.seed, list(command), *options, *answers, *faults]
