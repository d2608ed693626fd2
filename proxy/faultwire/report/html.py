"""The report for people: one file, no script, nothing loaded from anywhere.

Everything that came from the wire or the agent is escaped by the template engine and has its
control and bidirectional characters spelled out; the page's own policy forbids scripts and loads.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from faultwire.report.text import line
from faultwire.text import safe

CHIPS = 24
"""Invocations that one square of the matrix shows one by one; with more it shows counts."""
VERDICTS = ("fail", "unknown", "pass")


def render(document: dict[str, Any]) -> str:
    """The page of a report document."""
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            doc=document,
            matrix=_matrix(document),
            findings=_findings(document),
            injected=injected(document),
            span_ms={part["id"]: _span(part) for part in document["invocations"]},
            verdicts=_verdicts(document),
            voids=[part["id"] for part in document["invocations"] if part["voids"]],
            voids_by_reason=_voids(document),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("faultwire.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"oneline": line, "ticks": _ticks}
    return environment


def _finalize(value: Any) -> Any:
    return safe(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def _ticks(text: str) -> Markup:
    """Words in backticks as code; escaped before anything is made of it."""
    parts = [str(escape(part)) for part in safe(text, lines=True).split("`")]
    if len(parts) % 2 == 0:
        return Markup("`".join(parts))
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))


def injected(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Per scenario and entry of its profile: how often it fired, on how many invocations, and how."""
    rows: list[dict[str, Any]] = []
    for scenario in document["scenarios"]:
        parts = [p for p in document["invocations"] if p["scenario"] == scenario["name"]]
        for entry in scenario["entries"]:
            hits = [
                (part["id"], fault)
                for part in parts
                for exchange in part["exchanges"]
                for fault in exchange["faults"]
                if fault["id"] == entry["id"] and fault["outcome"] == "fired"
            ]
            rows.append(
                {
                    "scenario": scenario["name"],
                    "id": entry["id"],
                    "settings": entry["settings"],
                    "fired": len(hits),
                    "invocations": len({where for where, _ in hits}),
                    "of": len(parts),
                    "effect": hits[0][1]["effect"] if hits else None,
                }
            )
    return rows


def _matrix(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table: an invariant, and per scenario its verdicts."""
    severities: dict[str, str] = {}
    squares: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in document["cells"]:
        severities.setdefault(cell["invariant"], cell["severity"])
        squares.setdefault((cell["invariant"], cell["scenario"]), []).append(cell)
    return [
        {
            "invariant": invariant,
            "severity": severity,
            "squares": [_square(squares.get((invariant, s["name"]), [])) for s in document["scenarios"]],
        }
        for invariant, severity in severities.items()
    ]


def _square(cells: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {verdict: sum(c["verdict"] == verdict for c in cells) for verdict in VERDICTS}
    worst = next((verdict for verdict in VERDICTS if counts[verdict]), None)
    chips = cells if len(cells) <= CHIPS else []
    return {"cells": chips, "counts": counts, "worst": worst, "total": len(cells)}


def _findings(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Failed cells, the gravest first, then unknown ones."""
    order = list(document["score"]["weights"])
    wanted = [c for c in document["cells"] if c["verdict"] != "pass"]
    return sorted(wanted, key=lambda c: (VERDICTS.index(c["verdict"]), order.index(c["severity"])))


def _verdicts(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {part["id"]: [] for part in document["invocations"]}
    for cell in document["cells"]:
        found[cell["invocation"]].append(cell)
    return found


def _voids(document: dict[str, Any]) -> dict[str, list[str]]:
    """Why invocations are void, and which."""
    found: dict[str, list[str]] = {}
    for part in document["invocations"]:
        if part["voids"]:
            found.setdefault("; ".join(part["voids"]), []).append(part["id"])
    return found


def _span(invocation: dict[str, Any]) -> float:
    """Milliseconds from the first request to the end of the last response."""
    return max((e["offset_ms"] + e["duration_ms"] for e in invocation["exchanges"]), default=0.0) or 1.0
