"""What a whole `ci` run came to: its phases with their numbers and reports, and the overall score."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from rich.console import Group
from rich.text import Text

from faultwire._core import __version__
from faultwire.contract.overall import PHASES
from faultwire.errors import FaultwireError
from faultwire.report import explained, terminal_numbers as numbers
from faultwire.report.comparison import trend_part
from faultwire.report.html import environment
from faultwire.report.markdown import GATE_WORDS, MARKS, code, explanations, ruling, table
from faultwire.report.page import counted_as, spark
from faultwire.report.text import clip, line
from faultwire.text import unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from faultwire.report.document import Subject

SCHEMA = "faultwire-ci"
VERSION = "1"
_NONE: Mapping[str, int] = MappingProxyType({})
COVERAGE = ("judged", "asked", "unit")
Gate = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of `ci`. `score` is 0 to 1, None where it has none; `report` the path of its page, relative
    to the summary; `why` says what there is to say where it did not run."""

    name: str
    score: float | None = None
    weight: float = 0.0
    gate: Gate = "unknown"
    cells: Mapping[str, int] = field(default_factory=dict)
    report: str | None = None
    why: str = ""
    judged: tuple[int, int, str] | None = None
    """How many of how many have a verdict, and whether these are cells or invocations."""
    invocations: int | None = None
    """How many were played."""


def summary_document(
    subject: Subject,
    phases: Sequence[Phase],
    *,
    overall: float | None,
    gate: Gate,
    minimum: float | None = None,
    rule: str = "",
    reasons: Sequence[str] = (),
    trend: Sequence[Mapping[str, Any]] = (),
    left_out: Mapping[str, int] = _NONE,
) -> dict[str, Any]:
    """The document behind all faces of a summary. `overall` and `minimum` are 0 to 1; `trend` is what
    `run.json` says of earlier runs (scores 0 to 100), to which this one is added.

    Raises FaultwireError for a phase that there is not, and a report outside of the summary's folder.
    """
    score = None if overall is None else round(overall * 100, 2)
    run = asdict(subject) | {key: list(getattr(subject, key)) for key in ("tapes", "notes", "warnings")}
    made = {
        "schema": SCHEMA,
        "version": VERSION,
        "generator": {"name": "faultwire", "version": __version__},
        "run": run | {"warnings": [clip(text, 500) for text in subject.warnings]},
        "score": score,
        "minimum": None if minimum is None else round(minimum * 100, 2),
        "gate": gate,
        "rule": rule,
        "reasons": [clip(text, 1000) for text in reasons],
        "phases": [_phase(phase) for phase in phases],
        "trend": None,
    }
    if trend or left_out:
        made["trend"] = trend_part([*trend, run | {"score": score, "gate": gate}], left_out)
    return made


def _phase(phase: Phase) -> dict[str, Any]:
    if phase.name not in PHASES:
        raise FaultwireError(f"found the phase `{phase.name}`, expected one of {', '.join(PHASES)}")
    return {
        "name": phase.name,
        "score": None if phase.score is None else round(phase.score * 100, 2),
        "weight": phase.weight,
        "gate": phase.gate,
        "cells": {verdict: phase.cells.get(verdict, 0) for verdict in ("pass", "fail", "unknown")},
        "report": None if phase.report is None else _relative(phase.report),
        "why": clip(phase.why, 500),
        "invocations": phase.invocations,
        "coverage": None if phase.judged is None else dict(zip(COVERAGE, phase.judged, strict=True)),
    }


def _relative(path: str) -> str:
    """A path below the summary's folder, as a link that cannot lead anywhere else."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith("/") or ".." in parts or not path:
        raise FaultwireError(f"found the report `{path}`, expected a path below the summary's folder")
    return "./" + "/".join(quote(part, safe="") for part in parts)


def render(document: dict[str, Any]) -> str:
    """The page: what each phase came to, with links to their reports."""
    picture = spark(document["trend"]) if document["trend"] else None
    return environment().get_template("summary.html.j2").render(doc=document, spark=picture, covered=_covered)


def markdown(document: dict[str, Any]) -> str:
    """The same for the summary page of a CI job."""
    gate = document["gate"]
    head = f"## {MARKS[gate]} faultwire ci: {GATE_WORDS[gate]}\n\n{_verdict_line(document)}"
    ruled = ruling(document["rule"], document["reasons"])
    rows = [
        (
            part["name"],
            "–" if part["score"] is None else f"**{part['score']:.2f}**",
            f"{part['weight']:g}",
            f"{MARKS[part['gate']]} {GATE_WORDS[part['gate']]}"
            if not part["why"]
            else code(part["why"], 200),
            _played(part),
            _cells(part),
            _covered(part),
        )
        for part in document["phases"]
    ]
    run = document["run"]
    foot = f"run {code(run['id'])} · seed {run['seed']} · ledger {code(run['ledger'])}"
    mind = "\n".join(f"- {code(text, 300)}" for text in run["warnings"][:10])
    drawn = table(("phase", "score", "weight", "verdict", "invocations", "cells", "score from"), rows)
    why = explanations(document.get("explained") or ())
    return "\n\n".join(part for part in (head, ruled, mind, drawn, why, foot) if part) + "\n"


def terminal(document: dict[str, Any], *, plain: bool = False) -> RenderableType:
    """The same for a terminal."""
    rows = [
        (
            part["name"],
            "-" if part["score"] is None else f"{part['score']:.2f}",
            f"{part['weight']:g}",
            line(part["why"], 60) if part["why"] else GATE_WORDS[part["gate"]],
            _played(part),
            _cells(part),
            _covered(part),
        )
        for part in document["phases"]
    ]
    style = {"pass": "green", "fail": "bold red", "unknown": "yellow"}[document["gate"]]
    head = ("phase", "score", "weight", "verdict", "invocations", "cells", "score from")
    parts: list[RenderableType] = [numbers.grid(head, rows)]
    drawn = numbers.trend(document["trend"], plain=plain)
    if drawn is not None:
        parts.append(drawn)
    parts += [Text(text) for text in explained.lines(document.get("explained") or ())]
    return Group(
        *parts, Text.assemble(("overall  ", "bold"), (_verdict_line(document).replace("*", ""), style))
    )


def _played(part: Mapping[str, Any]) -> str:
    played = part.get("invocations")
    return "–" if played is None else str(played)


def _cells(part: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in part["cells"].items() if count) or "–"


def _covered(part: Mapping[str, Any]) -> str:
    """What the score is made from: of the mutation phase the mutants alone, and so on."""
    found = part["coverage"]
    if not found:
        return "–"
    words = unit(found["asked"], counted_as(part["name"], found["unit"]))
    return f"{found['judged']} of {found['asked']} {words}"


def _verdict_line(document: dict[str, Any]) -> str:
    value = "**no score**" if document["score"] is None else f"**{document['score']:.2f}** of 100"
    least = "" if document["minimum"] is None else f", threshold {document['minimum']:.2f}"
    return f"{value}{least}: {GATE_WORDS[document['gate']]}"
