"""Framing towards one peer (`faultwire.mitm.compat.websocket`), against the parser's other role."""

from __future__ import annotations

from typing import Any

import pytest
from mitmproxy.connection import Client
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, TextMessage

from faultwire.mitm.compat import websocket
from faultwire.mitm.compat.websocket import ABNORMAL, NO_STATUS, Closed, Control, Peer, ReceivedMessage


def connection() -> Client:
    return Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))


class Talk:
    """A client, and the peer that stands for it in the proxy."""

    def __init__(self, extensions: str = "") -> None:
        self.peer = Peer(connection(), extensions, is_server=False)
        client = Peer(connection(), extensions, is_server=True)
        self.client: Connection = client._wire

    def receive(self, data: bytes) -> list[Any]:
        return list(self.peer.receive(data))

    def told(self, data: bytes) -> list[Any]:
        self.client.receive_data(data)
        return list(self.client.events())


@pytest.mark.parametrize("extensions", ["", "permessage-deflate; client_max_window_bits=12"])
def test_messages_come_whole_and_leave_in_their_fragments(extensions: str) -> None:
    talk = Talk(extensions)
    frames = talk.client.send(TextMessage("in ", message_finished=False)) + talk.client.send(
        TextMessage("pieces ż", message_finished=True)
    )
    found = [said for at in range(len(frames)) for said in talk.receive(frames[at : at + 1])]
    assert [(heard.data, heard.text) for heard in found] == [("in pieces ż".encode(), True)]
    (heard,) = found
    sent = talk.told(talk.peer.message(heard.data, text=True, sizes=heard.sizes))
    assert "".join(event.data for event in sent) == "in pieces ż"
    if not extensions:  # a packer keeps what it likes until the last fragment
        assert [event.data for event in sent] == ["in ", "pieces ż"]
    assert [event.message_finished for event in sent] == [False, True]


def test_what_was_changed_leaves_in_one_piece_and_may_go_on() -> None:
    talk = Talk()
    events = talk.told(talk.peer.message(b"ab", text=False, sizes=(1, 5), more=True))
    events += talk.told(talk.peer.message(b"c", text=False))
    assert [(event.data, event.message_finished) for event in events] == [(b"ab", False), (b"c", True)]
    assert isinstance(events[0], BytesMessage)


def test_an_empty_message_is_one() -> None:
    talk = Talk()
    assert talk.receive(talk.client.send(TextMessage(""))) == [ReceivedMessage(b"", True, (0,))]
    (event,) = talk.told(talk.peer.message(b"", text=True))
    assert isinstance(event, Message)


def test_text_may_be_made_invalid() -> None:
    talk = Talk()
    frames = talk.peer.message("ż".encode()[:1], text=True)
    assert frames == b"\x81\x01\xc5"


def test_controls_pass_between_fragments() -> None:
    talk = Talk()
    data = talk.client.send(TextMessage("a", message_finished=False)) + talk.client.send(Ping(b"p"))
    assert talk.receive(data) == [Control(b"p", pong=False)]
    assert talk.told(talk.peer.control(Control(b"q", pong=True)))[0].payload == b"q"


@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (4999, "ż"), (NO_STATUS, "")])
def test_a_close_passes_as_it_is(code: int, reason: str) -> None:
    talk = Talk()
    said = None if code == NO_STATUS else code
    frame = talk.client.send(CloseConnection(code=said, reason=reason or None))  # type: ignore[arg-type]
    assert talk.receive(frame) == [Closed(code, reason, "frame")]
    assert not talk.peer.open
    assert talk.peer.may_close
    (event,) = talk.told(talk.peer.close(code, reason))
    assert (int(event.code), event.reason or "") == (code, reason)
    assert talk.peer.done
    assert talk.receive(b"more") == []


def test_a_peer_that_breaks_the_protocol_is_distinguished() -> None:
    talk = Talk()
    (closed,) = talk.receive(b"\xff\xff\xff\xff")  # an opcode that there is not
    assert closed.how == "broken"
    assert closed.code not in (NO_STATUS, ABNORMAL)


def test_a_message_that_grows_too_long_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "MOST", 10)
    talk = Talk()
    assert talk.receive(talk.client.send(TextMessage("x" * 10)))[0] == ReceivedMessage(b"x" * 10, True, (10,))
    piece = talk.client.send(BytesMessage(b"y" * 6, message_finished=False))
    assert talk.receive(piece) == []
    rest = talk.client.send(BytesMessage(b"y" * 6, message_finished=False))
    assert talk.receive(rest) == [Closed(1009, "a message is longer than 32 MiB", "broken")]


def test_an_extension_that_nobody_knows_is_left_alone() -> None:
    talk = Talk("x-unknown; a=1")
    assert talk.receive(talk.client.send(TextMessage("a"))) == [ReceivedMessage(b"a", True, (1,))]
