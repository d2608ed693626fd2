"""The HTML report: one file, no script, no external resources.

Everything that came from the wire or the agent is escaped by the template engine and has its
control and bidirectional characters spelled out; the page's own policy forbids scripts and loads.
A large run stays a small page: some invocations of every kind of finding are shown in full and the
others in short, and what opens is laid out by the browser only once it is looked at.
"""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from faultwire.report import diff, page
from faultwire.report.compiled import kept
from faultwire.report.conversation import token_words
from faultwire.report.lineage import picture
from faultwire.report.text import line, shown
from faultwire.report.topology import drawing, words as edge_words
from faultwire.text import unit

FULL = 4_500_000
"""Bytes of invocations in full."""
LARGEST = 1_000_000
"""Bytes of one invocation in full; one that takes more is shown in short."""
ALL = 7_500_000
"""Bytes of all invocations; those beyond are left out."""
OPEN = 5
"""Failed invocations that are open when the page is."""
PICKED = 40
"""Scenarios that a reader can pick."""
Document = dict[str, Any]


def render(document: Document) -> str:
    """The page of a report document; less than 10 MB of ASCII, whatever is in it."""
    cells = page.verdicts(document)
    worst = {where: page.worst(found) for where, found in cells.items()}
    made = _invocations(document, cells, worst)
    trend, scenarios = document.get("trend"), range(len(document["scenarios"][:PICKED]))
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            doc=document,
            anchors=page.anchors(document),
            labels={part["id"]: f"{part['prompt']}/r{part['repeat']}" for part in document["invocations"]},
            matrix=page.matrix(document),
            rows=max(1, page.SQUARES // max(1, len(document["scenarios"]))),
            most_injected=page.INJECTED,
            most_reasons=page.REASONS,
            findings=page.findings(document),
            decided=page.decided(document["statistics"]),
            injected=page.injected(document),
            voids=page.voids(document),
            unjudged=page.unjudged(document),
            judged=page.judged(document),
            traffic=page.traffic(document),
            scenarios=scenarios,
            picks=_picks(scenarios),
            totals={verdict: list(worst.values()).count(verdict) for verdict in page.VERDICTS},
            spark=page.spark(trend) if trend else None,
            invocations=[text for _, text in sorted(made.texts.items())],
            shortened=made.shortened,
            left_out=len(document["invocations"]) - len(made.texts),
        )
    )


def _picks(scenarios: range) -> list[str]:
    """The radio buttons that filter invocations."""
    by_scenario = ["s-all", *(f"s-{at}" for at in scenarios)] if len(scenarios) > 1 else []
    return ["v-all", "v-fail", "v-unknown", "v-pass", *by_scenario]


class _Made:
    """Rendered invocations by their position in the page."""

    def __init__(self) -> None:
        self.texts: dict[int, Markup] = {}
        self.size = 0
        self.shortened = 0

    def add(self, at: int, text: Markup) -> None:
        self.texts[at] = text
        self.size += len(text.encode())


def _invocations(document: Document, cells: dict[str, list[dict[str, Any]]], worst: dict[str, str]) -> _Made:
    """Render invocations in full, then shortened, then not at all, within the size limits."""
    macros = environment().get_template("_invocation.html.j2").module
    anchors, made = page.anchors(document), _Made()
    places = {part["id"]: at for at, part in enumerate(document["invocations"])}
    scenarios = {scenario["name"]: at for at, scenario in enumerate(document["scenarios"])}
    prompts = {prompt["id"]: prompt for prompt in document["prompts"]}
    tape = next(iter(document["run"]["tapes"]), None)
    bad = "fail" if page.judged(document) else "unknown"
    opened = {where for where, _ in [pair for pair in worst.items() if pair[1] == bad][:OPEN]}
    for part in page.ranked(document, cells):
        where = part["id"]
        about = (part, cells[where], worst[where], anchors[where], scenarios.get(part["scenario"], 0))
        if made.size >= ALL:
            break
        text, span = None, page.span_ms(part)
        if made.size < FULL:
            found = [diff.exchange(exchange) for exchange in part["exchanges"]]
            text = macros.full(*about, prompts.get(part["prompt"]), span, where in opened, found)  # type: ignore[attr-defined]
        if text is None or len(text) > LARGEST:
            made.shortened += 1
            text = macros.short(*about, span, tape)  # type: ignore[attr-defined]
        made.add(places[where], text)
    return made


@cache
def environment() -> Environment:
    """The template engine of all pages; all values are escaped and neutralised."""
    made = Environment(
        loader=PackageLoader("faultwire.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        bytecode_cache=kept(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {"oneline": line, "token_words": token_words, "ticks": _ticks, "word": _word}
    made.filters |= {**words, "lineage_picture": picture, "unit": unit}
    made.filters |= {"topology_drawing": drawing, "edge_words": edge_words}
    return made


def _finalize(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _word(text: str) -> str:
    """A text as one word of a command that a reader may copy into a shell."""
    return shlex.quote(line(text, 500))


def _ticks(text: str) -> Markup:
    """Words in backticks as code; escaped before anything is made of it."""
    parts = [str(escape(part)) for part in shown(text).split("`")]
    if len(parts) % 2 == 0:
        return Markup("`".join(parts))
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))
