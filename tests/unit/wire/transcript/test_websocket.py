"""What a session comes to: faultwire.wire.transcript.websocket."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.wire.sockets import TEXT, message_item, response

from faultwire import wire
from faultwire.events import Message
from faultwire.wire.transcript import websocket

REALTIME = wire.protocol("realtime")
SAID = [Message("server", "text", data, 1_000_000, 5_000_000) for data in response(message_item())]


def test_the_last_answer_as_it_was_said_and_as_it_was_delivered() -> None:
    assert websocket.answered(REALTIME, SAID, delivered=True).text == TEXT
    lost = [replace(message, delivered_ns=None) for message in SAID]
    assert websocket.answered(REALTIME, lost, delivered=True).text == ""
    assert websocket.answered(REALTIME, lost, delivered=False).text == TEXT


def test_the_first_words_are_timed_from_the_agent_s_message() -> None:
    asked = Message("client", "text", b'{"type": "response.create"}', 2_000_000, 2_000_000)
    assert websocket.first_ms(REALTIME, [asked, *SAID]) == 3.0
    assert websocket.first_ms(REALTIME, [asked]) is None
