"""The lineage of one exchange: which bytes of earlier answers it holds, and where those of its own went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.lineage.model import OUTPUT
from faultwire.lineage.trace import trace_exchanges
from faultwire.report.text import line
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.events import Recorded
    from faultwire.lineage.model import Edge, Graph

EDGES = 200
"""Edges in one direction that are shown."""
LONGEST = 2_000
"""Exchanges of a session that are traced: a page waits for it."""
SENTENCE = 500


def lineage_view(session: Sequence[Recorded], number: int) -> dict[str, Any]:
    """The edges into and out of an exchange of a session, in words, and which exchanges they lead to.

    The tape redacts exchange by exchange; what is quoted from several is looked at once more.
    """
    traced = session[:LONGEST]
    graph = trace_exchanges(session[0].session, traced)
    redactor = Redactor(fresh_key())
    into = [edge for edge in graph.edges if edge.target.exchange == number or number in edge.later]
    out = [edge for edge in graph.edges if edge.source.exchange == number]
    unread = next((node.unread for node in graph.nodes if node.number == number), None)

    def clean(text: str) -> str:
        return redactor.text(text, {})

    return {
        "into": _lines(into, clean),
        "out": _lines(out, clean),
        "into_not_shown": max(0, len(into) - EDGES),
        "out_not_shown": max(0, len(out) - EDGES),
        "reached": _reached(graph, number),
        "unread": None if unread is None else line(unread, SENTENCE),
        "not_traced": max(0, len(session) - len(traced)),
    }


def _lines(edges: Sequence[Edge], clean: Callable[[str], str]) -> list[dict[str, Any]]:
    return [
        {
            "kind": edge.kind,
            "from": edge.source.exchange or None,
            "to": edge.target.exchange or None,
            "text": line(clean(edge.sentence), SENTENCE),
        }
        for edge in edges[:EDGES]
    ]


def _reached(graph: Graph, number: int) -> list[int]:
    """Over any number of edges."""
    return sorted(one for one in graph.reached(number) if one != OUTPUT)
