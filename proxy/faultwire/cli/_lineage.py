"""Prints lineage for `faultwire tape show --lineage`: the edges into each exchange, with their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.cli.output import Format, show, show_json
from faultwire.lineage.model import OUTPUT
from faultwire.lineage.trace import trace_exchanges
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.lineage.model import Edge, Graph
    from faultwire.tape.read.reader import TapeReader


def show_lineage(reader: TapeReader, session: str | None, number: int | None, format_: Format) -> None:
    """Print the lineage of each session, or of one; with `number`, the edges that touch this exchange.

    Raises UsageError where there is no such session or exchange.
    """
    from faultwire.errors import UsageError

    names = [one.name for one in reader.sessions() if session in (None, one.name)]
    if not names:
        raise UsageError(f"found no session `{session}`, expected one of the tape", code="tape.no_session")
    graphs = [trace_exchanges(name, reader.exchanges(name)) for name in names]
    redact = _redactor()
    if number is not None and not any(node.number == number for one in graphs for node in one.nodes):
        raise UsageError(f"found no exchange {number}, expected one of the tape", code="tape.no_exchange")
    if format_ == "json":
        from faultwire.report.text import redacted

        show_json([redacted(graph.as_json(), redact) for graph in graphs])
        return
    for graph in graphs:
        for line in lines(graph, number, redact):
            show(line)


def lines(graph: Graph, number: int | None, redact: Callable[[str], str] = str) -> Iterator[str]:
    """The graph for a terminal."""
    kinds: dict[str, int] = {}
    for edge in graph.edges:
        kinds[edge.kind] = kinds.get(edge.kind, 0) + 1
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "no edges"
    yield safe(f"session {graph.session}: {_exchanges(len(graph.nodes))}, {counted}")
    for node in graph.nodes:
        into = [
            edge for edge in graph.edges if edge.target.exchange == node.number and _touches(edge, number)
        ]
        if into or number in (None, node.number):
            yield safe(f"{node.number}  {redact(node.label)}")
        yield from (f"   {edge.kind:<8} {safe(redact(edge.sentence))}" for edge in into)
        if node.unread and number in (None, node.number):
            yield f"   unknown  {node.unread}, so edges may be missing"
    if number is not None:
        yield _reached(graph, number)


def _reached(graph: Graph, number: int) -> str:
    found = sorted(graph.reached(number))
    exchanges = [str(one) for one in found if one != OUTPUT]
    named = [f"exchange{'' if len(exchanges) == 1 else 's'} {', '.join(exchanges)}"] if exchanges else []
    named += ["the agent's output"] if OUTPUT in found else []
    if not named:
        return f"no edge leads from exchange {number} to a later one"
    return f"edges lead from exchange {number} to {' and '.join(named)}"


def _touches(edge: Edge, number: int | None) -> bool:
    return number is None or number in (edge.source.exchange, edge.target.exchange, *edge.later)


def _exchanges(count: int) -> str:
    return f"{count} exchange{'' if count == 1 else 's'}"


def _redactor() -> Callable[[str], str]:
    """What takes secrets out of texts that a tape holds in pieces and that stand joined here."""
    from faultwire.tape.redact.redactor import Redactor, fresh_key

    made = Redactor(fresh_key())
    return lambda text: made.text(text, {})
