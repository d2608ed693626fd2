"""The report as Markdown, for the summary page of a CI job.

Whatever came from elsewhere stands in code spans, in which Markdown, HTML, links and mentions mean
nothing; backticks in it become apostrophes, so that no text can end its own span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.report import explained, page
from faultwire.report.text import line
from faultwire.text import counted, unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MARKS = {"pass": "✅", "fail": "❌", "unknown": "❔"}
GATE_WORDS = {"pass": "passed", "fail": "failed", "unknown": "unknown"}
GROUPS = 40
"""How many groups of findings are shown."""
SCENARIOS = 12
"""Columns of the matrix; a page is only so wide."""
ROWS = 60
"""Rows of the matrix."""


def render(document: dict[str, Any]) -> str:
    """The Markdown text (GitHub's flavour, for its tables)."""
    judged = page.judged(document)
    parts = [
        _head(document),
        _notices(document),
        _comparison(document["comparison"]),
        _unjudged(document),
        _matrix(document) if judged else "",
        _unfired(document),
        _findings(document),
        explanations(document.get("explained") or ()),
        _fixes(document["suggestions"]),
        _statistics(document["statistics"]) if judged else "",
        _mutations(document["mutations"]),
        _foot(document),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def code(text: str, limit: int = 120) -> str:
    """One line of literal text, also safe in a table (where a bar would end the cell)."""
    inner = line(text, limit).replace("`", "'").replace("|", "¦").strip()
    return f"`{inner}`" if inner else "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    drawn = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(drawn)


def score_line(score: dict[str, Any]) -> str:
    """The score with its cell counts and interval."""
    cells, clean = score["cells"], score["clean_invocations"]
    value = "**no score**" if score["number"] is None else f"**{score['number']:.2f}** of 100"
    critical = f", {score['critical_failed']} of them critical" if score["critical_failed"] else ""
    low, high = clean["low"] * 100, clean["high"] * 100
    least = worst(score)
    least_text = f" · worst scenario {code(least['name'], 60)} {least['value']:.2f}" if least else ""
    passed = (
        f"{clean['passed']} of {counted(clean['total'], 'invocation')} without a failure "
        f"({clean['confidence']:.0%} interval {low:.0f} to {high:.0f} %)"
    )
    return (
        f"{value} ({score['measure']}{coverage(score)}) · {counted(cells['pass'], 'cell')} passed, "
        f"{cells['fail']} failed{critical}, {cells['unknown']} unknown · {passed}{least_text}"
    )


def coverage(score: dict[str, Any]) -> str:
    """How much of what was asked the number is made from; nothing for reports that did not say it."""
    found = score.get("coverage")
    if not found:
        return ""
    what = {"robustness": "mutants", "chaos resilience": "invocations with faults"}.get(score["measure"])
    return f", {found['judged']} of {found['asked']} {unit(found['asked'], what or found['unit'])} judged"


def worst(score: dict[str, Any]) -> dict[str, Any] | None:
    """The scenario with the least score, where there are several and it is not perfect."""
    known = [one for one in score.get("scenarios", ()) if one["value"] is not None]
    least = min(known, key=lambda one: one["value"], default=None)
    return least if least is not None and len(known) > 1 and least["value"] < 100 else None


def ruling(rule: str, reasons: Sequence[str]) -> str:
    """The rule of the gate, and why a run is no pass."""
    lines = [f"Rule: {code(rule, 500)}"] if rule else []
    return "\n".join(
        [*lines, *([""] if lines and reasons else []), *(f"- {code(text, 500)}" for text in reasons)]
    )


def _head(document: dict[str, Any]) -> str:
    run, score = document["run"], document["score"]
    about = code(run["phase"] or run["command"], 60)
    if not page.judged(document):
        return f"## faultwire {about}: not judged\n\n{page.traffic_line(document)}"
    return (
        f"## {MARKS[score['gate']]} faultwire {about}: {GATE_WORDS[score['gate']]}\n\n{score_line(score)}"
        + _ruled(score)
    )


def _ruled(score: dict[str, Any]) -> str:
    text = ruling(score.get("rule", ""), score.get("reasons", ()))
    return f"\n\n{text}" if text else ""


def _notices(document: dict[str, Any]) -> str:
    run, void = document["run"], page.voids(document)
    lines = [f"- {code(text, 300)}" for text in run["warnings"][:10]]
    if run["partial"]:
        played = len(document["invocations"])
        lines.insert(0, f"- **partial**: {played} of {counted(run['planned'], 'invocation')} were run")
    lines += [
        f"- **inconclusive**: {counted(len(ids), 'invocation')}: {code(why, 300)}"
        for why, ids in list(void.items())[:5]
    ]
    return "\n".join(lines)


def _comparison(part: dict[str, Any] | None) -> str:
    if part is None:
        return ""
    overall = part["overall"]
    way = "better" if (overall["difference"] or 0) > 0 else "worse"
    verdict = (
        f"the difference is **significant**: {way}"
        if overall["verdict"] == "significant"
        else "the difference is not significant"
    )
    lines = [f"Compared with run {code(part['before']['id'])}, {verdict} ({difference(overall)})."]
    rows = [
        (code(row["scenario"], 40), _of(row["now"]), _of(row["before"]), difference(row), row["verdict"])
        for row in part["scenarios"][:ROWS]
    ]
    if rows:
        lines.append(table(("scenario", "now", "then", "difference", ""), rows))
    return "\n\n".join(lines)


def difference(one: dict[str, Any]) -> str:
    """A difference in points with its interval and p-value, both adjusted if it is one of several."""
    if one["difference"] is None:
        return "nothing to compare"
    several = one.get("family", 1) > 1
    p = "" if one["p_value"] is None else f", {'adjusted ' if several else ''}p = {one['p_value']:.3g}"
    span = f"{one['low'] * 100:+.0f} to {one['high'] * 100:+.0f}{' simultaneously' if several else ''}"
    return f"{one['difference'] * 100:+.0f} points, {span}{p}"


def _unjudged(document: dict[str, Any]) -> str:
    rows = page.unjudged(document)
    mark = MARKS["unknown"]
    lines = [f"- {mark} {code(row['why'], 500)}: {code(row['hint'], 300)}" for row in rows[:GROUPS]]
    more = [f"- … {len(rows) - GROUPS} more"] if len(rows) > GROUPS else []
    return "### Never judged\n\n" + "\n".join([*lines, *more]) if rows else ""


def _matrix(document: dict[str, Any]) -> str:
    names = [scenario["name"] for scenario in document["scenarios"]]
    rows = page.matrix(document)
    drawn = [
        (
            code(row["invariant"], 60),
            row["severity"],
            *(_square(square["counts"]) for square in row["squares"][:SCENARIOS]),
        )
        for row in rows[:ROWS]
    ]
    text = table(("invariant", "severity", *(code(name, 40) for name in names[:SCENARIOS])), drawn)
    more = [
        f"{count} more {what}"
        for count, what in ((len(names) - SCENARIOS, "scenarios"), (len(rows) - ROWS, "invariants"))
        if count > 0
    ]
    return f"{text}\n\n… {' and '.join(more)} in the report" if more else text


def _square(counts: dict[str, int]) -> str:
    return " ".join(f"{MARKS[verdict]} {n}" for verdict, n in counts.items() if n) or "–"


def _unfired(document: dict[str, Any]) -> str:
    """The faults that never fired: they have tested nothing."""
    rows = [row for row in page.injected(document) if row["of"] and not row["fired"]]
    lines = [
        f"- {code(row['id'], 60)} in {code(row['scenario'], 60)}{': ' if row['why'] else ''}"
        f"{code(row['why'], 300) if row['why'] else ''}"
        for row in rows[: page.INJECTED]
    ]
    more = [f"- … {len(rows) - page.INJECTED} more"] if len(rows) > page.INJECTED else []
    title = "Not fired in what was finished" if document["run"]["partial"] else "Never fired"
    return f"### {title}\n\n" + "\n".join([*lines, *more]) if rows else ""


def _findings(document: dict[str, Any]) -> str:
    groups = page.findings(document)
    parts = []
    for verdict, title in (("fail", "Failed"), ("unknown", "Unknown")):
        mine = [group for group in groups if group["verdict"] == verdict]
        if not mine:
            continue
        lines = [
            f"- {MARKS[verdict]} {code(g['invariant'], 60)} ({g['severity']}) in {code(g['scenario'], 60)}"
            f"{', ' + str(g['count']) + ' times' if g['count'] > 1 else ''}: {code(g['explanation'], 240)}"
            for g in mine[:GROUPS]
        ]
        if len(mine) > GROUPS:
            lines.append(f"- … {len(mine) - GROUPS} more")
        parts.append(f"### {title}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def explanations(rows: Sequence[Mapping[str, Any]]) -> str:
    """What was found of failures, with links to the pages beside the report."""
    texts = []
    for row in rows[:GROUPS]:
        page = f" ([{row['page']}](./{row['page']}), {counted(row['runs'], 'run')})" if row["page"] else ""
        texts.append(f"- {code(explained.title(row), 200)}: {code(row['conclusion'], 400)}{page}")
    if len(rows) > GROUPS:
        texts.append(f"- … {len(rows) - GROUPS} more")
    return "### Why it failed\n\n" + "\n".join(texts) if texts else ""


def _fixes(suggestions: list[dict[str, Any]]) -> str:
    if not suggestions:
        return ""
    lines = [
        f"{at}. {one['action'].replace('`', '')} *Seen in {one['invocations']}:* "
        f"{code(one['evidence'][0]['invocation'], 60)}: {code(one['evidence'][0]['words'], 200)}"
        for at, one in enumerate(suggestions, 1)
    ]
    return "### Recommended fixes\n\n" + "\n".join(lines)


def _statistics(part: dict[str, Any]) -> str:
    rows = []
    for row in part["scenarios"][:ROWS]:
        against = row["against_calm"]
        rows.append(
            (
                code(row["scenario"], 40),
                _of(row),
                f"{row['low'] * 100:.0f} to {row['high'] * 100:.0f} %",
                *([_streak(row["pass_k"])] if part["k"] > 1 else []),
                f"{against['verdict']}: {difference(against)}" if against else "–",
                str(row["flaky"] or "–"),
            )
        )
    streak = [f"all {part['k']} pass"] if part["k"] > 1 else []
    head = ("scenario", "clean", f"{part['confidence']:.0%} interval", *streak, "against calm", "flaky")
    counts = page.decided(part)["counts"]
    decided_text = ", ".join(f"{count} {word}" for word, count in counts.items())
    ended = f"\n\nRepeated until decided: {decided_text}." if decided_text else ""
    return "### Statistics\n\n" + table(head, rows) + _steady(part, "flaky") + _steady(part, "broken") + ended


def _steady(part: dict[str, Any], word: str) -> str:
    """The cells whose repeats disagree, or all failed; earlier releases do not tell of the latter."""
    count = part.get(f"{word}_count", 0)
    named = [
        f"- {word}: {code(one['invariant'], 40)} in {code(one['scenario'], 40)} on "
        f"{code(one['prompt'], 40)}: {one['failed']} of {one['passed'] + one['failed']} failed"
        for one in part.get(word, [])[:GROUPS]
    ]
    more = [f"- … {count - GROUPS} more {word}"] if count > GROUPS else []
    return "\n\n" + "\n".join([*named, *more]) if named else ""


def _streak(pass_k: dict[str, Any]) -> str:
    value = "unknown" if pass_k["value"] is None else f"{pass_k['value']:.0%}"
    return f"{value}, at least {pass_k['at_least']:.0%}"


def _mutations(part: dict[str, Any] | None) -> str:
    if part is None:
        return ""
    rows = [
        (code(row["type"], 40), _of(row), f"{row['low'] * 100:.0f} to {row['high'] * 100:.0f} %")
        for row in part["types"][:ROWS]
    ]
    value = "none" if part["robustness"] is None else f"{part['robustness']:.1%}"
    return f"### Mutations\n\nRobustness **{value}**\n\n" + table(("type", "passed", "interval"), rows)


def _of(row: dict[str, Any]) -> str:
    return f"{row['passed']} of {row['total']}"


def _foot(document: dict[str, Any]) -> str:
    run = document["run"]
    tapes = "".join(f" · tape {code(tape, 200)}" for tape in run["tapes"])
    return f"run {code(run['id'])} · seed {run['seed']} · ledger {code(run['ledger'])}{tapes}"
