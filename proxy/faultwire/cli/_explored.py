"""What `faultwire explore` does: search, and write down what was found."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.cli._explored_search import Judged, Searched
from faultwire.errors import UsageError
from faultwire.runner.folder import private_dir, state
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.campaign.trial_player import Workers
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.explore.players import Player
    from faultwire.explore.search import Explorer, Strategy
    from faultwire.profile.model import Profile
    from faultwire.trials.execute import TrialRunner

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
    max_tokens: int | None
    timeout: float
    state: Path | None
    quiet: bool
    on: str | None = None
    worker_python: str | None = None
    worker_folder: str | None = None
    lease: float | None = None

    @property
    def judged(self) -> Judged:
        """What a failure is."""
        return Judged(self.oracle, self.expect, self.contract, self.timeout)

    def engine(self) -> Workers | None:
        """The workers of `--on`. Raises UsageError for options that need it, or do not go with it."""
        from faultwire.campaign.trial_player import Workers

        if self.on is not None:
            if self.workers != 1:
                raise UsageError(
                    "found --workers with --on, expected one of them",
                    code="usage.on",
                    hint=f"the engine has the workers: `--on local:{self.workers}`",
                )
            return Workers(self.on, self.worker_python, self.worker_folder, self.lease)
        for name in ("worker_python", "worker_folder", "lease"):
            if getattr(self, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"found {option} without --on, expected both", code="usage.on")
        return None


def explore(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire._core import sha256_hex
    from faultwire.cli._explored_report import as_json, explain, progress, report
    from faultwire.cli._explored_repro import write_repros
    from faultwire.cli._failed_run import redactor
    from faultwire.cli._placed import placed
    from faultwire.cli.output import say, show_json
    from faultwire.explore.execute import Executor
    from faultwire.explore.journal import Journal
    from faultwire.explore.search import Explorer
    from faultwire.trials.series import Budget

    if asked.max_runs < FEWEST:
        raise UsageError(
            f"found `--max-runs {asked.max_runs}`, expected at least {FEWEST}: two runs without faults, and "
            "one with a fault",
            code="explore.budget",
        )
    search = Searched(command, traffic, asked.judged)
    profile = search.profile()
    runner = search.runner(profile)
    about = sha256_hex(json.dumps(_identity(profile, command, asked, traffic)).encode())
    if asked.state is not None:
        placed(asked.state)
    home = private_dir(state() / "explore")
    journal = Journal(asked.state or home / f"{about[:12]}.jsonl", about)
    budget = Budget(asked.max_runs, asked.max_time, asked.max_cost, tokens=asked.max_tokens)

    def note(explorer: Explorer) -> None:
        if not asked.quiet:
            progress(explorer)

    conditions = [one for one in (budget.condition, budget.token_condition) if one is not None]
    if journal.earlier:
        conditions.append(f"going on after {counted(len(journal.earlier), 'run')} of {journal.path}")
    for condition in () if asked.quiet else conditions:
        say(condition)
    try:
        with _player(search, runner, asked, about) as player:
            executor = Executor(profile, traffic.seed, budget, journal, player)
            explorer = Explorer(executor.run_many, asked.strategy, asked.depth, traffic.seed, progress=note)
            result = explorer.explore()
    finally:
        journal.close()
    written = home / f"{about[:12]}.json"
    redact = redactor(traffic)
    failing = redact(runner.oracle.description)
    repros = write_repros(result, executor, runner, home / f"{about[:12]}-repro", redact, asked.oracle)
    made = as_json(result, executor, failing, repros)
    written.write_text(json.dumps(made, indent=2) + "\n")
    if format_ == "json":
        show_json(made)
    else:
        report(result, executor, written, asked.depth, failing, repros)
    return explain(result, budget, executor.limit)


@contextmanager
def _player(search: Searched, runner: TrialRunner, asked: Asked, about: str) -> Iterator[Player]:
    """Who makes the runs: this process, or the workers of an engine. Raises UsageError."""
    from contextlib import nullcontext

    from faultwire.cli._failed_run import redactor
    from faultwire.cli.output import say
    from faultwire.explore.attempt import Attempts
    from faultwire.explore.players import Threads
    from faultwire.trials.shared import shared_trials

    engine = asked.engine()
    if engine is None:
        shared = shared_trials(runner)
        with shared or nullcontext():
            threads = Threads(Attempts(runner, redactor(search.traffic), shared).make, asked.workers)
            try:
                yield threads
            finally:
                threads.close()
        return
    from faultwire.campaign.trial_player import Search, workers

    expected = search.surroundings(runner.profile, runner.settings)
    with workers(engine, Search(about, expected, search.as_json(), asked.timeout), state()) as player:
        yield player
        for text in () if asked.quiet else player.notes():
            say(f"note: {text}")


def _identity(profile: Profile, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> list[object]:
    """All that outcomes depend on."""
    from faultwire.cli._failed_run import surroundings
    from faultwire.profile.load import dump

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    contract = "" if asked.contract is None else asked.contract.read_text(errors="replace")
    oracle = [asked.oracle, asked.expect, contract, asked.timeout]
    program = [list(command), *surroundings(command)]
    return [dump(profile)["entries"], program, oracle, traffic.seed, traffic.mock, script, traffic.replay]
