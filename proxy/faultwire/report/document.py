"""The report as one JSON document, from which every face of it is made.

`version` changes with its shape. Instants and durations are only in keys that end in `_at`, `_ms`
or `_s`; the rest is the same for the same seed, whenever and at whatever concurrency it ran. The one
exception is how much a server had already said when an exchange was broken off (`upstream`, and what a
`stream` or `conversation` `said` and `withheld`): what the agent got is the same, how far the server was
ahead of it is chance.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultwire._core import __version__
from faultwire.contract.score import WEIGHTS
from faultwire.report.exchange import exchange_part
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.checks._api import Check
    from faultwire.contract.matrix import Cell, Invocation, Matrix, Prompt, Scenario
    from faultwire.events import History

SCHEMA = "faultwire-report"
VERSION = "1"
ANSWER = 16_384
"""Characters of an answer, and of stderr, that a report repeats."""
EXCHANGES = 100
"""Exchanges of one invocation that are shown; the tape has them all."""
NOTES = 50
"""Notes on traffic that a report repeats, for each invocation and for the run."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a report is about, besides verdicts and traffic. `notes` tell of traffic that belongs to no
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


def document(
    subject: Subject,
    scenarios: Sequence[Scenario],
    prompts: Sequence[Prompt],
    checks: Sequence[Check],
    matrix: Matrix,
    played: Sequence[tuple[Invocation, History]],
    *,
    redact: Callable[[str], str],
) -> dict[str, Any]:
    """The whole report. `redact` is applied to what the agent printed, which no tape has cleaned."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "generator": {"name": "faultwire", "version": __version__},
        "run": {
            **asdict(subject),
            "tapes": list(subject.tapes),
            "notes": [clip(redact(note), 500) for note in subject.notes[:NOTES]],
        },
        "score": score_part(matrix),
        "scenarios": [_scenario(s) for s in scenarios],
        "prompts": [{"id": p.id, "text": clip(p.text, ANSWER)} for p in prompts],
        "invariants": [_invariant(check) for check in checks],
        "cells": [_cell(cell, redact) for cell in matrix.cells],
        "invocations": [_invocation(invocation, history, redact) for invocation, history in played],
    }


def score_part(matrix: Matrix) -> dict[str, Any]:
    """The score with what it was made from."""
    score = matrix.score()
    clean = asdict(score.clean) | {"rate": score.clean.value, "method": "Jeffreys"}
    return {
        "value": score.value,
        "gate": score.gate,
        "cells": {"pass": score.passed, "fail": score.failed, "unknown": score.unknown},
        "critical_failed": score.critical_failed,
        "weights": dict(WEIGHTS),
        "clean_invocations": clean,
    }


def _scenario(scenario: Scenario) -> dict[str, Any]:
    profile = scenario.profile
    return {
        "name": scenario.name,
        "profile": profile.name,
        "description": profile.description,
        "digest": profile.digest,
        "entries": [
            {
                "id": entry.id,
                "fault": entry.fault.name,
                "site": entry.fault.site,
                "settings": entry.fault.model_dump(mode="json", exclude_defaults=True),
                "on": entry.on.model_dump(mode="json", exclude_defaults=True),
                "trigger": entry.trigger.model_dump(mode="json", exclude_defaults=True),
            }
            for entry in profile.entries
        ],
    }


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


def _invocation(invocation: Invocation, history: History, redact: Callable[[str], str]) -> dict[str, Any]:
    agent = history.agent
    shown = history.exchanges[:EXCHANGES]
    return {
        "id": invocation.id,
        "scenario": invocation.scenario.name,
        "prompt": invocation.prompt.id,
        "repeat": invocation.repeat,
        "answer": clip(redact(agent.answer), ANSWER) if agent else None,
        "stderr": clip(redact(agent.stderr), ANSWER) if agent else None,
        "voids": [clip(redact(why), 500) for why in history.voids],
        "notes": [clip(redact(note), 500) for note in history.notes[:NOTES]],
        "exit_code": agent.exit_code if agent else None,
        "timed_out": agent.timed_out if agent else None,
        "duration_s": round(agent.duration_s, 3) if agent else None,
        "exchanges": [exchange_part(e, history.exchanges[0].started_ms) for e in shown],
        "exchanges_not_shown": len(history.exchanges) - len(shown),
    }
