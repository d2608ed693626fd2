"""Mutants for the page, each with its lineage: those that `faultwire evolve` grew, and those of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultwireError
from faultwire.evolution.mutant import Step, made_again
from faultwire.evolution.report import ENDED, FORMAT
from faultwire.report import diff, page
from faultwire.report.load import load
from faultwire.workbench.written import Shape, Words, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SHOWN = 300
"""Mutants that are shown of one kind."""
CELLS = 50
"""Verdicts that are shown of one mutant."""


class GrownStep(Shape):
    """One mutation of a lineage."""

    type: str
    throw: int
    how: str


class Grown(Shape):
    """One failure of a search."""

    id: str
    prompt: int
    original: str
    text: str
    lineage: list[GrownStep]
    reason: str
    failed: int
    runs: int
    answer: str
    session: str | None


class Type(Shape):
    """What a type of mutation led to."""

    type: str
    tried: int
    failures: int


class Evolution(Shape):
    """The file of a search."""

    format: str
    seed: int
    budget: int
    failing: str
    prompts: list[str]
    unfit: list[int]
    runs: int
    ended: str
    behaviours: int
    types: list[Type]
    failures: list[Grown]
    unconfirmed: list[Grown]
    undecided: dict[str, int]


def evolved(path: Path) -> dict[str, Any]:
    """The mutants of a search, with each step's own change. Raises UsageError where the file is none."""
    found, words = read(path, Evolution, "evolve"), Words()
    return {
        "seed": found.seed,
        "failing": words.line(found.failing),
        "prompts": [words.text(one) for one in found.prompts[:SHOWN]],
        "unfit": found.unfit,
        "runs": found.runs,
        "budget": found.budget,
        "behaviours": found.behaviours,
        "ended": ENDED.get(found.ended, words.line(found.ended)),
        "types": [{**one.model_dump(), "type": words.line(one.type, 80)} for one in found.types],
        "failures": [_grown(one, found, words) for one in found.failures[:SHOWN]],
        "unconfirmed": [_grown(one, found, words) for one in found.unconfirmed[:SHOWN]],
        "not_shown": sum(max(0, len(one) - SHOWN) for one in (found.failures, found.unconfirmed)),
        "undecided": [[count, words.line(reason)] for reason, count in found.undecided.items()],
    }


def _grown(one: Grown, found: Evolution, words: Words) -> dict[str, Any]:
    texts = made_texts(one, found) if found.format == FORMAT else None
    steps = [
        {
            "type": words.line(step.type, 80),
            "throw": step.throw,
            "how": words.line(step.how),
            "change": None if texts is None else _change(words, texts[at], texts[at + 1]),
        }
        for at, step in enumerate(one.lineage)
    ]
    return {
        "id": words.line(one.id, 40),
        "prompt": one.prompt + 1,
        "original": words.text(one.original),
        "text": words.text(one.text),
        "characters": len(one.text),
        "change": _change(words, one.original, one.text),
        "steps": steps,
        "made_again": texts is not None,
        "reason": words.line(one.reason),
        "failed": one.failed,
        "runs": one.runs,
        "answer": words.text(one.answer),
        "session": None if one.session is None else words.line(one.session),
    }


def made_texts(one: Grown, found: Evolution) -> list[str] | None:
    """The prompt, and the text after each step, made again; None where that does not end in the mutant's
    text (another version of faultwire, or a file that was changed)."""
    lineage = [Step(step.type, step.throw, step.how) for step in one.lineage]
    try:
        made = [
            made_again(one.original, one.prompt, lineage[:length], found.seed)
            for length in range(len(lineage) + 1)
        ]
    except FaultwireError:
        return None  # a type that is not known here
    texts = [each.text for each in made if each is not None]
    return texts if len(texts) == len(made) and texts[-1] == one.text else None


def _change(words: Words, before: str, after: str) -> list[list[str]]:
    """What differs, as the lines of a report's difference: a sign and a text."""
    return [[sign, words.line(text, 300)] for sign, text in diff.lines(before, after)]


# ---------------------------------------------------------------- the mutants of a run


def mutants(path: Path) -> dict[str, Any]:
    """The mutants of a run's report, each beside its prompt and with its verdicts. Raises UsageError."""
    document, words = load(path), Words()
    prompts = {one["id"]: one for one in document["prompts"]}
    made = [one for one in document["prompts"] if one["origin"] is not None]
    part = document["mutations"] or {}
    return {
        "report": f"{path.stem}.html" if path.with_suffix(".html").is_file() else None,
        "robustness": part.get("robustness"),
        "passed": part.get("passed"),
        "total": part.get("total"),
        "unknown": part.get("unknown"),
        "types": [{**one, "type": words.line(one["type"], 80)} for one in part.get("types", ())],
        "notes": [words.line(one) for one in part.get("notes", ())],
        "mutants": [_mutant(one, prompts, document, words) for one in made[:SHOWN]],
        "not_shown": max(0, len(made) - SHOWN),
    }


def _mutant(
    one: dict[str, Any], prompts: dict[str, Any], document: dict[str, Any], words: Words
) -> dict[str, Any]:
    golden = prompts.get(one["golden"])
    return {
        "id": words.line(one["id"], 80),
        "origin": words.line(one["origin"], 80),
        "golden": words.line(one["golden"] or "", 80),
        "text": words.text(_text_of(one)),
        "change": None if golden is None else _change(words, _text_of(golden), _text_of(one)),
        "cells": [
            {key: words.line(value) if isinstance(value, str) else value for key, value in cell.items()}
            for cell in list(_cells(one["id"], document))[:CELLS]
        ],
    }


def _cells(prompt: str, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Its verdicts, those that did not pass first."""
    anchors = page.anchors(document)
    asked = {part["id"]: part for part in document["invocations"] if part["prompt"] == prompt}
    cells = [cell for cell in document["cells"] if cell["invocation"] in asked]
    for cell in sorted(cells, key=lambda one: one["verdict"] == "pass"):
        where = cell["invocation"]
        yield {
            "verdict": cell["verdict"],
            "invariant": cell["invariant"],
            "scenario": cell["scenario"],
            "explanation": cell["explanation"],
            "anchor": anchors[where],
        }


def _text_of(prompt: dict[str, Any]) -> str:
    turns: Sequence[str] = prompt["turns"] or [prompt["text"]]
    return "\n".join(turns)
