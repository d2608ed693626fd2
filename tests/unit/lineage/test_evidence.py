from __future__ import annotations

from faultwire.lineage.evidence import Evidence, Held
from faultwire.lineage.model import Part
from faultwire.lineage.parts import Text

ANSWER = Part(1, "answer", "the body")
LATER = Part(2, "request", "the body")


def test_the_longest_piece_is_shown_and_the_others_are_counted() -> None:
    evidence = Evidence()
    evidence.brought(Text(ANSWER, ("ORD-88123", "98231")), Held())
    assert evidence.match(Text(LATER, ("ORD-88123 98231",)))
    (edge,) = evidence.edges()
    assert (edge.span, edge.pieces) == ("ORD-88123", 2)


def test_an_edge_within_one_exchange_leads_from_the_request_to_the_answer_only() -> None:
    evidence = Evidence()
    evidence.add(ANSWER, Part(1, "answer", "the text"), "exact", "id", "x")
    assert evidence.edges() == []
    evidence.add(Part(1, "request", "a tool's result"), ANSWER, "exact", "id", "x")
    assert len(evidence.edges()) == 1


def test_a_near_edge_beside_an_exact_one_says_nothing_more() -> None:
    evidence = Evidence()
    evidence.add(ANSWER, LATER, "near", "words", "x")
    assert [edge.kind for edge in evidence.edges()] == ["near"]
    evidence.add(ANSWER, LATER, "exact", "id", "x")
    assert [edge.kind for edge in evidence.edges()] == ["exact"]


def test_what_a_request_holds_is_not_brought_by_its_answer() -> None:
    evidence, held = Evidence(), Held()
    held.add([Text(Part(1, "request", "the body"), ("ORD-88123",))])
    evidence.brought(Text(ANSWER, ("ORD-88123",)), held)
    assert not evidence.match(Text(LATER, ("ORD-88123",)))


def test_what_the_agent_had_before_is_not_brought_by_an_answer_that_names_it_too() -> None:
    evidence = Evidence()
    evidence.own(Text(Part(1, "request", "message 1"), ("ORD-88123",)))
    evidence.brought(Text(ANSWER, ("ORD-88123",)), Held())
    assert not evidence.match(Text(LATER, ("ORD-88123",)))
