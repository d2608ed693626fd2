"""The report for a terminal. Nothing in it is read as markup, and nothing hostile reaches the screen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from faultwire.report import page, terminal_numbers as numbers
from faultwire.report.markdown import GATE_WORDS, coverage, worst
from faultwire.report.page import findings, injected, matrix, unjudged
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

MARKS = {"pass": ("✓", "green"), "fail": ("✗", "bold red"), "unknown": ("?", "yellow")}
FINDINGS = 12
"""Kinds of findings that are explained; the other reports have them all."""
NOTES = 8
"""Notes that are repeated."""

WORDS = {verdict: (verdict, style) for verdict, (_, style) in MARKS.items()}
"""For terminals without such characters; a replaced mark would look like `unknown`."""
Marks = dict[str, tuple[str, str]]


def render(document: dict[str, Any], *, plain: bool = False) -> RenderableType:
    """Verdicts, what was injected, findings, recommended fixes, statistics, an earlier run, and the score;
    `plain` says verdicts in words."""
    marks = WORDS if plain else MARKS
    judged = page.judged(document)
    found: list[RenderableType | None] = [
        _inconclusive(document),
        _table(document, marks) if judged else None,
        _injected(document, plain),
        _notes(document),
        _findings(document, marks),
        numbers.fixes(document["suggestions"]),
        numbers.statistics(document["statistics"]),
        numbers.mutations(document["mutations"]),
        numbers.comparison(document["comparison"]),
        numbers.trend(document["trend"], plain=plain),
        numbers.warnings(document),
        _unjudged(document, marks),
    ]
    last = _score(document["score"]) if judged else _traffic(document)
    return Group(*(part for part in found if part is not None), last)


def phase_findings(document: dict[str, Any], *, plain: bool = False) -> RenderableType | None:
    """The findings alone, for a phase of a larger run; None where there are none."""
    return _findings(document, WORDS if plain else MARKS)


def _table(document: dict[str, Any], marks: Marks) -> numbers.Fitted:
    head = ["invariant", "severity", *(line(scenario["name"], 40) for scenario in document["scenarios"])]
    rows = [
        [
            Text(line(row["invariant"], 60)),
            Text(row["severity"], style="dim"),
            *(_square(square["counts"], marks) for square in row["squares"]),
        ]
        for row in matrix(document)
    ]
    return numbers.Fitted(head, rows, centred=2)


def _square(counts: dict[str, int], marks: Marks) -> Text:
    parts = [
        Text(f"{marks[verdict][0]} {count}", style=marks[verdict][1])
        for verdict, count in counts.items()
        if count
    ]
    return Text("  ").join(parts) if parts else Text("–", style="dim")


def _injected(document: dict[str, Any], plain: bool) -> Text:
    text = Text("injected\n", style="bold")
    rows = injected(document)
    if not rows:
        return text.append("  none: no scenario has faults\n", style="dim")
    width = max(len(line(row["scenario"], 40)) for row in rows)
    ids = max(len(line(row["id"], 40)) for row in rows)
    for row in rows:
        name = line(row["scenario"], 40).ljust(width)
        text.append(f"  {name}  ", style="not bold")
        text.append(line(row["id"], 40).ljust(ids), style="not bold magenta")
        text.append(f" {'x' if plain else '×'}{row['fired']:<3}", style="not bold")
        what = line(row["effect"], 90) if row["effect"] else ""
        if not row["fired"]:
            never = "not fired in what was finished" if document["run"]["partial"] else "never fired"
            what = never + (f": {line(row['why'], 160)}" if row["why"] else "")
        text.append(f" {what}\n", style="not bold dim")
    return text


def _inconclusive(document: dict[str, Any]) -> Text | None:
    """Why invocations are void, each reason once."""
    reasons = list(page.voids(document).items())
    if not reasons:
        return None
    text = Text("inconclusive\n", style="bold")
    for why, ids in reasons[:FINDINGS]:
        which = "" if len(document["invocations"]) == 1 else f"{counted(len(ids), 'invocation')}: "
        text.append(f"  {which}{line(why, 300)}\n", style="not bold yellow")
    return text


def _notes(document: dict[str, Any]) -> Text | None:
    """Traffic outside exchanges, each kind once."""
    seen = Counter(note for part in document["invocations"] for note in part["notes"])
    seen.update(document["run"]["notes"])
    if not seen:
        return None
    text = Text("traffic outside exchanges\n", style="bold")
    for note, count in seen.most_common(NOTES):
        where = f" ({count} invocations)" if count > 1 else ""
        text.append(f"  {line(note, 160)}{where}\n", style="not bold")
    if len(seen) > NOTES:
        text.append(f"  … {len(seen) - NOTES} more in the report\n", style="not bold dim")
    return text


def _findings(document: dict[str, Any], marks: Marks) -> Text | None:
    """Each kind of finding once, the gravest first."""
    groups = findings(document)
    if not groups:
        return None
    text = Text("findings\n", style="bold")
    for group in groups[:FINDINGS]:
        mark, style = marks[group["verdict"]]
        text.append(f"  {mark} ", style=style)
        text.append(f"{line(group['invocation'], 60)}  ", style="not bold")
        text.append(line(group["invariant"], 60), style="not bold")
        more = f"  and {group['count'] - 1} more\n" if group["count"] > 1 else "\n"
        text.append(more, style="not bold dim")
        text.append(f"    {line(group['explanation'], 160)}\n", style="not bold dim")
    if len(groups) > FINDINGS:
        text.append(f"  … {len(groups) - FINDINGS} more in the report\n", style="not bold dim")
    return text


def _unjudged(document: dict[str, Any], marks: Marks) -> Text | None:
    """Critical invariants without a verdict: why, and how to fix it."""
    rows = unjudged(document)
    if not rows:
        return None
    mark, style = marks["unknown"]
    text = Text("never judged\n", style="bold")
    for row in rows[:FINDINGS]:
        text.append(f"  {mark} ", style=style)
        text.append(f"{line(row['why'], 500)}\n", style="not bold")
        text.append(f"    {line(row['hint'], 500)}\n", style="not bold dim")
    if len(rows) > FINDINGS:
        text.append(f"  … {len(rows) - FINDINGS} more in the report\n", style="not bold dim")
    return text


def _traffic(document: dict[str, Any]) -> Text:
    """What passed, in a run that has no invariants."""
    text = Text("not judged  ", style="bold")
    return text.append(line(page.traffic_line(document), 200), style="not bold")


def _score(score: dict[str, Any]) -> Text:
    clean, cells = score["clean_invocations"], score["cells"]
    style = MARKS[score["gate"]][1]
    text = Text("score  ", style="bold")
    measure = "" if score["measure"] == "resilience score" else f", {score['measure']}"
    if score["number"] is None:
        text.append(f"none{measure}", style=style)
    else:
        text.append(f"{score['number']:.2f}", style=style)
        text.append(f"  of 100{measure}", style="not bold")
    text.append(f"{coverage(score)} ({cells['pass']} passed, {cells['fail']} failed", style="not bold")
    text.append(f", {cells['unknown']} unknown)" if cells["unknown"] else ")", style="not bold")
    if score["critical_failed"]:
        text.append(f"  {score['critical_failed']} critical", style="bold red")
    low, high = clean["low"] * 100, clean["high"] * 100
    text.append(
        f"\n       {clean['passed']} of {counted(clean['total'], 'judged invocation')} without a failure: "
        f"{clean['confidence']:.0%} interval {low:.0f} to {high:.0f} %",
        style="not bold dim",
    )
    least = worst(score)
    if least is not None:
        text.append(
            f"\n       worst scenario: {line(least['name'], 60)}, {least['value']:.2f}", style="not bold dim"
        )
    text.append("\nverdict  ", style="bold")
    text.append(GATE_WORDS[score["gate"]], style=style)
    if score.get("rule"):
        text.append(f"  ({line(score['rule'], 300)})", style="not bold dim")
    return text
