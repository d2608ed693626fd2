"""Which bytes reached which later call; and each edge in a case where there is none."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.unit.lineage.conftest import Wire, call, said

from faultwire.events import FaultFired, Request
from faultwire.lineage.model import OUTPUT
from faultwire.lineage.trace import label

USER = {"role": "user", "content": "Refund the last order of Ada Lovelace"}
SYSTEM = {
    "role": "system",
    "content": "You are a careful helper of order 7731-A9. Never refund an order twice.",
}
ORDER = {"order": "ORD-88123", "amount": 1299.5, "note": "left at the back door of the blue house"}


def test_an_id_that_an_answer_brought_is_in_a_later_address(wire: Wire) -> None:
    wire.get("/orders/last", ORDER)
    wire.get("/refunds/ORD-88123", {"ok": True})
    edge = wire.edge(1, 2)
    assert edge.sentence == (
        "id `ORD-88123` of the body in the answer of exchange 1 is in "
        "the address in the request of exchange 2"
    )
    assert wire.graph().reached(1) == {2}


def test_what_the_agent_said_itself_before_is_no_lineage(wire: Wire) -> None:
    """The same bytes, but the agent had them from the start: its own address names the order."""
    wire.get("/orders/ORD-88123", ORDER)
    wire.get("/refunds/ORD-88123", {"ok": True})
    assert wire.edges() == []
    assert wire.graph().reached(1) == frozenset()


def test_an_answer_that_came_too_late_brought_nothing(wire: Wire) -> None:
    wire.get("/orders/last", ORDER, at=100)
    wire.get("/refunds/ORD-88123", {"ok": True}, at=101)
    assert wire.edges() == []


def test_an_echo_does_not_come_from_who_echoes(wire: Wire) -> None:
    wire.get("/orders/last", ORDER)
    wire.get("/refunds/ORD-88123", {"refunded": "ORD-88123", "receipt": "RCP-55511"})
    wire.get("/mails/ORD-88123", {"ok": True})
    assert wire.edges() == [(1, 2, "exact"), (1, 3, "exact")]


def test_common_values_are_no_evidence(wire: Wire) -> None:
    """Words, states, small and round numbers, years and dates stand everywhere."""
    common = {"status": "confirmed", "code": 200, "year": 2024, "limit": 5000, "at": "2024-05-01", "ok": True}
    wire.get("/a", common)
    wire.get("/b?status=confirmed&code=200&year=2024&limit=5000&at=2024-05-01", {})
    assert wire.edges() == []


def test_a_value_that_several_answers_brought_names_the_others(wire: Wire) -> None:
    for path in ("/a", "/b"):
        wire.get(path, {"price": 1299.5})
    wire.get("/buy?price=1299.5", {})
    assert wire.edge(1, 3).others == 1
    assert wire.edge(2, 3).sentence.endswith("; 1 other source brought it, too")
    wire = Wire()
    for at in range(5):
        wire.get(f"/{at}", {"price": 1299.5})
    wire.get("/buy?price=1299.5", {})
    assert wire.edges() == [(1, 6, "exact")], "what all bring tells none apart"


def test_a_call_of_the_model_is_carried_out_and_its_result_comes_back(wire: Wire) -> None:
    first = said(None, call("weather", "call_1a2b3c4d", city="Paris"))
    wire.ask([{"role": "user", "content": "Weather in Paris?"}], first)
    wire.get("/weather?city=Paris", {"t": 21}, tool="weather")
    result = {"role": "tool", "tool_call_id": "call_1a2b3c4d", "content": '{"t":21}'}
    wire.ask([{"role": "user", "content": "Weather in Paris?"}, first, result], said("21 degrees."))
    assert wire.edge(1, 2).what == "call"
    assert wire.edge(2, 3).what == "text"
    assert wire.edge(2, 3).target.name == "the result of `weather`"
    kinds = {(e.source.exchange, e.target.exchange, e.what) for e in wire.graph().edges}
    assert (1, 3, "call id") in kinds
    assert (1, 3, "turn") in kinds


def test_a_request_without_the_arguments_carries_no_call_out(wire: Wire) -> None:
    wire.ask([USER], said(None, call("weather", "call_1a2b3c4d", city="Paris")))
    wire.get("/weather?city=London", {"t": 21}, tool="weather")
    wire.get("/news?city=Paris", {"t": 21}, tool="news")
    assert wire.edges() == []


def test_a_result_of_a_tool_inside_the_agent_reaches_the_next_call(wire: Wire) -> None:
    first = said(None, call("lookup", "call_1a2b3c4d", q="Ada"))
    wire.ask([SYSTEM, USER], first)
    result = {"role": "tool", "tool_call_id": "call_1a2b3c4d", "content": json.dumps(ORDER)}
    wire.ask([SYSTEM, USER, first, result], said(None, call("refund", "call_9f8e7d6c", order="ORD-88123")))
    inside = wire.edge(2, 2)
    assert (inside.source.name, inside.target.name) == ("the result of `lookup`", "the call of `refund`")


def test_history_is_an_edge_of_its_own_and_grows_with_the_conversation_only(wire: Wire) -> None:
    """Ten turns: an edge for each answer and each result, not one for each pair of exchanges; the system
    prompt and the question, in all of them, are no edge."""
    messages = [SYSTEM, USER]
    for turn in range(10):
        answer = said(f"This is thought number {turn} about the order.")
        wire.ask(messages, answer)
        messages = [*messages, answer, {"role": "user", "content": f"Go on, please, step {turn}"}]
    edges = wire.graph().edges
    assert {edge.kind for edge in edges} == {"history"}
    assert len(edges) == 9
    assert edges[0].later == tuple(range(3, 11))
    assert (
        edges[0].sentence == "the text in the answer of exchange 1 is repeated in exchange 2 and 8 later ones"
    )


def test_independent_questions_with_one_system_prompt_have_no_lineage(wire: Wire) -> None:
    for at in range(6):
        wire.ask([SYSTEM, {"role": "user", "content": f"Question {at}"}], said(f"Answer {at} is short."))
    assert wire.edges() == []


def test_a_sentence_of_the_model_in_the_next_prompt(wire: Wire) -> None:
    """The agent puts an answer into another prompt: no history, but its bytes."""
    wire.ask([USER], said("Rivers flow downhill."))
    wire.ask([{"role": "user", "content": "Translate: Rivers flow downhill. To French."}], said("Oui."))
    assert wire.edge(1, 2).what == "quoted value"
    other = Wire()
    other.ask([USER], said("Rivers flow downhill."))
    other.ask([{"role": "user", "content": "Translate: Rivers flow uphill. To French."}], said("Oui."))
    assert other.edges() == []


LONG = (
    "The warehouse in Rotterdam shipped the parcel on Monday morning, and the driver left it with a "
    "neighbour who signed for it with a red pen. Nobody at the door had seen the second box of it."
)


def test_words_in_a_row_are_exact_and_the_same_words_written_otherwise_are_near(wire: Wire) -> None:
    wire.get("/report", {"text": LONG})
    quoted = f"They say: {LONG[:104]}! Is it true?"
    wire.ask([{"role": "user", "content": quoted}], said("Yes."))
    assert wire.edge(1, 2).what == "words"
    assert wire.edge(1, 2).span in LONG
    other = Wire()
    other.get("/report", {"text": LONG})
    shouted = "They say: " + LONG.upper().replace(",", " -")
    other.ask([{"role": "user", "content": shouted}], said("Yes."))
    assert [edge for edge in other.edges() if edge[:2] == (1, 2)] == [(1, 2, "near")]


def test_a_phrase_of_the_language_is_no_overlap(wire: Wire) -> None:
    wire.get("/report", {"text": LONG})
    wire.ask(
        [{"role": "user", "content": "who signed for it with a blue pen at the other house"}], said("No.")
    )
    assert wire.edges() == []


def test_a_canary_that_came_back_as_the_ledger_states(wire: Wire) -> None:
    wire.get("/report", {"text": "fine"})
    wire.get("/collect", {})
    line = FaultFired(
        "indirect_injection", "evil", "result", "returned",
        "the canary of exchange 1 is in the body of a request to `tools.example`", "k", 0, 0,
        effect="canary `fwc0123456789ab` came back",
    )  # fmt: skip
    wire.exchanges[1] = replace(wire.exchanges[1], faults=(line,))
    assert wire.edge(1, 2, "canary").span == "fwc0123456789ab"
    wire.exchanges[1] = replace(wire.exchanges[1], faults=(replace(line, outcome="fired"),))
    assert wire.edges() == []


def test_the_agents_output(wire: Wire) -> None:
    wire.get("/orders/last", ORDER)
    assert wire.edge(1, OUTPUT, output="Refunded ORD-88123.").sentence.endswith("is in the agent's output")
    assert wire.edges(output="Refunded ORD-99999.") == []


def test_what_could_not_be_read_is_unknown(wire: Wire) -> None:
    wire.get("/packed", b"\x00", headers=(("content-encoding", "unheard-of"),))
    wire.get("/plain", {"a": 1})
    packed, plain = wire.graph().nodes
    assert packed.unread == "a content coding could not be undone"
    assert plain.unread is None
    assert [node.number for node in wire.graph().unread()] == [1]


def test_what_an_exchange_is_called(wire: Wire) -> None:
    wire.get("/orders/last?x=1", ORDER)
    assert label(wire.exchanges[0]) == "GET /orders/last"
    assert label(replace(wire.exchanges[0], tool="orders")) == "orders"


def test_a_form_and_a_stream_are_read(wire: Wire) -> None:
    stream = b'data: {"order": "ORD-88123"}\n\ndata: [DONE]\n\n'
    wire.get("/stream", stream, headers=(("content-type", "text/event-stream"),))
    form = (("content-type", "application/x-www-form-urlencoded"),)
    wire.add(Request("POST", "https", "tools.example", 443, "/refund", form, b"id=ORD-88123&n=1"), b"{}")
    assert wire.edge(1, 2).target.name == "the body"
