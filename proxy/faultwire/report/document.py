"""The report as one JSON document, the source of every output format.

`version` changes with its shape. Instants and durations are only in keys that end in `_at`, `_ms`
or `_s`; the rest is the same for the same seed, whenever and at whatever concurrency it ran. The one
exception is how much a server had already sent when an exchange was cut (`upstream`, and what a
`stream` or `conversation` `said` and `withheld`): what the agent got is the same, how far the server was
ahead of it is chance.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from faultwire._core import __version__
from faultwire.contract.overall import phase_score
from faultwire.contract.score import WEIGHTS
from faultwire.report.advice import suggestions_part
from faultwire.report.comparison import comparison_part, of_phase, result, trend_part
from faultwire.report.conversation import name_results
from faultwire.report.exchange import exchange_part
from faultwire.report.lineage import lineage_part
from faultwire.report.mutations import mutations_part
from faultwire.report.scenarios import scenario_part
from faultwire.report.statistics import ANYTIME, JEFFREYS, interval, statistics_part
from faultwire.report.text import cleaned, clip, redacted, whole
from faultwire.report.topology import topology_part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.checks._api import Check
    from faultwire.contract.cells import Cell, Invocation, Prompt, Scenario
    from faultwire.contract.matrix import Matrix, Unjudged
    from faultwire.contract.score import Score
    from faultwire.contract.statistics import Decision
    from faultwire.events import History, Recorded, Request

SCHEMA = "faultwire-report"
VERSION = "1"
ANSWER = 16_384
"""Characters of an answer, and of stderr, that a report repeats."""
EXCHANGES = 100
"""Exchanges of one invocation that are shown; the tape has them all."""
NOTES = 50
"""Notes on traffic that a report repeats, for each invocation and for the run."""
STRICT = "every cell must pass"
"""The rule where none was given."""
MEASURES = {"mutation": "robustness", "chaos": "chaos resilience", "replay": "sessions passed"}
"""What the number of a phase is called, where it is not the resilience score."""
_NONE: Mapping[str, int] = MappingProxyType({})
_NOTHING: Mapping[tuple[str, int], Request] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Subject:
    """A report's metadata besides verdicts and traffic. `notes` tell of traffic that belongs to no
    invocation."""

    id: str
    command: str
    agent: str
    seed: int
    concurrency: int
    started_at: str
    duration_s: float
    ledger: str
    tapes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    phase: str = ""
    """The part of a larger run that this is: mutation, chaos, contract or replay."""
    config: str | None = None
    """Digest of the configuration: runs of the same one make a trend."""
    planned: int | None = None
    """How many invocations there were to be; with fewer played, the report is partial."""
    warnings: tuple[str, ...] = ()
    """What a reader should know before anything else."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict of the run's gate on a phase, why it is no pass, and the rule in words. `floors` are the
    least scores of single scenarios, 0 to 1."""

    word: str
    reasons: tuple[str, ...] = ()
    rule: str = ""
    floors: Mapping[str, float] = field(default_factory=dict)


def document(
    subject: Subject,
    scenarios: Sequence[Scenario],
    prompts: Sequence[Prompt],
    checks: Sequence[Check],
    matrix: Matrix,
    played: Sequence[tuple[Invocation, History]],
    *,
    redact: Callable[[str], str],
    repeat: int | None = None,
    before: Mapping[str, Any] | None = None,
    trend: Sequence[Mapping[str, Any]] = (),
    forwarded: Mapping[tuple[str, int], Request] = _NOTHING,
    notes_on_mutations: Sequence[str] = (),
    decisions: Sequence[tuple[tuple[str, str], Decision]] = (),
    ruling: Ruling | None = None,
    left_out: Mapping[str, int] = _NONE,
) -> dict[str, Any]:
    """The whole report. `redact` is applied to what the agent printed, which no tape has cleaned.

    `repeat` is the k of pass^k. `before` is the document of an earlier run to compare with, `trend` what
    `run.json` says of comparable earlier runs, `left_out` how many others there are by what differs.
    `forwarded` holds requests as they were sent on, by session and number of the exchange, where that is not
    what the agent sent. `decisions` say of a scenario and a prompt what repeating them until that was known
    has come to. Without a `ruling` every cell must pass.
    """
    named = _named(matrix)
    made: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "generator": {"name": "faultwire", "version": __version__},
        "run": _run(subject, len(played), redact),
        "score": score_part(matrix, subject.phase, redact, ruling, anytime=bool(decisions)),
        "statistics": statistics_part(matrix, repeat=repeat, decisions=decisions),
        "suggestions": suggestions_part(played, _failures(matrix), redact),
        "scenarios": [
            scenario_part(s, [h for one, h in played if one.scenario.name == s.name], redact)
            for s in scenarios
        ],
        "prompts": [_prompt(p) for p in prompts],
        "invariants": [_invariant(check) for check in checks],
        "cells": [_cell(cell, redact) for cell in matrix.cells],
        "invocations": [
            _invocation(one, history, redact, forwarded, named.get(one.id, set())) for one, history in played
        ],
        "mutations": mutations_part(matrix, notes_on_mutations),
        "comparison": None,
        "trend": None,
    }
    if ruling is None and made["run"]["partial"] and made["score"]["gate"] == "pass":
        made["score"]["gate"] = "unknown"  # what was not played may fail
    if before is not None:
        made["comparison"] = comparison_part(made, before)
    if trend or left_out:
        current = made["run"] | result(made)
        made["trend"] = trend_part([*of_phase(trend, subject.phase), current], left_out)
    return made


def _run(subject: Subject, played: int, redact: Callable[[str], str]) -> dict[str, Any]:
    return asdict(subject) | {
        "agent": clip(redact(subject.agent), 1000),
        "tapes": [whole(tape) for tape in subject.tapes],
        "notes": [clip(redact(note), 500) for note in subject.notes[:NOTES]],
        "warnings": [clip(redact(text), 500) for text in subject.warnings[:NOTES]],
        "partial": subject.planned is not None and played < subject.planned,
    }


def _failures(matrix: Matrix) -> Counter[str]:
    """Failed cells of each invocation."""
    return Counter(cell.invocation.id for cell in matrix.cells if cell.verdict.verdict == "fail")


def _prompt(prompt: Prompt) -> dict[str, Any]:
    texts = {"text": clip(prompt.text, ANSWER), "turns": [clip(turn, ANSWER) for turn in prompt.turns]}
    return {"id": prompt.id, **texts, "origin": prompt.origin, "golden": prompt.golden or None}


def score_part(
    matrix: Matrix,
    phase: str = "",
    redact: Callable[[str], str] = str,
    ruling: Ruling | None = None,
    *,
    anytime: bool = False,
) -> dict[str, Any]:
    """The score with what it was made from. `value` is the resilience score; `number` is what counts of a
    phase, by its `measure`: the same but for mutations, chaos and replays. `coverage` is of what the number
    is made from; `anytime`: runs were repeated until they decided. Nothing that is `unjudged` counts in it,
    but with one the run is no pass.
    """
    score = matrix.score()
    whole = phase_score(phase, matrix)
    number = whole.value
    ruling = ruling or _strict(score)
    low, high = interval(score.clean.passed, score.clean.total, anytime=anytime)
    clean = asdict(score.clean) | {"rate": score.clean.value, "low": low, "high": high}
    clean["method"] = ANYTIME if anytime else JEFFREYS
    return {
        "value": score.value,
        "number": None if number is None else round(number * 100, 2),
        "measure": MEASURES.get(phase, "resilience score"),
        "gate": ruling.word,
        "rule": ruling.rule,
        "reasons": [clip(redact(text), 1000) for text in ruling.reasons[:NOTES]],
        "coverage": {"judged": whole.judged, "asked": whole.asked, "unit": whole.unit},
        "scenarios": [
            asdict(one) | {"floor": floor and round(floor * 100, 2)}
            for one in score.scenarios
            for floor in (ruling.floors.get(one.name),)
        ],
        "cells": {"pass": score.passed, "fail": score.failed, "unknown": score.unknown},
        "critical_failed": score.critical_failed,
        "weights": dict(WEIGHTS),
        "clean_invocations": clean,
        "unjudged": [_unjudged(one, redact) for one in matrix.unjudged],
    }


def _strict(score: Score) -> Ruling:
    """The verdict where every cell must pass."""
    counts = ((score.failed, "failed"), (score.unknown, "unknown"))
    reasons = [f"{count} {'cell' if count == 1 else 'cells'} {word}" for count, word in counts if count]
    return Ruling(score.gate, tuple(reasons), STRICT)


def _unjudged(one: Unjudged, redact: Callable[[str], str]) -> dict[str, Any]:
    return asdict(one) | {"why": clip(redact(one.why), 1000), "hint": clip(redact(one.hint), 500)}


def _invariant(check: Check) -> dict[str, Any]:
    settings = check.model_dump(mode="json", exclude_defaults=True)
    common = ("id", "severity", "when", "negate", "description")
    return {
        "id": check.label,
        "type": check.name,
        "severity": check.severity,
        "when": check.when,
        "negate": check.negate,
        "description": check.description,
        "settings": {key: value for key, value in settings.items() if key not in common},
    }


def _cell(cell: Cell, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "invariant": cell.invariant,
        "severity": cell.severity,
        "scenario": cell.invocation.scenario.name,
        "invocation": cell.invocation.id,
        "verdict": cell.verdict.verdict,
        "explanation": clip(redact(cell.verdict.explanation), 1000),
        "exchanges": list(cell.verdict.exchanges),
    }


def _named(matrix: Matrix) -> dict[str, set[int]]:
    """The exchange numbers that verdicts refer to, by invocation."""
    found: dict[str, set[int]] = {}
    for cell in matrix.cells:
        found.setdefault(cell.invocation.id, set()).update(cell.verdict.exchanges)
    return found


def _shown(exchanges: Sequence[Recorded], named: set[int]) -> list[Recorded]:
    """At most `EXCHANGES`, in order; first those that a verdict names, a fault changed, or that failed."""

    def dull(exchange: Recorded) -> bool:
        faulted = any(line.outcome == "fired" for line in exchange.faults)
        return not (faulted or exchange.number in named or exchange.ending != "complete")

    places = sorted(range(len(exchanges)), key=lambda at: dull(exchanges[at]))[:EXCHANGES]
    return [exchanges[at] for at in sorted(places)]


def _invocation(
    invocation: Invocation,
    history: History,
    redact: Callable[[str], str],
    forwarded: Mapping[tuple[str, int], Request],
    named: set[int],
) -> dict[str, Any]:
    agent = history.agent
    shown = _shown(history.exchanges, named)
    first = min((e.started_ms for e in history.exchanges), default=0)
    parts = [exchange_part(e, first, forwarded.get((e.session, e.number))) for e in shown]
    name_results((part["conversation"] for part in parts), history.exchanges)
    for part in parts:
        # The tape was redacted message by message; here the pieces of a streamed text stand joined.
        part["conversation"] = redacted(part["conversation"], redact)
    return {
        "id": invocation.id,
        "scenario": invocation.scenario.name,
        "prompt": invocation.prompt.id,
        "repeat": invocation.repeat,
        "answer": cleaned(agent.answer, ANSWER, redact) if agent else None,
        "stderr": cleaned(agent.stderr, ANSWER, redact) if agent else None,
        "voids": [clip(redact(why), 500) for why in history.voids],
        "notes": [clip(redact(note), 500) for note in (*history.notes, *history.remarks)[:NOTES]],
        "exit_code": agent.exit_code if agent else None,
        "timed_out": agent.timed_out if agent else None,
        "duration_s": round(agent.duration_s, 3) if agent else None,
        "exchanges": parts,
        "exchanges_not_shown": len(history.exchanges) - len(shown),
        "lineage": lineage_part(history, redact),
        "topology": topology_part(history, invocation.scenario.profile, redact),
    }
