"""The results for people and for programs."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.rounds import Row
from tests.bench.subjects import versions

HEAD = ("measure", "subject", "median", "unit", "per s", "ratio", "range", "target", "")


def document(rows: list[Row], options: dict[str, Any]) -> dict[str, Any]:
    """Everything measured, with what it was measured on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cpus": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()},
        "versions": versions(),
        "options": options,
        "rows": [row.dump() for row in rows],
    }


def cells(row: Row) -> tuple[str, ...]:
    sign = "≥" if row.more_is_better else "≤"
    return (
        row.title,
        row.subject,
        _number(row.value),
        row.unit,
        _number(sorted(row.rates)[len(row.rates) // 2]) if row.rates else "",
        f"{row.ratio:.2f} ×" if row.ratio is not None and row.subject != row.baseline else "",
        f"{min(row.ratios):.2f}–{max(row.ratios):.2f}" if row.ratios and row.subject != row.baseline else "",
        f"{sign} {row.target:g}{' ×' if row.baseline else ''}" if row.target is not None else "",
        {True: "met", False: "short", None: ""}[row.met],
    )


def text(rows: list[Row]) -> str:
    """A Markdown table, readable as it is."""
    lines = [HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEAD))]
    drawn = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    drawn.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    notes = [f"{row.title}, {row.subject}: {row.note}" for row in rows if row.note]
    return "\n".join([*drawn, "", *dict.fromkeys(notes)])


def write(path: Path, rows: list[Row], options: dict[str, Any]) -> None:
    path.write_text(json.dumps(document(rows, options), indent=2, ensure_ascii=False) + "\n")


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
