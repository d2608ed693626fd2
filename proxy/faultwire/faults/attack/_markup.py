"""Spans in HTML and Markdown: what may stand there depends on where it is."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from faultwire.faults.attack._carried import CannotCarry

if TYPE_CHECKING:
    from collections.abc import Mapping

RAW = ("script", "style", "textarea", "title")
"""Elements whose text ends at their own end tag and nowhere else (HTML, 13.2.5)."""


class _Hit(NamedTuple):
    """Where a span begins and ends, and what is to stand there."""

    start: int
    end: int
    payload: str


def _hits(text: str, spans: Mapping[str, str], *, escaped: bool) -> list[_Hit]:
    """Every place at which a span stands, the longest first where two begin together; none overlaps."""
    forms = [(form, payload) for span, payload in spans.items() for form in _forms(span, escaped=escaped)]
    found: list[_Hit] = []
    at = 0
    while True:
        nearest = min(
            ((start, -len(form), payload) for form, payload in forms if (start := text.find(form, at)) >= 0),
            default=None,
        )
        if nearest is None:
            return found
        at = nearest[0] - nearest[1]
        found.append(_Hit(nearest[0], at, nearest[2]))


def _forms(span: str, *, escaped: bool) -> set[str]:
    return {span, escape(span), escape(span, quote=False)} if escaped else {span}


def in_html(text: str, spans: Mapping[str, str]) -> str:
    """Each span by its payload: escaped in text and attributes, as it is in comments and scripts."""
    made, at = [], 0
    for hit in _hits(text, spans, escaped=True):
        made += [text[at : hit.start], _for_html(text[: hit.start], hit.payload)]
        at = hit.end
    return "".join([*made, text[at:]])


def _for_html(before: str, payload: str) -> str:
    if before.rfind("<!--") > before.rfind("-->"):
        if "-->" in payload or "--!>" in payload or payload.endswith("-"):
            raise CannotCarry("an HTML comment cannot carry a payload that ends it")
        return payload
    lowered = before.lower()
    if before.rfind("<") > before.rfind(">"):
        return escape(payload)
    for name in RAW:
        if lowered.rfind(f"<{name}") > lowered.rfind(f"</{name}"):
            if f"</{name}" in payload.lower():
                raise CannotCarry(f"an HTML element `{name}` cannot carry a payload that ends it")
            return escape(payload, quote=False) if name in ("textarea", "title") else payload
    return escape(payload, quote=False)


def in_markdown(text: str, spans: Mapping[str, str]) -> str:
    """Each span by its payload: on one line in a table or a heading, quoted again in a quotation."""
    made, at = [], 0
    for hit in _hits(text, spans, escaped=False):
        made += [text[at : hit.start], _for_markdown(text, hit.start, hit.payload)]
        at = hit.end
    return "".join([*made, text[at:]])


def _for_markdown(text: str, at: int, payload: str) -> str:
    if text[:at].count("```") % 2:
        return in_fence(payload)
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip()
    if line.startswith("|"):
        return "<br>".join(payload.replace("|", "\\|").splitlines())
    if line.startswith("#"):
        return " ".join(payload.split())
    return payload.replace("\n", "\n> ") if line.startswith(">") else payload


def in_fence(text: str) -> str:
    """The inside of a block of code. Raises CannotCarry where it would end the block."""
    if "```" in text:
        raise CannotCarry("a fenced block cannot carry a payload that holds a fence")
    return text
