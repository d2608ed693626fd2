"""Lineage over the messages of WebSockets: between connections and calls, and within one connection."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from tests.unit.lineage.conftest import Wire

from faultwire.events import Delivery, Message, Request
from faultwire.lineage.messages import AUDIO, BINARY, passed
from faultwire.wire.openai.realtime import Realtime

REALTIME = Request(
    "GET", "https", "api.openai.com", 443, "/v1/realtime?model=gpt-realtime",
    (("connection", "Upgrade"), ("upgrade", "websocket")),
)  # fmt: skip
RESPONSES = Request("GET", "https", "api.openai.com", 443, "/v1/responses", REALTIME.headers)
PLAIN = Request("GET", "https", "feed.example", 443, "/feed", REALTIME.headers)
CALL = {"type": "function_call", "id": "item_1", "call_id": "call_1a2b3c4d", "name": "lookup"}
RESULT = {"type": "function_call_output", "call_id": "call_1a2b3c4d"}


def said(by: Literal["client", "server"], at_ms: float, document: Any, **about: Any) -> Message:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    values = {"kind": "text", "sent_ns": int(at_ms * 1e6), "delivered_ns": int(at_ms * 1e6), **about}
    return Message(by, data=data, **values)


def socket(wire: Wire, request: Request, *messages: Message, **about: Any) -> int:
    number = wire.add(request, b"", headers=(), messages=messages, **about)
    wire.exchanges[-1] = wire.exchanges[-1].__class__(
        **{name: getattr(wire.exchanges[-1], name) for name in wire.exchanges[-1].__slots__}
        | {"delivered": Delivery(101, "", (), b"")}
    )
    return number


def item(at_ms: float, item: dict[str, Any]) -> Message:
    return said("client", at_ms, {"type": "conversation.item.create", "item": item})


def done(at_ms: float, *output: dict[str, Any], name: str = "resp_1") -> Message:
    response = {"id": name, "status": "completed", "output": list(output)}
    return said("server", at_ms, {"type": "response.done", "response": response})


def added(at_ms: float, at: int, item: dict[str, Any]) -> Message:
    event = {"type": "response.output_item.done", "response_id": "resp_1", "output_index": at, "item": item}
    return said("server", at_ms, event)


MODEL = {"kind": "llm", "protocol": "realtime", "provider": "openai"}


def realtime(wire: Wire, result: str = "ORD-88123") -> None:
    """A call over the socket, carried out over HTTP, its result told to the socket."""
    call = CALL | {"arguments": json.dumps({"customer": "CUS-55512"})}
    order = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "My last order?"}]}
    socket(
        wire, REALTIME, item(1, order), said("client", 2, {"type": "response.create"}), added(3, 0, call),
        done(4, call), item(30, RESULT | {"output": json.dumps({"order": result})}), at=100, **MODEL,
    )  # fmt: skip
    wire.get("/orders?customer=CUS-55512", {"order": "ORD-88123"}, at=110, tool="lookup")


def test_a_call_over_a_socket_and_the_way_back_of_its_result(wire: Wire) -> None:
    realtime(wire)
    assert {edge[:2] for edge in wire.edges()} == {(1, 2), (2, 1), (1, 1)}
    there, back, within = wire.edge(1, 2), wire.edge(2, 1), wire.edge(1, 1)
    assert (there.source.message, there.source.until, there.target.message) == (3, 4, 0)
    assert there.source.text == "the call of `lookup` in WebSocket messages 3 to 4 of exchange 1"
    assert back.target.text == "the result of `lookup` in WebSocket message 5 of exchange 1"
    assert (within.what, within.span) == ("call id", "call_1a2b3c4d")
    assert back.as_json()["target"]["messages"] == [5, 5]
    assert wire.graph().reached(1) == {2}
    assert [node.unread for node in wire.graph().nodes] == [None, None]


def test_another_result_than_the_tools_has_no_edge_from_it(wire: Wire) -> None:
    realtime(wire, result="nothing of the kind")
    assert (2, 1) not in {edge[:2] for edge in wire.edges()}


def test_a_message_that_left_before_the_answer_came(wire: Wire) -> None:
    """The same bytes, but the agent had sent them before the tool answered: no edge, and they are its own."""
    order = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ORD-88123"}]}
    socket(wire, REALTIME, item(1, order), at=100, **MODEL)
    wire.get("/orders/last", {"order": "ORD-88123"}, at=110)
    wire.get("/refunds/ORD-88123", {}, at=130)
    assert wire.edges() == []


def test_an_earlier_answer_that_a_message_names(wire: Wire) -> None:
    first = {"type": "response.create", "model": "gpt-5-mini", "input": "What is new?"}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Nothing."}]}
    response = {"id": "resp_7f8a9b0c1d", "status": "completed", "output": [text]}
    end = said("server", 5, {"type": "response.completed", "response": response})
    again = {**first, "input": "And now?", "previous_response_id": "resp_7f8a9b0c1d"}
    about = {"kind": "llm", "protocol": "responses_socket", "provider": "openai"}
    socket(wire, RESPONSES, said("client", 1, first), end, said("client", 20, again), **about)
    edge = wire.edge(1, 1)
    assert edge.sentence == (
        "id `resp_7f8a9b0c1d` of the id of the answer in WebSocket message 2 of exchange 1 is in "
        "the id of an earlier answer in WebSocket message 3 of exchange 1"
    )
    other = Wire()
    foreign = said("client", 20, {**again, "previous_response_id": "resp_another1d"})
    socket(other, RESPONSES, said("client", 1, first), end, foreign, **about)
    assert other.edges() == []


def test_messages_of_a_socket_that_no_protocol_knows(wire: Wire) -> None:
    news = said("server", 5, {"ticket": "TCK-90210"})
    socket(wire, PLAIN, said("client", 1, {"subscribe": "tickets"}), news, at=100)
    wire.get("/tickets/TCK-90210", {}, at=120)
    edge = wire.edge(1, 2)
    assert edge.source.text == "the text in WebSocket message 2 of exchange 1"


def test_an_echo_within_a_millisecond_comes_from_who_speaks(wire: Wire) -> None:
    spoken = {"ticket": "TCK-90210"}
    socket(wire, PLAIN, said("client", 1.1, spoken), said("server", 1.2, spoken), at=100)
    wire.get("/tickets/TCK-90210", {}, at=120)
    assert wire.edges() == []


def test_what_a_socket_gives_back_does_not_come_from_it(wire: Wire) -> None:
    """An earlier call brought the value; the socket got it in one message and echoes it in a later one."""
    wire.get("/tickets", {"ticket": "TCK-90210"}, at=50)
    spoken = {"ticket": "TCK-90210"}
    socket(wire, PLAIN, said("client", 1, spoken), said("client", 3, {}), said("server", 5, spoken), at=100)
    wire.get("/tickets/TCK-90210", {}, at=120)
    assert {edge[:2] for edge in wire.edges()} == {(1, 2), (1, 3)}


@pytest.mark.parametrize("lost", ["sent_ns", "delivered_ns"])
def test_what_the_agent_neither_sent_nor_got(wire: Wire, lost: str) -> None:
    """A message that was lost on its way to the agent brought nothing; what a fault made, the agent got."""
    socket(wire, PLAIN, said("server", 5, {"ticket": "TCK-90210"}, **{lost: None}), at=100)
    wire.get("/tickets/TCK-90210", {}, at=120)
    assert len(wire.edges()) == (lost == "sent_ns")
    made = Wire()
    socket(made, PLAIN, said("server", 5, {"ticket": "TCK-90210"}),
           said("client", 9, {"ticket": "TCK-90210"}, **{lost: None}), at=100)  # fmt: skip
    assert len(made.edges()) == (lost == "delivered_ns")


def test_binary_messages_and_audio_are_named_as_not_looked_at(wire: Wire) -> None:
    sound = said("client", 1, {"type": "input_audio_buffer.append", "audio": "AAAA"})
    socket(wire, REALTIME, sound, **MODEL)
    socket(wire, PLAIN, said("server", 1, b"\x00\x01", kind="binary"))
    socket(wire, PLAIN, said("server", 1, {"plain": "text"}))
    assert [node.unread for node in wire.graph().nodes] == [AUDIO, BINARY, None]


def test_an_answer_that_broke_off(wire: Wire) -> None:
    """Without its closing event, what came of it counts; later responses are answers of their own."""
    assert Realtime().socket
    call = CALL | {"arguments": json.dumps({"customer": "CUS-55512"})}
    other = CALL | {"call_id": "call_2", "arguments": json.dumps({"customer": "CUS-66613"})}
    socket(wire, REALTIME, added(1, 0, call), done(2, call), added(3, 0, other), **MODEL)
    found, unread = passed(wire.exchanges[0])
    parts = [(text.part.message, text.part.until) for one in found for text in one.texts]
    assert unread is None
    assert (1, 2) in parts
    assert parts[-1] == (3, 3)
    assert [text.call.id for text in found[-1].texts if text.call] == ["call_2"]
