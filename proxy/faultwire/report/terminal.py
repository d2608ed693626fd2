"""The report for a terminal. Nothing in it is read as markup, and nothing hostile reaches the screen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from faultwire.report.html import VERDICTS, injected
from faultwire.report.text import line

if TYPE_CHECKING:
    from rich.console import RenderableType

MARKS = {"pass": ("✓", "green"), "fail": ("✗", "bold red"), "unknown": ("?", "yellow")}
FINDINGS = 12
"""Failed and unknown cells that are explained; the other reports have them all."""
NOTES = 8
"""Notes that are repeated."""

WORDS = {verdict: (verdict, style) for verdict, (_, style) in MARKS.items()}
"""For terminals without such characters; a replaced mark would look like `unknown`."""
Marks = dict[str, tuple[str, str]]


def render(document: dict[str, Any], *, plain: bool = False) -> RenderableType:
    """Verdicts, what was injected, findings, and the score; `plain` says verdicts in words."""
    marks = WORDS if plain else MARKS
    parts: list[RenderableType] = [_table(document, marks), _injected(document, plain)]
    parts += [part for part in (_notes(document), _findings(document, marks)) if part is not None]
    return Group(*parts, _score(document["score"]))


def _table(document: dict[str, Any], marks: Marks) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", expand=False)
    table.add_column("invariant", overflow="fold")
    table.add_column("severity", style="dim")
    for scenario in document["scenarios"]:
        table.add_column(line(scenario["name"], 40), justify="center")
    rows: dict[str, str] = {}
    for cell in document["cells"]:
        rows.setdefault(cell["invariant"], cell["severity"])
    for invariant, severity in rows.items():
        squares = [_square(document, invariant, s["name"], marks) for s in document["scenarios"]]
        table.add_row(Text(line(invariant, 60)), severity, *squares)
    return table


def _square(document: dict[str, Any], invariant: str, scenario: str, marks: Marks) -> Text:
    verdicts = [
        c["verdict"] for c in document["cells"] if (c["invariant"], c["scenario"]) == (invariant, scenario)
    ]
    if not verdicts:
        return Text("–", style="dim")
    parts = []
    for verdict in VERDICTS:
        count = verdicts.count(verdict)
        if count:
            mark, style = marks[verdict]
            parts.append(Text(f"{mark} {count}", style=style))
    return Text("  ").join(parts)


def _injected(document: dict[str, Any], plain: bool) -> Text:
    text = Text("injected\n", style="bold")
    rows = injected(document)
    if not rows:
        return text.append("  nothing: no scenario has faults\n", style="dim")
    width = max(len(line(row["scenario"], 40)) for row in rows)
    ids = max(len(line(row["id"], 40)) for row in rows)
    for row in rows:
        name = line(row["scenario"], 40).ljust(width)
        text.append(f"  {name}  ", style="not bold")
        text.append(line(row["id"], 40).ljust(ids), style="not bold magenta")
        text.append(f" {'x' if plain else '×'}{row['fired']:<3}", style="not bold")
        what = f" {line(row['effect'], 90)}" if row["effect"] else " it never fired"
        text.append(f"{what}\n", style="not bold dim")
    return text


def _notes(document: dict[str, Any]) -> Text | None:
    """Traffic that became no exchange, each kind once."""
    seen = Counter(note for part in document["invocations"] for note in part["notes"])
    seen.update(document["run"]["notes"])
    if not seen:
        return None
    text = Text("traffic that became no exchange\n", style="bold")
    for note, count in seen.most_common(NOTES):
        where = f" ({count} invocations)" if count > 1 else ""
        text.append(f"  {line(note, 160)}{where}\n", style="not bold")
    if len(seen) > NOTES:
        text.append(f"  … {len(seen) - NOTES} more in the report\n", style="not bold dim")
    return text


def _findings(document: dict[str, Any], marks: Marks) -> Text | None:
    cells = [c for c in document["cells"] if c["verdict"] != "pass"]
    if not cells:
        return None
    cells.sort(key=lambda c: VERDICTS.index(c["verdict"]))
    text = Text("findings\n", style="bold")
    for cell in cells[:FINDINGS]:
        mark, style = marks[cell["verdict"]]
        text.append(f"  {mark} ", style=style)
        text.append(f"{line(cell['invocation'], 60)}  ", style="not bold")
        text.append(f"{line(cell['invariant'], 60)}\n", style="not bold")
        text.append(f"    {line(cell['explanation'], 160)}\n", style="not bold dim")
    if len(cells) > FINDINGS:
        text.append(f"  … {len(cells) - FINDINGS} more in the report\n", style="not bold dim")
    return text


def _score(score: dict[str, Any]) -> Text:
    clean, cells = score["clean_invocations"], score["cells"]
    style = MARKS[score["gate"]][1]
    text = Text("score  ", style="bold")
    text.append("none" if score["value"] is None else f"{score['value']:.2f}", style=style)
    text.append(f"  of 100 ({cells['pass']} passed, {cells['fail']} failed", style="not bold")
    text.append(f", {cells['unknown']} unknown)" if cells["unknown"] else ")", style="not bold")
    if score["critical_failed"]:
        text.append(f"  {score['critical_failed']} critical", style="bold red")
    low, high = clean["low"] * 100, clean["high"] * 100
    text.append(
        f"\n       {clean['passed']} of {clean['total']} invocations came through clean: "
        f"{clean['confidence']:.0%} interval {low:.0f} to {high:.0f} %",
        style="not bold dim",
    )
    return text
