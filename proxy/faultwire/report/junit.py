"""The report as JUnit XML, for the test views of CI systems.

A suite for each scenario, a test case for each cell, and one test case for the verdict of the run. That one
fails if and only if the command's exit code is not 0, so a CI system that reads this file alone comes to the
same verdict. An unknown cell is a skipped test with its reason; so is a failed cell of a run that passes by
its rule (`--min-score`, `--until`). Valid against the schemas of Apache Ant (windyroad/JUnit-Schema) and of
Jenkins (xunit-plugin, junit-10): no attributes on `testsuites`, instants without a zone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from faultwire.report.explained import of_cell
from faultwire.report.page import judged, unjudged
from faultwire.report.text import clip, line
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MESSAGE = 300
"""Characters of an explanation in the attribute that lists show; the element's text has all of it."""
ANSWER = 2_000
"""Characters of an answer that a failure repeats."""
NOWHERE = "never judged"
"""The suite of critical invariants that fit no scenario."""
GATE = "gate"
"""The suite of the run's verdict."""
ALLOWED = "failed, which the rule of the run allows"


def render(document: dict[str, Any]) -> str:
    """The XML text. Characters that XML 1.0 does not know are spelled out."""
    return joined([document])


def joined(documents: Sequence[dict[str, Any]], overall: Mapping[str, Any] | None = None) -> str:
    """The XML text of several reports, such as the phases of one run: their suites one after another.
    `overall` is the summary over all of them, whose verdict is that of the run."""
    root = Element("testsuites")
    at = 0
    for document in documents:
        invocations = {part["id"]: part for part in document["invocations"]}
        by_scenario: dict[str, list[dict[str, Any]]] = {s["name"]: [] for s in document["scenarios"]}
        for cell in document["cells"]:
            by_scenario[cell["scenario"]].append(cell)
        phase = f"{document['run']['phase']}: " if len(documents) > 1 else ""
        for name, cells in by_scenario.items():
            _suite(root, at, phase + name, cells, invocations, document)
            at += 1
        if nowhere := [one for one in unjudged(document) if not one["cells"]]:
            _unjudged(root, at, phase + NOWHERE, nowhere, document)
            at += 1
    if overall is not None:
        _gate(root, at, overall["gate"], overall["rule"], overall["reasons"], documents[0])
    elif judged(documents[0]):
        score = documents[0]["score"]
        _gate(root, at, score["gate"], score.get("rule", ""), score.get("reasons", ()), documents[0])
    indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(
    root: Element,
    at: int,
    name: str,
    cells: Sequence[Mapping[str, Any]],
    invocations: Mapping[str, dict[str, Any]],
    document: dict[str, Any],
) -> None:
    passes = document["score"]["gate"] == "pass"
    verdicts = ["unknown" if passes and cell["verdict"] == "fail" else cell["verdict"] for cell in cells]
    played = [invocations[where]["duration_s"] or 0.0 for where in {cell["invocation"] for cell in cells}]
    suite = _opened(root, at, name, verdicts, sum(played), document)
    seen: set[str] = set()
    for cell in cells:
        invocation = invocations[cell["invocation"]]
        first = invocation["id"] not in seen
        seen.add(invocation["id"])
        why = of_cell(document.get("explained") or (), cell)
        _case(suite, cell, invocation, first=first, passes=passes, why=why)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _opened(
    root: Element, at: int, name: str, verdicts: Sequence[str], played_s: float, document: dict[str, Any]
) -> Element:
    """A suite with its counts and properties, to which its cases are added."""
    run = document["run"]
    suite = SubElement(
        root,
        "testsuite",
        {
            "name": _name(name),
            "package": _name(run["command"]),
            "id": str(at),
            "timestamp": _instant(run["started_at"]),
            "hostname": "localhost",
            "tests": str(len(verdicts)),
            "failures": str(verdicts.count("fail")),
            "errors": "0",
            "skipped": str(verdicts.count("unknown")),
            "time": f"{played_s:.3f}",
        },
    )
    _properties(SubElement(suite, "properties"), document)
    return suite


def _unjudged(
    root: Element, at: int, name: str, rows: Sequence[Mapping[str, Any]], document: dict[str, Any]
) -> None:
    """A suite of critical invariants that fit no scenario and therefore have no cell."""
    suite = _opened(root, at, name, ["unknown"] * len(rows), 0.0, document)
    for row in rows:
        about = {"name": _name(row["invariant"]), "classname": _name(f"{NOWHERE}.{row['severity']}")}
        case = SubElement(suite, "testcase", about | {"time": "0.000"})
        SubElement(case, "skipped", {"message": line(f"{row['why']}; {row['hint']}", 2 * MESSAGE)})
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _properties(element: Element, document: dict[str, Any]) -> None:
    run, score = document["run"], document["score"]
    value = "" if score["number"] is None else f"{score['number']:.2f}"
    pairs = [("run", run["id"]), ("seed", str(run["seed"])), ("ledger", run["ledger"])]
    pairs += [("tape", tape) for tape in run["tapes"]]
    pairs += [("score", value), ("gate", score["gate"])]
    for name, text in pairs:
        SubElement(element, "property", {"name": name, "value": line(text, 500)})


def _gate(
    root: Element, at: int, word: str, rule: str, reasons: Sequence[str], document: dict[str, Any]
) -> None:
    """The verdict of the run as a test case of its own."""
    suite = _opened(root, at, GATE, ["pass" if word == "pass" else "fail"], 0.0, document)
    case = SubElement(suite, "testcase", {"name": _name(rule), "classname": GATE, "time": "0.000"})
    if word != "pass":
        message = "\n".join(reasons) or f"the verdict is {word}"
        failure = SubElement(case, "failure", {"message": line(message, MESSAGE), "type": word})
        failure.text = safe(message, lines=True)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _case(
    suite: Element,
    cell: Mapping[str, Any],
    invocation: Mapping[str, Any],
    *,
    first: bool,
    passes: bool,
    why: Mapping[str, Any] | None = None,
) -> None:
    """One cell. The time of an invocation is that of its first cell, so that sums are right. `passes`: the
    rule of the run allows what failed. `why`: what was found of its failure."""
    case = SubElement(
        suite,
        "testcase",
        {
            "name": _name(f"{cell['invariant']} · {invocation['prompt']}/r{invocation['repeat']}"),
            "classname": _name(f"{invocation['scenario']}.{cell['severity']}"),
            "time": f"{invocation['duration_s'] or 0.0:.3f}" if first else "0.000",
        },
    )
    if cell["verdict"] == "pass":
        return
    words = {"message": line(cell["explanation"], MESSAGE)}
    if cell["verdict"] == "unknown":
        SubElement(case, "skipped", words)
        return
    if passes:
        SubElement(case, "skipped", {"message": line(f"{ALLOWED}: {cell['explanation']}", MESSAGE)})
        return
    failure = SubElement(case, "failure", words | {"type": _name(cell["invariant"])})
    failure.text = _failure_text(cell, invocation, why)


def _failure_text(
    cell: Mapping[str, Any], invocation: Mapping[str, Any], why: Mapping[str, Any] | None
) -> str:
    """The failure text: explanation, traffic, why it failed, and the agent's answer."""
    parts = [cell["explanation"], f"invocation: {invocation['id']}"]
    if cell["exchanges"]:
        parts.append(f"exchanges: {', '.join(map(str, cell['exchanges'][:20]))}")
    fired = [f["id"] for e in invocation["exchanges"] for f in e["faults"] if f["outcome"] == "fired"]
    parts.append(f"faults that fired: {', '.join(dict.fromkeys(fired)) or 'none'}")
    if why is not None:
        parts.append(f"why: {why['conclusion']}")
        parts += [f"blame: {why['page']}"] if why["page"] else []
    parts.append(f"answer: {clip(invocation['answer'] or '(nothing)', ANSWER)}")
    return safe("\n".join(parts), lines=True)


def _name(text: str) -> str:
    return line(text, 200) or "-"


def _instant(text: str) -> str:
    """`YYYY-MM-DDThh:mm:ss`, which is all that the schema takes."""
    return line(text, 40)[:19]
