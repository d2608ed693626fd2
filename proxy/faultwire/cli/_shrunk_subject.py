"""The run that `faultwire shrink` starts from, what was asked, and how a trial of it is run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.shrink.case import Case
    from faultwire.tape.read.metadata import SessionInfo
    from faultwire.trials.execute import AnswerKey, TrialRunner
    from faultwire.trials.model import Oracle, Outcome, Pin


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


def run_case(runner: TrialRunner, case: Case, found: Subject, keep: Path | None = None) -> Outcome:
    """Run a case once."""
    from faultwire.shrink.repro import filled
    from faultwire.trials.model import Trial

    chosen = replace(runner, command=filled(runner.command, case.prompt))
    profile = case.profile(found.profile)
    return chosen.run(Trial(frozenset(case.pins), found.session.seed, profile), keep=keep)


def subject(source: str, asked: Asked, traffic: Traffic) -> Subject:
    """The run that a user named. Raises UsageError, ProfileError, TapeError."""
    from faultwire.replay.reader import open_tape
    from faultwire.tape.files.find import find
    from faultwire.trials.pins import pins_of

    path = find(source)
    with open_tape(path, unverified=traffic.unverified) as tape:
        sessions = {one.name: one for one in tape.sessions()}
        name = asked.session or (next(iter(sessions)) if len(sessions) == 1 else "")
        if name not in sessions:
            listed = ", ".join(list(sessions)[:10])
            raise UsageError(
                f"found {len(sessions)} sessions, expected one", code="shrink.session",
                hint=f"--session NAME chooses one of: {listed}",
            )  # fmt: skip
        pins = pins_of(tape.exchanges(name))
    info = sessions[name]
    if not pins:
        raise UsageError(
            f"found no fault that fired in `{path}`, expected a run that failed under faults",
            code="shrink.no_fault",
            hint="0 runs can help: record one with `faultwire exec --profile …` that fails",
        )
    profile = profile_of(traffic, path, info)
    unknown = {pin.entry for pin in pins} - {entry.id for entry in profile.entries}
    if unknown:
        raise UsageError(
            f"found decisions of `{min(unknown)}` on the tape, expected faults with the same names",
            code="shrink.profile",
            hint="give the --profile and --fault options of the run, in their order",
        )
    return Subject(path, info, profile, pins, info.exchanges)


def profile_of(traffic: Traffic, tape: Path, info: SessionInfo) -> Profile:
    """The run's profile: as given again, else the file that it names. Raises UsageError, ProfileError."""
    from faultwire.profile.load import load

    if traffic.profile or traffic.fault:
        profile = traffic.load()
    else:
        try:
            named = json.loads((tape.parent / "run.json").read_text()).get("profile_path", "")
        except (OSError, ValueError, AttributeError):
            named = ""
        if not named or not Path(named).is_file():
            raise UsageError(
                "found no profile, expected that of the run",
                code="shrink.profile",
                hint="give the --profile and --fault options of the run again",
            )
        profile = load(Path(named))
    if info.profile_digest and profile.digest and info.profile_digest != profile.digest:
        raise UsageError(
            f"found profile `{profile.name}` other than in the run, expected the same",
            code="shrink.profile",
            hint="it was changed since, or other --profile and --fault options were given",
        )
    return profile


def runner_of(found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> TrialRunner:
    """What runs the trials: answers come from the mock, or else from the run's own tape."""
    from faultwire.cli.replay_options import replay_settings
    from faultwire.tape.read.reader import TapeReader
    from faultwire.trials.execute import TrialRunner, answers_of_faults

    mock = traffic.mock or traffic.script is not None
    settings = replace(traffic.launch("shrink", profile=found.profile), replay=None)
    made: frozenset[AnswerKey] = frozenset()
    if not mock:
        settings = replace(settings, replay=replay_settings(replace(traffic, replay=str(found.tape))))
        with TapeReader.open(found.tape) as tape:
            made = answers_of_faults(tape.exchanges(found.session.name))
    name = found.session.name
    return TrialRunner(settings, found.profile, command, oracle_of(asked), asked.timeout, name, made)


def oracle_of(asked: Asked) -> Oracle:
    """The oracle that was asked for. Raises UsageError."""
    from faultwire.trials.oracle import Checks, Command, ExitCode

    given = [name for name in ("oracle", "expect", "contract") if getattr(asked, name) is not None]
    if len(given) > 1:
        names = " and ".join(f"`--{name}`" for name in given)
        raise UsageError(f"found {names}, expected one of them", code="shrink.oracle")
    if asked.oracle is not None:
        return Command.parse(asked.oracle)
    if asked.expect is not None:
        from faultwire.config.invariants import expected
        from faultwire.config.opened import opened

        root, reading = opened(asked.expect.encode(), Path("--expect"))
        checks = expected(root, set(), reading)
        reading.settle()
        if not checks:
            raise UsageError("found no check in `--expect`, expected one", code="shrink.oracle")
        return Checks(checks)
    if asked.contract is not None:
        from faultwire.config.contract_file import load_contract

        return Checks(load_contract(asked.contract)[1])
    return ExitCode()
