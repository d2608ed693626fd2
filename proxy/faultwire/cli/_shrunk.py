"""What `faultwire shrink` does: read the run, search, and write the repro folder."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.cli._shrunk_subject import Asked, Subject, run_case, runner_of, subject
from faultwire.errors import UsageError
from faultwire.runner.folder import private_dir, state
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.cli.options import Traffic
    from faultwire.shrink.case import Case
    from faultwire.trials.model import Outcome


def shrink(source: str, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> int:
    """Search, and report; the exit code. Raises UsageError, TapeError, FaultError."""
    from faultwire._core import sha256_hex
    from faultwire.capture import child
    from faultwire.cli._failed_run import redactor
    from faultwire.cli._placed import placed
    from faultwire.cli._shrunk_report import explain, progress, report
    from faultwire.cli._shrunk_repro import write
    from faultwire.cli.output import say
    from faultwire.shrink.session import Shrinking
    from faultwire.trials.journal import Journal
    from faultwire.trials.series import Budget
    from faultwire.trials.shared import shared_trials

    if asked.output is not None:
        placed(asked.output / "run.sh")
    if asked.state is not None:
        placed(asked.state)
    enough(asked)
    child.find(command, os.environ)
    found = subject(source, asked, traffic)
    runner = runner_of(found, command, asked, traffic)
    shared = shared_trials(runner)
    secret_free = redactor(traffic)
    about = sha256_hex(json.dumps(_identity(found, command, asked, traffic)).encode())
    home = private_dir(state() / "shrink")
    output = asked.output or home / f"{about[:12]}-repro"
    if output.exists():
        message = f"found `{output}`, expected a new folder"
        raise UsageError(message, code="shrink.output", hint="give another -o, or remove it")
    journal = Journal.open(asked.state or home / f"{about[:12]}.jsonl", about)
    budget = Budget(asked.max_runs, asked.max_time, asked.max_cost)

    def attempt(case: Case) -> Outcome:
        outcome = run_case(runner, case, found, shared=shared)
        if not search.series.runs:
            affordable(asked, outcome)
            budget.must_hold("shrink", outcome.unpriced)
        return replace(outcome, reason=secret_free(outcome.reason))

    search = Shrinking(
        found.pins, found.profile, attempt, journal, budget, asked.error, asked.noise, found.session.seed,
        asked.prompt, (lambda *_: None) if asked.quiet else progress,
    )  # fmt: skip
    if not asked.quiet:
        fired = f"{len(found.pins)} decision{'' if len(found.pins) == 1 else 's'} of faults fired"
        say(f"{fired} in {found.tape}; at most {counted(asked.max_runs, 'run')}")
        if budget.condition:
            say(budget.condition)
        if journal.earlier:
            say(f"going on after {counted(len(journal.earlier), 'run')} of {journal.path}")
    try:
        with shared or nullcontext():
            result = search.run()
        smaller = len(result.case.pins) < len(found.pins) or result.ended == "found"
        written = smaller and result.ended != "no_cause" and result.ended != "interrupted"
        kept = write(output, result, runner, found, asked, secret_free) if written else None
    finally:
        journal.close()
    report(result, found, kept, journal.path)
    return explain(result, found, budget)


def enough(asked: Asked) -> None:
    """Refuse a budget in runs that decides nothing. Raises UsageError."""
    from faultwire.shrink.session import fewest_runs

    fewest = fewest_runs(asked.error, asked.noise)
    if asked.max_runs < fewest:
        raise UsageError(
            f"found `--max-runs {asked.max_runs}`, expected at least {fewest}: fewer decide nothing "
            f"at an error rate of {asked.error:g}",
            code="shrink.budget",
        )


def affordable(asked: Asked, first: Outcome) -> None:
    """Refuse a budget in time or money that decides nothing, once it is known what a run takes.

    Raises UsageError."""
    from faultwire.shrink.session import fewest_runs

    fewest = fewest_runs(asked.error, asked.noise)
    if asked.max_time is not None and asked.max_time < fewest * first.seconds:
        raise UsageError(
            f"found `--max-time` of {asked.max_time:g} s, expected at least {fewest * first.seconds:.0f} s: "
            f"a run takes {first.seconds:.1f} s, and fewer than {fewest} runs decide nothing",
            code="shrink.budget",
        )
    if asked.max_cost is not None and asked.max_cost < fewest * first.cost_usd:
        raise UsageError(
            f"found `--max-cost {asked.max_cost:g}`, expected at least {fewest * first.cost_usd:.4f}: a run "
            f"costs {first.cost_usd:.4f} dollars, and fewer than {fewest} runs decide nothing",
            code="shrink.budget",
        )


def _identity(found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> list[object]:
    """All that outcomes depend on, for a digest."""
    from faultwire.cli._failed_run import surroundings
    from faultwire.profile.load import dump

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    contract = "" if asked.contract is None else asked.contract.read_text(errors="replace")
    pins = [[pin.entry, pin.call] for pin in found.pins]
    options = [asked.oracle, asked.expect, contract, asked.error, asked.noise, asked.timeout, asked.prompt]
    answers = [traffic.mock, script, str(found.tape.absolute()), *surroundings(command)]
    return [pins, dump(found.profile)["entries"], found.session.seed, list(command), *options, *answers]
