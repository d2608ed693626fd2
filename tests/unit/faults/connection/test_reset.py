from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Reset as Abort, Response, Send
from faultwire.faults.connection._places import AfterBytes
from faultwire.faults.connection.reset import Reset


def test_before_headers_nothing_goes_out(run, chat, dice):
    mutator = Reset().start(chat(), dice())
    assert run(mutator, chat(), [b"never"]) == [Abort()]
    assert mutator.effect == "connection reset before the headers"


@pytest.mark.parametrize(
    ("at", "place"), [("before_headers", "before the headers"), ("after_headers", "after the headers")]
)
def test_over_http_2_no_connection_is_reported_as_reset(run, chat, dice, at, place):
    over_http2 = replace(chat(), http2=True)
    mutator = Reset(at=at).start(over_http2, dice())
    run(mutator, over_http2, [b"body"])
    assert mutator.effect == f"HTTP/2 stream reset {place}"


def test_decided_on_the_response_it_still_comes_before_the_headers(chat, dice):
    mutator = Reset().start(chat(response=Response(200)), dice())
    assert list(mutator.before()) == [Abort()]
    assert mutator.effect == "connection reset before the headers"


def test_after_headers_no_byte_of_the_body_arrives(run, chat, dice):
    mutator = Reset(at="after_headers").start(chat(), dice())
    assert list(mutator.before()) == []
    assert mutator.effect is None
    assert run(mutator, chat(), [b"body"]) == [Abort()]
    assert mutator.effect == "connection reset after the headers"


def test_after_headers_works_without_a_body(run, chat):
    assert run(Reset(at="after_headers"), chat(), []) == [Abort()]


@pytest.mark.parametrize(
    "pieces", [[b"0123456789"], [b"012", b"3456789"], [b"01", b"23", b"4", b"5"], [b"0123", b"4"]]
)
def test_after_bytes_counts_bytes_however_they_arrive(run, chat, pieces):
    out = run(Reset(at=AfterBytes(after_bytes=4)), chat(), pieces, "bytes")
    assert b"".join(a.data for a in out if isinstance(a, Send)) == b"0123"
    assert out[-1] == Abort()


def test_a_shorter_body_is_left_alone(run, chat, dice):
    mutator = Reset(at=AfterBytes(after_bytes=4)).start(chat(), dice())
    assert run(mutator, chat(), [b"0123"], "body") == [Send(b"0123")]
    assert mutator.effect is None


@pytest.mark.parametrize("at", ["during", {"after_bytes": 0}, {"after_bytes": -1}, {}, 5])
def test_other_places_are_refused(at):
    with pytest.raises(ValidationError):
        Reset(at=at)
