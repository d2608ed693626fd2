"""Incident sessions as a phase of a run: each with its own scenario, prompt and contract."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from faultwire.config.contract_file import load_contract
from faultwire.contract.cells import Prompt, Scenario
from faultwire.contract.matrix import fits
from faultwire.errors import ConfigError, Location, ScenarioError, printable
from faultwire.replay import incident_read
from faultwire.replay.incident import DEFAULT
from faultwire.replay.incident_profile import profile_of
from faultwire.replay.settings import ReplaySettings
from faultwire.runner.cells import planned
from faultwire.runner.phases import Phase
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.checks._api import Check
    from faultwire.config.model import Config
    from faultwire.replay.incident import Session


PHASE = "replay"
"""How the names of their sessions on the engine begin."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A session ready to be played. The prompt's invariants are those of the session's contract."""

    session: Session
    scenario: Scenario
    prompt: Prompt
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TapeUse:
    """The tape that answers the model calls of some sessions: which of its sessions answers which of ours,
    by the beginning of its name, and what becomes of a call without answer."""

    path: Path
    sessions: tuple[tuple[str, str], ...] = ()
    on_miss: Literal["fail", "live"] = "fail"


def sessions_of(config: Config) -> tuple[Session, ...]:
    """The sessions that a configuration names, in order, and those of its sources with `auto_import`.

    Raises ScenarioError; and where a source does not give its runs, UsageError or FaultwireError.
    """
    if config.replays is None:
        return ()
    found: list[Session] = []
    for number, data in enumerate(config.replays.sessions):
        place = Location(f"{printable(str(config.path))} (replays.sessions[{number}])")
        found += incident_read.inline(data, place, config.folder)
    if any(source.auto_import for source in config.replays.sources):
        from faultwire.runner.incident_sources import automatic  # which needs the redaction's key

        found += automatic(config)
    return tuple(found)


def by_tape(sessions: Iterable[Session]) -> tuple[tuple[TapeUse | None, tuple[Session, ...]], ...]:
    """The sessions by the tape that answers their model calls; those whose calls go live (None) first.

    Each group is played on an engine of its own.
    """
    groups: dict[tuple[Path, Literal["fail", "live"]] | None, list[Session]] = {None: []}
    for session in sessions:
        key = (session.tape, session.on_miss) if session.tape is not None else None
        groups.setdefault(key, []).append(session)
    return tuple((_use(key, some), tuple(some)) for key, some in groups.items() if some)


def replay_settings(use: TapeUse | None, *, timing: float = 0.0) -> ReplaySettings | None:
    """What makes an engine answer from a group's tape.

    Raises ScenarioError where there is none, or none of its sessions is the one that is named; TapeError
    where it cannot be read.
    """
    if use is None:
        return None
    if not use.path.is_file():
        raise ScenarioError(
            f"found no tape at `{printable(str(use.path))}`, expected the one that the session names",
            code="scenario.no_tape",
        )
    if use.sessions:
        with TapeReader.open(use.path) as tape:
            names = {info.name for info in tape.sessions()}
        missing = next((name for _, name in use.sessions if name not in names), None)
        if missing is not None:
            raise ScenarioError(
                f"found no session `{printable(missing)}` on the tape `{printable(str(use.path))}`, expected "
                "the one that `tape_session` names",
                code="scenario.no_tape",
            )
    return ReplaySettings(
        tape=use.path.absolute(), sessions=dict(use.sessions), on_miss=use.on_miss, timing=timing
    )


def _use(key: tuple[Path, Literal["fail", "live"]] | None, sessions: Sequence[Session]) -> TapeUse | None:
    if key is None:
        return None
    own = [(f"{PHASE}/{one.slug}/{one.slug}/r", one.tape_session) for one in sessions]
    return TapeUse(
        key[0],
        tuple((session, tape_session) for session, tape_session in own if tape_session is not None),
        key[1],
    )


def phase(config: Config, sessions: Sequence[Session], *, timing: float = 1.0) -> Phase:
    """The sessions as a phase; `timing` is times their recorded latencies.

    Raises ScenarioError where two have the same id or a contract is not found, ConfigError where a
    contract's file is not understood.
    """
    distinct(sessions)
    made = [compile_session(session, config, timing=timing) for session in sessions]
    repeat = config.advanced.repeat
    plan = [
        call for one in made for call in planned((one.scenario,), (one.prompt,), repeat=repeat, phase=PHASE)
    ]
    return Phase(
        "replay",
        tuple(one.scenario for one in made),
        tuple(one.prompt for one in made),
        (),
        tuple(plan),
        notes=tuple(note for one in made for note in one.notes),
    )


def compile_session(session: Session, config: Config, *, timing: float = 1.0) -> Compiled:
    """A session as a scenario and a prompt. Raises ScenarioError and ConfigError, as `phase` does."""
    checks, notes = _contract(session, config)
    scenario = Scenario(session.slug, profile_of(session, config.tools, timing=timing))
    judging = tuple(check for check in checks if not check.probes)
    if not any(fits(check, scenario) for check in judging):
        raise ScenarioError(
            f"found no invariant in the contract `{printable(session.contract)}` that is judged here",
            code="scenario.not_judged",
            hint="`when: always` is judged in every session, `tool_faults_active` where tools are recorded",
            where=session.where,
        )
    waits = sum(one.latency_ms or 0 for one in session.tool_responses) * timing
    if waits >= config.agent.timeout:
        notes = (
            *notes,
            f"{session.place}: its tools take {waits:g} ms, and `agent.timeout` gives the agent "
            f"{config.agent.timeout} ms for everything",
        )
    prompt = Prompt(session.slug, session.turns[-1], judging, session.turns if len(session.turns) > 1 else ())
    return Compiled(session, scenario, prompt, (*session.notes, *notes))


def _contract(session: Session, config: Config) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The invariants that a session is judged by, and notes on how they were found."""
    named, own = session.contract, config.contract
    if own is not None and own.name == named:
        return own.invariants, ()
    for folder in dict.fromkeys((session.folder, config.folder)):
        if (folder / named).is_file():
            return load_contract(folder / named)[1], ()
    if named == DEFAULT and own is not None:
        note = f"{session.place}: names no contract; it is judged by the only one, `{own.name}`"
        return own.invariants, (note,)
    known = f"the configuration's is `{own.name}`" if own is not None else "the configuration has none"
    raise ScenarioError(
        f"found the contract `{printable(named)}`, expected its name or the path of its file ({known})",
        code="scenario.no_contract",
        hint=f"a path starts from `{printable(str(session.folder))}`, then from the configuration's folder",
        where=session.where,
    )


def distinct(sessions: Sequence[Session]) -> None:
    """Refuse two sessions with the same id, and none at all. Raises ScenarioError and ConfigError."""
    if not sessions:
        raise ConfigError("found no session to replay, expected at least one", code="config.empty")
    seen: dict[str, Session] = {}
    for session in sessions:
        other = seen.setdefault(session.slug, session)
        if other is not session:
            raise ScenarioError(
                f"found the id `{printable(session.id)}` again, expected it once (first in {other.place})",
                code="scenario.duplicate_id",
                where=session.where,
            )
