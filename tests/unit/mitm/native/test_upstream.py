"""The server's side of a native connection: faultwire.mitm.native.upstream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mitmproxy.proxy import events

from faultwire.mitm.native import upstream

if TYPE_CHECKING:
    from .conftest import Rig  # noqa: TID252

GET = b"GET /a HTTP/1.1\r\nhost: api.example.com\r\n\r\n"


def test_who_is_not_reached_is_named(rig: Rig) -> None:
    rig.say(GET)
    rig.connect("no route")
    assert b"`api.example.com` was not reached: no route" in rig.delivered()
    assert rig.handler.closed == [rig.client], "the answer says that nothing follows"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", b"server closed connection"),
        (b"HTTP/1.1 2", b"unexpected server response"),
        (b"HTTP/1.1 200 OK\r\nx: \0\r\n\r\n", b"the response head is malformed: a field value holds"),
        (b"HTTP/1.1 200 OK\nx: y\r\n\r\n", b"the response head is malformed: a line ends"),
    ],
)
def test_a_server_that_gives_no_answer_is_named(rig: Rig, said: bytes, words: bytes) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(said)
    rig.end(rig.server)
    got = rig.delivered()
    assert got.startswith(b"HTTP/1.1 502 ")
    assert words in got


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\n0\r\n\r\n",
    ],
)
def test_a_body_that_breaks_off_does_so_for_the_client(rig: Rig, said: bytes) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(said)
    rig.end(rig.server)
    got = rig.delivered()
    assert got.endswith((b"half", b"half\r\n"))
    assert rig.client in rig.handler.closed


def test_a_body_that_the_end_of_the_connection_ends(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(b"HTTP/1.0 200 OK\r\n\r\nall of it")
    rig.end(rig.server)
    assert rig.delivered() == b"HTTP/1.0 200 OK\r\n\r\nall of it"
    assert rig.client in rig.handler.closed


def test_interim_answers_are_dropped(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
    assert rig.delivered() == b"HTTP/1.1 204 No Content\r\n\r\n"


def test_a_server_that_speaks_out_of_turn_is_asked_nothing_more(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    assert rig.server in rig.handler.closed
    rig.say(GET)
    assert len(rig.handler.asked) == 2


def test_a_request_counts_as_written_once(rig: Rig) -> None:
    rig.say(GET)
    rig.connect()
    rig.answer(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert (rig.session.requests_written, rig.session.requests_recorded) == (1, 1)


def test_there_is_no_connection_before_one_is_wanted(rig: Rig) -> None:
    assert isinstance(rig.layer.upstream, upstream.Upstream)
    assert rig.layer.upstream.server is None


TWO_ANSWERS = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi" * 2


@pytest.mark.parametrize("size", [len(TWO_ANSWERS), len(TWO_ANSWERS) // 2 + 1])
def test_an_answer_that_came_before_its_request_is_none(rig: Rig, size: int) -> None:
    """The second of two pipelined requests goes to another connection, and waits for what is said there."""
    ask = b"GET /a HTTP/1.1\r\nhost: api.example.com\r\n\r\n"
    rig.say(ask + ask.replace(b"/a", b"/b"))
    rig.connect()
    first = rig.server
    assert rig.asked().count(b"GET") == 1
    rig.layer.handle_event(events.DataReceived(first, TWO_ANSWERS[:size]))
    assert rig.delivered().count(b"200 OK") == 1
    assert rig.handler.closed == [first]
    assert len(rig.handler.asked) == 2
    rig.connect()
    assert rig.asked().startswith(b"GET /b "), "it is asked there"
    assert rig.delivered() == b""
    rig.answer(TWO_ANSWERS[: len(TWO_ANSWERS) // 2])
    assert rig.delivered().count(b"200 OK") == 1
