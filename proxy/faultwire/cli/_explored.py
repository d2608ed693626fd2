"""What `faultwire explore` does: search, and write down what was found."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import UsageError
from faultwire.runner.folder import private_dir, state
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.explore.search import Explorer, Strategy
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.trials.execute import AnswerKey

FEWEST = 3
"""Runs without which nothing is learned: two without faults, and one with a fault."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `explore`'s own."""

    strategy: Strategy
    depth: int
    oracle: str | None
    expect: str | None
    contract: Path | None
    workers: int
    max_runs: int
    max_time: float | None
    max_cost: float | None
    timeout: float
    state: Path | None
    quiet: bool


def explore(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire._core import sha256_hex
    from faultwire.capture import child
    from faultwire.cli._explored_report import as_json, explain, progress, report
    from faultwire.cli._explored_repro import write_repros
    from faultwire.cli._failed_run import oracle, redactor
    from faultwire.cli._placed import placed
    from faultwire.cli.output import say, show_json
    from faultwire.explore.execute import Executor
    from faultwire.explore.journal import Journal
    from faultwire.explore.search import Explorer
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.series import Budget
    from faultwire.trials.shared import shared_trials

    if asked.max_runs < FEWEST:
        raise UsageError(
            f"found `--max-runs {asked.max_runs}`, expected at least {FEWEST}: two runs without faults, and "
            "one with a fault",
            code="explore.budget",
        )
    profile = _faults(traffic)
    if not profile.entries:
        raise UsageError(
            "found no fault, expected --profile or --fault with those to try",
            code="explore.no_fault",
            hint="faultwire explore --mock --fault 'status: {code: 503}' -- python agent.py",
        )
    child.find(command, os.environ)
    about = sha256_hex(json.dumps(_identity(profile, command, asked, traffic)).encode())
    if asked.state is not None:
        placed(asked.state)
    settings = traffic.launch("explore", profile=profile)
    made_by_faults = _made_by_faults(settings, unverified=traffic.unverified)
    home = private_dir(state() / "explore")
    journal = Journal(asked.state or home / f"{about[:12]}.jsonl", about)
    judge = oracle("explore", asked.oracle, asked.expect, asked.contract)
    runner = TrialRunner(settings, profile, command, judge, asked.timeout, made_by_faults=made_by_faults)
    budget = Budget(asked.max_runs, asked.max_time, asked.max_cost)
    shared = shared_trials(runner)
    executor = Executor(
        runner, traffic.seed, budget, journal, redactor(traffic), asked.workers, shared
    )  # fmt: skip

    def note(explorer: Explorer) -> None:
        if not asked.quiet:
            progress(explorer)

    explorer = Explorer(executor.run_many, asked.strategy, asked.depth, traffic.seed, progress=note)
    if budget.condition and not asked.quiet:
        say(budget.condition)
    if journal.earlier and not asked.quiet:
        say(f"going on after {counted(len(journal.earlier), 'run')} of {journal.path}")
    try:
        with shared or nullcontext():
            result = explorer.explore()
    finally:
        journal.close()
    written = home / f"{about[:12]}.json"
    failing = redactor(traffic)(judge.description)
    repros = write_repros(result, executor, home / f"{about[:12]}-repro", asked.oracle)
    made = as_json(result, executor, failing, repros)
    written.write_text(json.dumps(made, indent=2) + "\n")
    if format_ == "json":
        show_json(made)
    else:
        report(result, executor, written, asked.depth, failing, repros)
    return explain(result, budget, executor.limit)


def _faults(traffic: Traffic) -> Profile:
    """All faults as one profile. That one would leave another nothing to act on is no error here: each is
    tried alone. Raises ProfileError."""
    from faultwire.profile.across import joined
    from faultwire.profile.dump import marked, merge
    from faultwire.profile.load import find, inline, load

    profiles = [*(load(find(name)) for name in traffic.profile), *map(inline, traffic.fault)]
    joined([one.model_copy(update={"entries": ()}) for one in profiles])
    return marked(merge(profiles)) if traffic.mark else merge(profiles)


def _made_by_faults(settings: LaunchSettings, *, unverified: bool) -> frozenset[AnswerKey]:
    """The answers on a replayed tape that no server gave. Raises TapeError."""
    from faultwire.replay.reader import open_tape
    from faultwire.trials.execute import answers_of_faults

    if settings.replay is None:
        return frozenset()
    with open_tape(settings.replay.tape, unverified=unverified) as tape:
        return answers_of_faults(tape.exchanges())


def _identity(profile: Profile, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> list[object]:
    """All that outcomes depend on."""
    from faultwire.cli._failed_run import surroundings
    from faultwire.profile.load import dump

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    contract = "" if asked.contract is None else asked.contract.read_text(errors="replace")
    oracle = [asked.oracle, asked.expect, contract, asked.timeout]
    program = [list(command), *surroundings(command)]
    return [dump(profile)["entries"], program, oracle, traffic.seed, traffic.mock, script, traffic.replay]
