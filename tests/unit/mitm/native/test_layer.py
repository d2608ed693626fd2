"""One client's connection, its requests one after the other: faultwire.mitm.native.layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faultwire.mitm.native import layer

if TYPE_CHECKING:
    from .conftest import Rig  # noqa: TID252

GET = b"GET /a HTTP/1.1\r\nhost:api.example.com\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


def test_a_request_and_its_answer_pass(rig: Rig) -> None:
    rig.say(GET)
    assert rig.server.address == ("api.example.com", 80)
    rig.connect()
    assert rig.asked() == b"GET /a HTTP/1.1\r\nhost: api.example.com\r\n\r\n"
    assert rig.delivered() == b""
    rig.answer(OK)
    assert rig.delivered() == OK
    rig.say(GET)
    assert rig.asked() == b"GET /a HTTP/1.1\r\nhost: api.example.com\r\n\r\n", "on the same connection"
    assert len(rig.handler.asked) == 1
    assert rig.session.exchanges == 1
    assert not rig.handler.closed


def test_a_pipelined_request_waits_for_the_answer_before_it(rig: Rig) -> None:
    rig.say(GET + GET.replace(b"/a", b"/b"))
    rig.connect()
    assert rig.asked().count(b"GET") == 1
    rig.answer(OK)
    assert rig.asked().startswith(b"GET /b")


def test_who_sends_much_ahead_is_not_read_from_until_it_is_answered(rig: Rig) -> None:
    later = b"POST /b HTTP/1.1\r\nhost: api.example.com\r\ncontent-length: %d\r\n\r\n" % (2 * layer.BEHIND)
    rig.say(GET + later + bytes(2 * layer.BEHIND))
    rig.connect()
    assert rig.handler.held == {rig.client}
    rig.answer(OK)
    assert not rig.handler.held
    assert len(rig.asked()) > 2 * layer.BEHIND


@pytest.mark.parametrize(
    ("head", "status", "words"),
    [
        (b"GET / HTTP/1.1\r\nhost: a\r\n b\r\n\r\n", 400, b"folded"),
        (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx", 400, b"several"),
        (b"CONNECT b:443 HTTP/1.1\r\nhost: b\r\n\r\n", 400, b"tunnel"),
        (b"GET ftp://b/ HTTP/1.1\r\nhost: b\r\n\r\n", 400, b"target cannot be read"),
        (b"GET ftp://b:21/ HTTP/1.1\r\nhost: b\r\n\r\n", 400, b"scheme"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx: " + bytes(70_000).replace(b"\0", b"y"), 431, b"64 KiB"),
    ],
)
def test_what_cannot_be_read_is_refused_and_ends_the_connection(
    rig: Rig, head: bytes, status: int, words: bytes
) -> None:
    rig.say(head)
    got = rig.delivered()
    assert got.startswith(b"HTTP/1.1 %d " % status)
    assert words in got
    assert rig.handler.closed == [rig.client]
    assert rig.session.malformed == 1
    assert not rig.handler.asked, "nobody was called"


def test_an_answer_that_says_so_ends_the_connection(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi")
    assert rig.delivered().endswith(b"\r\n\r\nhi")
    assert set(rig.handler.closed) == {rig.server, rig.client}


def test_a_client_that_leaves_takes_its_call_with_it(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.end(rig.client)
    assert rig.server in rig.handler.closed
    assert rig.session.exchanges == 1
    assert rig.gateway.live == 0


def test_a_request_that_is_cut_short_is_none_of_the_server_s(rig: Rig) -> None:
    rig.say(b"POST / HTTP/1.1\r\nhost: api.example.com\r\ncontent-length: 9\r\n\r\nhalf")
    rig.connect()
    rig.end(rig.client)
    assert rig.delivered() == b""
    assert set(rig.handler.closed) == {rig.server, rig.client}
