"""The lineage of an invocation in a report: its edges, and a picture of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.lineage.trace import trace
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import History
    from faultwire.lineage.model import Edge

EXCHANGES = 60
"""Exchanges of the longest invocation whose lineage a report shows; `tape show --lineage` shows all."""
BYTES = 1 << 20
"""Bytes of its bodies."""
EDGES = 200
ROW = 26
WIDTH = 420
LEFT = 24


def lineage_part(history: History, redact: Callable[[str], str]) -> dict[str, Any] | None:
    """Which bytes reached which later request; None where an invocation is too long for a report, or is a
    single question and its answer."""
    exchanges = history.exchanges
    several = len(exchanges) > 1 or any(exchange.messages for exchange in exchanges)
    if not several or len(exchanges) > EXCHANGES or sum(map(_size, exchanges)) > BYTES:
        return None
    graph = trace(history)
    return {
        "exchanges": [
            {"number": node.number, "label": clip(redact(node.label), 60), "unread": node.unread}
            for node in graph.nodes
        ],
        "edges": [_edge(edge, redact) for edge in graph.edges[:EDGES]],
        "edges_not_shown": max(0, len(graph.edges) - EDGES),
    }


def _size(exchange: Any) -> int:
    delivered = exchange.delivered
    messages = sum(len(message.data) for message in exchange.messages)
    return (
        messages + len(exchange.request.body or b"") + (len(delivered.body) if delivered is not None else 0)
    )


def _edge(edge: Edge, redact: Callable[[str], str]) -> dict[str, Any]:
    made = edge.as_json()
    return {
        "source": made["source"]["exchange"],
        "target": made["target"]["exchange"],
        "kind": edge.kind,
        "later": list(edge.later),
        "words": clip(redact(edge.sentence), 400),
    }


def picture(part: dict[str, Any]) -> dict[str, Any]:
    """The exchanges as rows, the edges as arcs beside them; the agent's output is the last row. An arc is as
    wide as it is long, so that none hides another."""
    numbers = [one["number"] for one in part["exchanges"]]
    row = {number: at for at, number in enumerate(numbers)} | {None: len(numbers)}
    arcs, seen = [], set()
    for edge in part["edges"]:
        first, last = row.get(edge["source"]), row.get(edge["target"])
        if first is None or last is None or first == last or (first, last, edge["kind"]) in seen:
            continue
        seen.add((first, last, edge["kind"]))
        top, bottom = _middle(first), _middle(last)
        bend = min(WIDTH - 250, 30 + 16 * (last - first))
        path = f"M200 {top} C{200 + bend} {top} {200 + bend} {bottom} 206 {bottom}"
        arcs.append({"path": path, "kind": edge["kind"], "words": edge["words"]})
    output = any(edge["target"] is None for edge in part["edges"])
    rows = [{"y": _middle(row[one["number"]]) + 4, **one} for one in part["exchanges"]]
    rows += (
        [{"y": _middle(len(numbers)) + 4, "number": None, "label": "the agent's output"}] if output else []
    )
    return {"width": WIDTH, "height": ROW * (len(rows)) + 8, "rows": rows, "arcs": arcs}


def _middle(row: int) -> int:
    return 4 + ROW * row + ROW // 2
