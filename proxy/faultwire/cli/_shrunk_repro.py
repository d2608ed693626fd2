"""The repro folder of `faultwire shrink`: made from the smallest case, tried, and run again later."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.checks._api import Check
    from faultwire.cli._shrunk_subject import Asked, Subject
    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.shrink.repro import Repro
    from faultwire.shrink.session import Result
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome, Pin


@dataclass(frozen=True, slots=True)
class Written:
    """A repro folder: how many exchanges its tape holds, and whether it failed when it was tried."""

    folder: Path
    exchanges: int
    seen: bool
    runs: int


def write(
    folder: Path,
    result: Result,
    runner: TrialRunner,
    found: Subject,
    asked: Asked,
    secret_free: Callable[[str], str],
) -> Written | None:
    """Record the smallest case, write its folder, and try that; None where it did not fail once more.

    The new tape holds the exchanges that this case makes, and no others of the run."""
    from faultwire.cli._shrunk_subject import run_case
    from faultwire.shrink.repro import filled

    profile = result.case.profile(found.profile)
    assert profile is not None
    runs = replace(runner, command=filled(runner.command, result.case.prompt))
    case = Case(found.session.seed, result.rate, profile, result.case.pins, asked.oracle)
    return write_case(
        folder, case, runs, lambda tape: run_case(runner, result.case, found, tape), secret_free
    )


@dataclass(frozen=True, slots=True)
class Case:
    """What a folder shows: the decisions of a profile, how often they make the agent fail, and the command
    that judges, if one does."""

    seed: int
    rate: float
    profile: Profile
    pins: tuple[Pin, ...]
    oracle: str | None


def write_case(
    folder: Path,
    case: Case,
    runner: TrialRunner,
    record: Callable[[Path], Outcome],
    secret_free: Callable[[str], str],
) -> Written | None:
    """Record a case with `record`, which gets the tape's place, write its folder, and try that; None where it
    did not fail once more. Raises UsageError where the folder exists."""
    from faultwire.shrink import repro
    from faultwire.trials.pins import pinned

    plain = all(secret_free(part) == part for part in runner.command)
    oracle = None if case.oracle is None or secret_free(case.oracle) != case.oracle else case.oracle
    about = repro.Repro(
        runner.session, case.seed, case.rate, runner.timeout_s, runner.command if plain else None, oracle
    )
    profile = pinned(case.profile, case.pins)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".shrink-", dir=folder.parent) as draft:
        for number in range(about.runs):
            tape = Path(draft) / f"{number}.tape"
            outcome = record(tape)
            if outcome.failed:
                break
        else:
            return None
        repro.write(folder, about, profile, _checks(runner), tape, findings(case.pins, profile))
    tried = _tried(folder, about, profile, runner)
    return Written(folder, outcome.exchanges, any(one.failed for one in tried), len(tried))


def findings(pins: tuple[Pin, ...], profile: Profile) -> list[str]:
    """Each decision with the settings of its fault."""
    entries = {entry.id: entry for entry in profile.entries}
    lines = []
    for pin in pins:
        values = entries[pin.entry].fault.non_default_settings()
        settings = ", ".join(f"{name}: {value}" for name, value in values.items())
        lines.append(f"{pin.text}{f' {{{settings}}}' if settings else ''}")
    return lines


def rerun(folder: Path, command: tuple[str, ...], asked: Asked, traffic: Traffic) -> int:
    """Run the agent of a repro folder until it fails: 1 if it does, 0 if not. Raises UsageError, TapeError,
    and FaultError where no run could be judged."""
    from faultwire.cli._shrunk_subject import oracle_of
    from faultwire.cli.output import say, show
    from faultwire.profile.load import load
    from faultwire.shrink import repro
    from faultwire.trials.execute import TrialRunner

    about = repro.read(folder)
    started = command or about.command
    if started is None:
        raise UsageError(
            "found no command in the folder, expected one after `--`",
            code="shrink.repro",
            hint="the recorded one may have held a secret, so it was left out",
        )
    profile = load(folder / repro.PROFILE)
    contract = folder / repro.CONTRACT
    if about.oracle is not None and asked.oracle is None:
        asked = replace(asked, oracle=about.oracle)
    elif asked.oracle is None and contract.exists():
        asked = replace(asked, contract=contract)
    elif asked.oracle is None:
        raise UsageError("found no oracle in the folder, expected --oracle", code="shrink.oracle")
    settings = replace(traffic.launch("shrink", profile=profile), mock=False, script=None)
    runner = TrialRunner(settings, profile, started, oracle_of(asked), about.timeout_s, about.session)
    tried = _tried(folder, about, profile, runner)
    for number, outcome in enumerate(tried, 1):
        word = {True: "fails", False: "passes", None: "cannot be judged"}[outcome.failed]
        say(f"run {number}: {word}: {outcome.reason}")
    if all(outcome.failed is None for outcome in tried):
        raise FaultError(f"no run could be judged: {tried[-1].reason}", code="shrink.undecided")
    failed = bool(tried[-1].failed)
    words = "the agent fails as recorded" if failed else "the agent did not fail"
    show(f"{words} ({len(tried)} of at most {counted(about.runs, 'run')})")
    return int(failed)


def _checks(runner: TrialRunner) -> tuple[Check, ...]:
    """The invariants that state what the oracle does; none for a command of the user's."""
    from faultwire.checks.completes import Completes
    from faultwire.trials.oracle import Checks, ExitCode

    if isinstance(runner.oracle, Checks):
        return runner.oracle.checks
    return (Completes(),) if isinstance(runner.oracle, ExitCode) else ()


def _tried(folder: Path, about: Repro, profile: Profile, runner: TrialRunner) -> list[Outcome]:
    """Runs on the folder's tape until one fails."""
    from faultwire.replay.settings import ReplaySettings
    from faultwire.shrink.repro import TAPE
    from faultwire.trials.model import Pin, Trial

    tape = (folder / TAPE).absolute()
    settings = replace(runner.settings, mock=False, script=None, replay=ReplaySettings(tape=tape))
    pins = frozenset(Pin(one.id, call) for one in profile.entries for call in one.trigger.calls or ())
    offline = replace(runner, settings=settings, profile=profile, made_by_faults=frozenset())
    tried: list[Outcome] = []
    while len(tried) < about.runs and not (tried and tried[-1].failed):
        tried.append(offline.run(Trial(pins, about.seed)))
    return tried
