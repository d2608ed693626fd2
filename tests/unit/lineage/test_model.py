from __future__ import annotations

from faultwire.lineage.model import OUTPUT, SHOWN, Edge, Graph, Node, Part


def part(exchange: int, side: str = "answer") -> Part:
    return Part(exchange, side, "the body")  # type: ignore[arg-type]


def edge(source: int, target: int, later: tuple[int, ...] = ()) -> Edge:
    return Edge(part(source), part(target, "request"), "exact", "id", "x", later=later)


def test_reached_goes_on_over_edges_and_repetitions_and_not_back() -> None:
    graph = Graph("s", (), (edge(1, 2, (4,)), edge(2, 3), edge(3, OUTPUT), edge(3, 2)))
    assert graph.reached(1) == {2, 3, 4, OUTPUT}
    assert graph.reached(4) == frozenset()


def test_a_long_span_is_cut_when_it_is_shown() -> None:
    long = Edge(part(1), part(2, "request"), "exact", "text", "x" * 500)
    assert f"`{'x' * (SHOWN - 1)}…`" in long.sentence
    assert len(long.as_json()["span"]) == 500


def test_as_json() -> None:
    graph = Graph("s", (Node(1, "GET /a", "tool", "why"),), (edge(1, OUTPUT),))
    found = graph.as_json()
    assert found["exchanges"] == [{"number": 1, "label": "GET /a", "kind": "tool", "unread": "why"}]
    target = {"exchange": None, "side": "request", "part": "the body", "messages": None}
    assert found["edges"][0]["target"] == target
