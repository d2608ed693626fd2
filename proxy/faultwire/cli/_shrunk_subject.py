"""The run that `faultwire shrink` starts from, what was asked, and how a trial of it is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.shrink.case import Case
    from faultwire.tape.read.metadata import SessionInfo
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Oracle, Outcome, Pin
    from faultwire.trials.shared import SharedTrials


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `shrink`'s own."""

    session: str | None
    oracle: str | None
    expect: str | None
    contract: Path | None
    error: float
    noise: float
    max_runs: int
    max_time: float | None
    max_cost: float | None
    timeout: float
    prompt: str | None
    state: Path | None
    output: Path | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """The run that failed: its tape and session, the profile, and the decisions that fired."""

    tape: Path
    session: SessionInfo
    profile: Profile
    pins: tuple[Pin, ...]
    exchanges: int


def run_case(
    runner: TrialRunner,
    case: Case,
    found: Subject,
    keep: Path | None = None,
    shared: SharedTrials | None = None,
) -> Outcome:
    """Run a case once, in a run that trials share where there is one; a tape that stays is of its own."""
    from faultwire.shrink.repro import filled
    from faultwire.trials.model import Trial

    chosen = replace(runner, command=filled(runner.command, case.prompt))
    profile = case.profile(found.profile)
    trial = Trial(frozenset(case.pins), found.session.seed, profile)
    return chosen.run(trial, keep=keep) if shared is None or keep is not None else shared.run(trial, chosen)


def subject(source: str, asked: Asked, traffic: Traffic) -> Subject:
    """The run that a user named. Raises UsageError, ProfileError, TapeError."""
    from faultwire.cli._failed_run import profile_of, session_of

    path, info, pins = session_of("shrink", source, asked.session, unverified=traffic.unverified)
    if not pins:
        raise UsageError(
            f"found no fault that fired in `{path}`, expected a run that failed under faults",
            code="shrink.no_fault",
            hint="0 runs can help: record one with `faultwire exec --profile …` that fails",
        )
    profile = profile_of("shrink", traffic, path, info, pins)
    return Subject(path, info, profile, pins, info.exchanges)


def runner_of(found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> TrialRunner:
    """What runs the trials: answers come from the mock, or else from the run's own tape."""
    from faultwire.cli._failed_run import runner_on

    oracle = oracle_of(asked)
    return runner_on(
        "shrink", found.tape, found.session.name, found.profile, command, oracle, asked.timeout, traffic
    )


def oracle_of(asked: Asked) -> Oracle:
    """The oracle that was asked for. Raises UsageError."""
    from faultwire.cli._failed_run import oracle

    return oracle("shrink", asked.oracle, asked.expect, asked.contract)
