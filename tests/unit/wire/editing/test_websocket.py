"""Sessions of many responses: faultwire.wire.editing.websocket."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.wire.sockets import REALTIME

from faultwire.wire.editing import websocket


def test_what_asks_for_a_socket() -> None:
    assert websocket.upgrades(REALTIME)
    assert not websocket.upgrades(replace(REALTIME, method="POST"))
    assert not websocket.upgrades(replace(REALTIME, headers=()))


def test_a_message_is_one_event() -> None:
    messages = websocket.Messages()
    assert messages.feed(b"a\n\nb") == [b"a\n\nb"]
    assert messages.finish() == b""
