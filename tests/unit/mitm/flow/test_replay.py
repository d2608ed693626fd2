"""Recorded answers as the events of a server."""

from __future__ import annotations

from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.test.tutils import treq

from faultwire.mitm.flow.replay import Pacing, head, replayed_events
from faultwire.replay.answer import Answer

CHUNKS = ((b"data: 1\n\n", 10), (b"data: 2\n\n", 20))


def answer(**changes: object) -> Answer:
    values: dict[str, object] = {
        "status": 200,
        "reason": "OK",
        "headers": (("content-type", "text/event-stream"), ("transfer-encoding", "chunked")),
        "chunks": CHUNKS,
        "trailers": (),
        "ends": "complete",
        "ended_ns": 30,
    }
    return Answer(**{**values, **changes})  # type: ignore[arg-type]


def test_pieces_come_with_their_instants() -> None:
    found = list(replayed_events(answer(trailers=(("grpc-status", "0"),)), 1, treq()))
    assert [(at, type(event)) for at, event in found] == [
        (10, ResponseHeaders),
        (10, ResponseData),
        (20, ResponseData),
        (30, ResponseTrailers),
        (30, ResponseEndOfMessage),
    ]


def test_a_lost_answer_is_lost_again() -> None:
    found = [type(event) for _, event in replayed_events(answer(ends="aborted"), 1, treq())]
    assert found == [ResponseHeaders, ResponseData, ResponseData, ResponseProtocolError]
    assert [
        type(event) for _, event in replayed_events(answer(status=0, chunks=(), ends="aborted"), 1, treq())
    ] == [ResponseProtocolError]


def test_an_answer_to_head_has_no_body_and_keeps_its_length() -> None:
    request = treq(method=b"HEAD")
    headers = (("content-length", "9"),)
    events = [event for _, event in replayed_events(answer(headers=headers), 1, request)]
    assert [type(event) for event in events] == [ResponseHeaders, ResponseEndOfMessage]
    assert events[0].response.headers["content-length"] == "9"


def test_a_stated_length_is_the_one_that_the_body_has() -> None:
    made = head(answer(headers=(("content-length", "3"),)), treq(), bare=False)
    assert made.headers["content-length"] == "18"
    cut = head(answer(headers=(("content-length", "99"),), ends="aborted"), treq(), bare=False)
    assert cut.headers["content-length"] == "99"


def test_framing_is_that_of_the_client() -> None:
    assert head(answer(headers=()), treq(), bare=False).headers["transfer-encoding"] == "chunked"
    two = treq()
    two.http_version = "HTTP/2.0"
    assert "transfer-encoding" not in head(answer(), two, bare=False).headers


def test_a_socket_is_accepted_with_the_nonce_of_this_client() -> None:
    request = treq()
    request.headers["sec-websocket-key"] = "dGhlIHNhbXBsZSBub25jZQ=="  # the example of RFC 6455 §1.3
    made = head(
        answer(status=101, headers=(("sec-websocket-accept", "old"),), chunks=()), request, bare=False
    )
    assert made.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_pacing_waits_as_long_as_it_took() -> None:
    assert Pacing(0).seconds(10**12) == 0
    assert 99 < Pacing(0.1).seconds(10**12) <= 100
