"""A whole run from a configuration: everything started once, each phase played once, and written up."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import _core, clock
from faultwire.agents.make import prepared
from faultwire.campaign.configured_keys import known_keys
from faultwire.campaign.documents import PhaseSummary, passed_notes, phase_document, summary_document
from faultwire.campaign.files import written as files_written
from faultwire.errors import ConfigError, FaultwireError
from faultwire.replay.reader import redaction
from faultwire.runner.folder import STATE
from faultwire.runner.gate import Rule, gate
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.runner.never_judged import unjudged
from faultwire.runner.own_keys import own_keys
from faultwire.runner.past_runs import trend
from faultwire.runner.play_phase import Playing, conduct, merged
from faultwire.runner.run import void
from faultwire.runner.run_identity import identity
from faultwire.runner.scored import scored, summed
from faultwire.runner.stateful import remembers
from faultwire.tape.redact.redactor import Redactor, load_key
from faultwire.tape.redact.rules import read_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from faultwire.config.model import Config
    from faultwire.contract.statistics import Until
    from faultwire.replay.settings import ReplaySettings
    from faultwire.runner.folder import RunFolder
    from faultwire.runner.gate import Gate
    from faultwire.runner.phases import Phase
    from faultwire.runner.play_phase import Outcome
    from faultwire.runner.run import Played
    from faultwire.runner.run_identity import RunIdentity
    from faultwire.runner.scored import Summary
    from faultwire.runner.started_run import Run


def alone(_run: Run) -> AbstractContextManager[None]:
    """Nothing goes on beside an engine."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a run besides its configuration. `check_memory` asks a long-lived agent the same
    thing twice; `baseline` are the reports of an earlier run by phase, to compare with; `missing` says
    why phases are not played. `min_score`, 0 to 1, and `allow_unknown` are the rule of the gate."""

    command: str
    until: Until | None = None
    check_memory: bool = False
    baseline: Mapping[str, dict[str, Any]] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    min_score: float | None = None
    allow_unknown: bool = False
    base: Path = STATE
    engines: int = 1
    """How many engines the sessions are placed on, where no tape answers."""
    beside: Callable[[Run], AbstractContextManager[None]] = alone
    """What goes on beside each engine, as long as it runs."""


@dataclass(frozen=True, slots=True)
class Part:
    """Phases that are played on one engine; `replay` where a tape answers model calls there."""

    phases: tuple[Phase, ...]
    replay: ReplaySettings | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it. `documents` by phase, in the order played; `overall` is the one over all of them,
    which only `ci` has. `void` is what to say where some of it proves nothing."""

    documents: Mapping[str, dict[str, Any]]
    overall: dict[str, Any] | None
    scores: Summary
    gate: Gate
    folder: Path
    report: Path
    tape: Path
    warnings: tuple[str, ...] = ()
    void: FaultwireError | None = None
    outcomes: tuple[Outcome, ...] = ()
    """What was played, phase by phase."""
    redact: Callable[[str], str] = str
    """Takes secrets out of a text, as on the run's tapes."""


def perform(
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    progress: Callable[[Phase, Played], None],
) -> Result:
    """Play every phase once, part by part. `progress` hears of each finished invocation.

    Raises UsageError where something that was asked for cannot be had, AgentError where the agent does
    not start, CaptureError where no traffic came through the proxy, and FaultwireError where ours failed.
    """
    started, moment = clock.monotonic(), clock.utc_now().isoformat(timespec="seconds")
    done = Done()
    made_of = identity(config, [phase for part in parts for phase in part.phases])
    # The chance of any wrong word is bounded for the run as a whole, so its phases share it.
    phases = sum(len(part.phases) for part in parts)
    each = replace(wanted, until=wanted.until.shared(phases) if wanted.until is not None else None)
    for number, part in enumerate(parts):
        with (
            start_run(launch_settings(config, wanted, part, number, made_of), done.folder) as run,
            wanted.beside(run),
        ):
            play_part(config, part, each, run, done, progress)
        if any(outcome.partial for outcome in done.outcomes):
            break
    return finish(config, parts, wanted, done, made_of, (started, moment))


def finish(
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    done: Done,
    made_of: RunIdentity,
    began: tuple[float, str],
) -> Result:
    """Judge what was played, and write the run's files. `began`: on the monotonic clock, and as text."""
    folder = done.folder
    if folder is None:
        raise ConfigError("found no phase to run", code="config.empty")
    summary = PhaseSummary(
        id=folder.id,
        command=wanted.command,
        agent=done.label,
        config=config,
        started_at=began[1],
        duration_s=clock.monotonic() - began[0],
        ledger=done.ledger,
        tapes=tuple(map(str, done.tapes)),
        notes=tuple(done.notes),
        warnings=(*config.warnings, *done.warnings),
        baseline=wanted.baseline,
        trend=trend(wanted.base, config.path, folder.id, {one.phase.name for one in done.outcomes}, made_of),
    )
    outcomes = unjudged(merged(done.outcomes), wanted.command)
    wanted = replace(wanted, missing={**wanted.missing, **_not_reached(parts, outcomes)})
    return _written(folder, outcomes, summary, wanted, done)


def _not_reached(parts: Sequence[Part], outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The phases that an interrupted run did not come to."""
    played = {outcome.phase.name for outcome in outcomes}
    planned = [phase.name for part in parts for phase in part.phases]
    return {name: "the run was interrupted before" for name in planned if name not in played}


@dataclass(slots=True)
class Done:
    """What has come of the parts so far."""

    outcomes: list[Outcome] = field(default_factory=list)
    folder: RunFolder | None = None
    label: str = ""
    tapes: list[Path] = field(default_factory=list)
    ledgers: list[str] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)
    """The redaction rules of each part, without repetition."""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def ledger(self) -> str:
        """One hash over the fault decisions of every tape."""
        if len(self.ledgers) == 1:
            return self.ledgers[0]
        return _core.sha256_hex("\n".join(self.ledgers).encode())


def play_part(
    config: Config,
    part: Part,
    wanted: Wanted,
    run: Run,
    done: Done,
    progress: Callable[[Phase, Played], None],
) -> None:
    """Play the phases of a part on a run that has started, and add what came of it to `done`."""
    first, done.folder = done.folder is None, run.folder
    done.tapes.append(run.tape)
    rules = redaction(part.replay, config.proxy.redact)
    if rules not in done.rules:
        done.rules.append(rules)
    share = partial(run.share, "server")
    own = own_keys(config.agent, keyless=run.keyless)
    with prepared(own, share, folder=run.folder.path, base=config.folder) as agent:
        done.label = agent.label
        if wanted.check_memory and first:
            done.warnings += remembers(agent, run, config)
        for phase in part.phases:
            done.outcomes.append(conduct(phase, agent, run, _playing(config, wanted, phase, progress)))
            if done.outcomes[-1].partial:
                break
    done.ledgers.append(run.ledger_hash())
    done.notes += _notes(run)


def launch_settings(
    config: Config, wanted: Wanted, part: Part, number: int = 0, made_of: RunIdentity | None = None
) -> LaunchSettings:
    """What to start for a part. The hosts of declared tools are allowed: the user named them. A part
    after the first (`number` 0) records into a tape of its own, which `start_run` puts beside the others."""
    proxy = config.proxy
    return LaunchSettings(
        wanted.command,
        listen=proxy.listen,
        tape_name=f"{part.phases[0].name}{number}.tape" if number else None,
        mock=proxy.mock,
        mock_except=proxy.mock_except,
        script=proxy.script,
        allow_hosts=(*proxy.allow_hosts, *_tool_hosts(config)),
        upstream_ca=proxy.upstream_ca,
        client_certs=tuple(proxy.client_certs.items()),
        reverse=dict(proxy.reverse),
        base_urls=proxy.capture == "base-url",
        redact=dict(proxy.redact),
        encrypt_bodies=proxy.encrypt_bodies,
        replay=part.replay,
        engines=1 if part.replay else wanted.engines,
        base=wanted.base,
        about={"seed": config.seed, "config": str(config.path), **(made_of.as_json() if made_of else {})},
    )


def _tool_hosts(config: Config) -> tuple[str, ...]:
    urls = [site.url for site in config.tools.values() if site.url is not None]
    each = [url for found in urls for url in ((found,) if isinstance(found, str) else found)]
    hosts = []
    for url in each:
        authority = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        if authority and not set("*?") & set(authority):
            hosts.append(authority)
    return tuple(dict.fromkeys(hosts))


def _playing(
    config: Config, wanted: Wanted, phase: Phase, progress: Callable[[Phase, Played], None]
) -> Playing:
    return Playing(
        seed=config.seed,
        concurrency=config.advanced.concurrency,
        retries=config.advanced.retries,
        until=wanted.until,
        progress=partial(progress, phase),
    )


def _notes(run: Run) -> tuple[str, ...]:
    """Traffic that belongs to no session; an engine that is gone tells of none."""
    try:
        return run.notes()
    except FaultwireError:
        return ()


def _written(
    folder: RunFolder, outcomes: Sequence[Outcome], summary: PhaseSummary, wanted: Wanted, done: Done
) -> Result:
    """Judge, and write the run's files: one report, or one for each phase and one over all."""
    tape = done.tapes[0]
    key = load_key(wanted.base / "keys" / "redaction.key")
    redactors = [Redactor(key, read_rules(rules)) for rules in done.rules]
    keys = known_keys(summary.config)

    def redact(text: str) -> str:
        for key in keys:
            text = text.replace(key, "redacted")
        for redactor in redactors:
            text = redactor.error(text, {})
        return text

    scoring = summary.config.scoring
    scores = summed([scored(outcome) for outcome in outcomes], scoring.weights)
    error = void([played for outcome in outcomes for played in outcome.played])
    rule = Rule(wanted.min_score, wanted.allow_unknown, scoring.scenarios)
    verdict = gate(scores, rule, None if error is None else error.message)
    noticed = {outcome.phase.name: passed_notes(outcome) for outcome in outcomes}
    documents: dict[str, dict[str, Any]] = {
        outcome.phase.name: phase_document(outcome, summary, redact, verdict, noticed[outcome.phase.name])
        for outcome in outcomes
    }
    overall, warnings = None, summary.warnings
    if wanted.command == "ci":
        every = [f"{phase}: {text}" for phase, texts in noticed.items() for text in texts]
        overall = summary_document(scores, summary, redact, wanted.missing, wanted.min_score, verdict, every)
        warnings = (*warnings, *map(redact, every))
    report = files_written(folder, documents, overall)
    folder.end(
        "interrupted" if scores.partial else "void" if error else "finished",
        **({"error": error.code, "why": error.message} if error else {}),
        ledger=summary.ledger,
        score=scores.score,
        gate=verdict.word,
        scores={phase.name: phase.score for phase in scores.phases},
    )
    found = documents, overall, scores, verdict, folder.path, report, tape, warnings, error
    return Result(*found, tuple(outcomes), redact)
