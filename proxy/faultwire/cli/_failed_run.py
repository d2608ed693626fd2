"""A run that failed, as the commands that repeat it read it: its session, decisions, profile and oracle.

`command` is the command that asks, for the codes of its errors.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError
from faultwire.runner.folder import state
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.tape.read.metadata import SessionInfo
    from faultwire.trials.execute import AnswerKey, TrialRunner
    from faultwire.trials.model import Oracle, Pin


def session_of(
    command: str, source: str, session: str | None, *, unverified: bool
) -> tuple[Path, SessionInfo, tuple[Pin, ...]]:
    """The tape that a user named, its session, and the decisions that fired there. Raises UsageError,
    TapeError."""
    from faultwire.replay.reader import open_tape
    from faultwire.tape.files.find import find
    from faultwire.trials.pins import pins_of

    path = find(source)
    with open_tape(path, unverified=unverified) as tape:
        sessions = {one.name: one for one in tape.sessions()}
        name = session or (next(iter(sessions)) if len(sessions) == 1 else "")
        if name not in sessions:
            listed = ", ".join(list(sessions)[:10])
            raise UsageError(
                f"found {counted(len(sessions), 'session')}, expected one",
                code=f"{command}.session",
                hint=f"--session NAME chooses one of: {listed}",
            )
        return path, sessions[name], pins_of(tape.exchanges(name))


def engine_name(session: str) -> str:
    """The session's name where an engine takes it; those of imported tapes may be any text."""
    plain = all(letter.isascii() and (letter.isalnum() or letter in "._#@:/+-") for letter in session)
    return session if plain and 0 < len(session) <= 100 else "exec"


def profile_of(command: str, traffic: Traffic, tape: Path, info: SessionInfo, pins: Sequence[Pin]) -> Profile:
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
                code=f"{command}.profile",
                hint="give the --profile and --fault options of the run again",
            )
        profile = load(Path(named))
    if info.profile_digest and profile.digest and info.profile_digest != profile.digest:
        raise UsageError(
            f"found profile `{profile.name}` other than in the run, expected the same",
            code=f"{command}.profile",
            hint="it was changed since, or other --profile and --fault options were given",
        )
    if unknown := {pin.entry for pin in pins} - {entry.id for entry in profile.entries}:
        raise UsageError(
            f"found decisions of `{min(unknown)}` on the tape, expected faults with the same names",
            code=f"{command}.profile",
            hint="give the --profile and --fault options of the run, in their order",
        )
    return profile


def runner_on(
    name: str,
    tape: Path,
    session: str,
    profile: Profile,
    command: tuple[str, ...],
    oracle: Oracle,
    timeout_s: float,
    traffic: Traffic,
    *,
    live: bool = False,
) -> TrialRunner:
    """What runs the trials: answers come from the mock, with `live` from the servers, else from the tape."""
    from faultwire.cli.replay_options import replay_settings
    from faultwire.tape.read.reader import TapeReader
    from faultwire.trials.execute import TrialRunner, answering_hosts, answers_of_faults

    mock = traffic.mock or traffic.script is not None
    settings = replace(traffic.launch(name, profile=profile), replay=None)
    made: frozenset[AnswerKey] = frozenset()
    if not mock and not live:
        settings = replace(settings, replay=replay_settings(replace(traffic, replay=str(tape))))
        with TapeReader.open(tape) as reader:
            made = answers_of_faults(reader.exchanges(session))
    expected: frozenset[str] | None = None
    if live:
        with TapeReader.open(tape) as reader:
            expected = answering_hosts(reader.exchanges(session))
    return TrialRunner(settings, profile, command, oracle, timeout_s, session, made, expected)


def oracle(command: str, given: str | None, expect: str | None, contract: Path | None) -> Oracle:
    """The oracle that was asked for: a command, a check, a contract, or the exit code. Raises UsageError."""
    from faultwire.trials.oracle import Checks, Command, ExitCode

    options = {"oracle": given, "expect": expect, "contract": contract}
    if len(named := [name for name, value in options.items() if value is not None]) > 1:
        names = " and ".join(f"`--{name}`" for name in named)
        raise UsageError(f"found {names}, expected one of them", code=f"{command}.oracle")
    if given is not None:
        return Command.parse(given)
    if expect is not None:
        from faultwire.config.invariants import expected
        from faultwire.config.opened import opened

        root, reading = opened(expect.encode(), Path("--expect"))
        checks = expected(root, set(), reading)
        reading.settle()
        if not checks:
            raise UsageError("found no check in `--expect`, expected one", code=f"{command}.oracle")
        return Checks(checks)
    if contract is not None:
        from faultwire.config.contract_file import load_contract

        return Checks(load_contract(contract)[1])
    return ExitCode()


def redactor(traffic: Traffic) -> Callable[[str], str]:
    """What takes secrets out of a text, as on the project's tapes."""
    from faultwire.tape.redact.redactor import Redactor, load_key
    from faultwire.tape.redact.rules import read_rules

    made = Redactor(load_key(state() / "keys" / "redaction.key"), read_rules(traffic.redacts()))
    return lambda text: made.error(text, {})


def surroundings(command: Sequence[str]) -> list[str | None]:
    """What outcomes of a command depend on besides its words: its program, its environment and the folder."""
    from faultwire.audit.program import program_hash
    from faultwire.tape.redact.redactor import load_key
    from faultwire.trials.surroundings import digest

    key = load_key(state() / "keys" / "redaction.key")
    return [program_hash(command), digest(os.environ, key), str(Path.cwd())]
