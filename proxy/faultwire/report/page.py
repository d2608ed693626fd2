"""What the page of a report shows, made ready: rows, groups, places and pictures. Pure."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
CHIPS = 8
"""Invocations that one square of the matrix shows one by one; with more it shows counts."""
MARKED = 2_000
"""Cells of a matrix that may be shown one by one."""
SQUARES = 6_000
"""Squares of a matrix that a page shows."""
REASONS = 20
"""Reasons of void invocations that a page names."""
INJECTED = 500
"""Entries of profiles that a page lists."""
VERDICTS = ("fail", "unknown", "pass")
GROUPED = 5
"""Invocations that a group of findings names."""


def counted_as(phase: str, unit: str) -> str:
    """What the number of a phase is made from: not every invocation of a phase counts in it."""
    return {"mutation": "mutants", "chaos": "invocations with faults", "replay": "sessions"}.get(phase, unit)


def anchors(document: Document) -> dict[str, str]:
    """Where in the page an invocation stands, by its id."""
    return {part["id"]: f"i{at}" for at, part in enumerate(document["invocations"], 1)}


def injected(document: Document) -> list[dict[str, Any]]:
    """Per scenario and entry of its profile: how often it fired, on how many invocations, and how."""
    hits_by_entry: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    played: dict[str, int] = {}
    for part in document["invocations"]:
        played[part["scenario"]] = played.get(part["scenario"], 0) + 1
        for exchange in part["exchanges"]:
            for fault in exchange["faults"]:
                if fault["outcome"] == "fired":
                    hits_by_entry.setdefault((part["scenario"], fault["id"]), []).append(
                        (part["id"], fault["effect"])
                    )
    rows = []
    for scenario in document["scenarios"]:
        for entry in scenario["entries"]:
            hits = hits_by_entry.get((scenario["name"], entry["id"]), [])
            known = entry.get("outcome") or {}  # over all traffic, of which only so much is shown
            rows.append(
                {
                    "scenario": scenario["name"],
                    "id": entry["id"],
                    "settings": entry["settings"],
                    "fired": known.get("fired", len(hits)),
                    "invocations": known.get("invocations", len({where for where, _ in hits})),
                    "of": played.get(scenario["name"], 0),
                    "effect": hits[0][1] if hits else None,
                    "why": "; ".join(known.get("unfired", ())),
                }
            )
    return rows


def judged(document: Document) -> bool:
    """Was anything to be judged? A run of `exec` has traffic and no invariants."""
    return bool(document["invariants"]) or not document["invocations"]


def traffic(document: Document) -> dict[str, Any]:
    """What passed: exchanges by kind, the most frequent first, and how many faults fired on them."""
    shown = [exchange for part in document["invocations"] for exchange in part["exchanges"]]
    seen = sum(fault["outcome"] == "fired" for exchange in shown for fault in exchange["faults"])
    kinds: dict[str, int] = {}
    for exchange in shown:
        kinds[exchange["kind"]] = kinds.get(exchange["kind"], 0) + 1
    return {
        "exchanges": len(shown) + sum(part["exchanges_not_shown"] for part in document["invocations"]),
        "kinds": dict(sorted(kinds.items(), key=lambda pair: -pair[1])),
        "fired": max(seen, sum(row["fired"] for row in injected(document))),
    }


def traffic_line(document: Document) -> str:
    """The same in words, with how the program ended."""
    found, (one,) = traffic(document), document["invocations"][:1]
    kinds = ", ".join(f"{count} {kind}" for kind, count in found["kinds"].items())
    plural = "" if found["exchanges"] == 1 else "s"
    faults = f"{found['fired']} fault{'' if found['fired'] == 1 else 's'} fired"
    return f"{found['exchanges']} exchange{plural} ({kinds}), {faults}, exit code {one['exit_code']}"


def unjudged(document: Document) -> list[dict[str, Any]]:
    """Critical invariants without a single verdict; reports of early releases do not tell of them."""
    found: list[dict[str, Any]] = document["score"].get("unjudged", [])
    return found


def matrix(document: Document) -> list[dict[str, Any]]:
    """Rows of the table: an invariant, and per scenario its verdicts."""
    severities: dict[str, str] = {}
    squares: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in document["cells"]:
        severities.setdefault(cell["invariant"], cell["severity"])
        squares.setdefault((cell["invariant"], cell["scenario"]), []).append(cell)
    for one in unjudged(document):
        severities.setdefault(one["invariant"], one["severity"])
    few = len(document["cells"]) <= MARKED
    return [
        {
            "invariant": invariant,
            "severity": severity,
            "squares": [_square(squares.get((invariant, s["name"]), []), few) for s in document["scenarios"]],
        }
        for invariant, severity in severities.items()
    ]


def _square(cells: list[dict[str, Any]], few: bool) -> dict[str, Any]:
    counts = {verdict: sum(c["verdict"] == verdict for c in cells) for verdict in VERDICTS}
    firsts = {v: next((c["invocation"] for c in cells if c["verdict"] == v), None) for v in VERDICTS}
    return {
        "cells": cells if few and len(cells) <= CHIPS else [],
        "counts": counts,
        "firsts": firsts,
        "worst": next((verdict for verdict in VERDICTS if counts[verdict]), None),
        "total": len(cells),
        "share": counts["pass"] / len(cells) if cells else 0.0,
    }


def findings(document: Document) -> list[dict[str, Any]]:
    """Failed cells, the gravest first, then unknown ones: one group for each invariant and scenario."""
    order = list(document["score"]["weights"])
    groups: dict[tuple[str, str, str], dict[str, Any]] = {}
    for cell in document["cells"]:
        if cell["verdict"] == "pass":
            continue
        key = (cell["verdict"], cell["invariant"], cell["scenario"])
        group = groups.setdefault(key, {**cell, "count": 0, "invocations": []})
        group["count"] += 1
        if len(group["invocations"]) < GROUPED:
            group["invocations"].append(cell["invocation"])
    return sorted(
        groups.values(), key=lambda g: (VERDICTS.index(g["verdict"]), order.index(g["severity"]), -g["count"])
    )


def decided(part: dict[str, Any]) -> dict[str, Any]:
    """Decisions of runs that were repeated until they decided: how many of each, and those that are not
    good, the bad ones first."""
    order = ("bad", "exhausted", "open", "good")
    found = sorted(part["decisions"], key=lambda one: order.index(one["decision"]))
    counts = {word: sum(one["decision"] == word for one in found) for word in order}
    return {
        "counts": {word: count for word, count in counts.items() if count},
        "other": [one for one in found if one["decision"] != "good"],
    }


def verdicts(document: Document) -> dict[str, list[dict[str, Any]]]:
    """The cells of every invocation."""
    found: dict[str, list[dict[str, Any]]] = {part["id"]: [] for part in document["invocations"]}
    for cell in document["cells"]:
        found[cell["invocation"]].append(cell)
    return found


def worst(cells: list[dict[str, Any]]) -> str:
    """The verdict of an invocation as a whole; without a cell it is unknown."""
    verdicts = {cell["verdict"] for cell in cells}
    return next((verdict for verdict in VERDICTS if verdict in verdicts), "unknown")


def voids(document: Document) -> dict[str, list[str]]:
    """Why invocations are void, and which."""
    found: dict[str, list[str]] = {}
    for part in document["invocations"]:
        if part["voids"]:
            found.setdefault("; ".join(part["voids"]), []).append(part["id"])
    return found


def ranked(document: Document, cells: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Invocations, those that a reader will want to see in full first: some of every kind of finding, then
    the other bad ones, then good ones."""
    seen: dict[tuple[str, str, str], int] = {}
    ranks: list[tuple[int, int, dict[str, Any]]] = []
    for at, part in enumerate(document["invocations"]):
        mine = cells[part["id"]]
        verdict = worst(mine)
        kinds = [(verdict, part["scenario"], c["invariant"]) for c in mine if c["verdict"] == verdict]
        new = min((seen.get(kind, 0) for kind in kinds), default=0)
        for kind in kinds:
            seen[kind] = seen.get(kind, 0) + 1
        ranks.append((2 * min(new, GROUPED) + (verdict == "pass"), at, part))
    return [part for _, _, part in sorted(ranks, key=lambda rank: rank[:2])]


def span_ms(invocation: dict[str, Any]) -> float:
    """Milliseconds from the first request to the end of the last response."""
    return max((e["offset_ms"] + e["duration_ms"] for e in invocation["exchanges"]), default=0.0) or 1.0


def spark(trend: dict[str, Any], width: int = 1040, height: int = 96) -> dict[str, Any]:
    """A line through the scores of a trend: points (x, y, run), from 0 to 100 upwards. Runs without a score
    have no point."""
    runs = trend["runs"]
    step = (width - 24) / max(1, len(runs) - 1)
    points = [
        (round(12 + at * step, 1), round(8 + (height - 16) * (1 - run["score"] / 100), 1), run)
        for at, run in enumerate(runs)
        if run["score"] is not None
    ]
    return {"width": width, "height": height, "points": points}
