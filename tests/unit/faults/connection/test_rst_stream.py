from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Reset, Send
from faultwire.faults.connection._places import AfterBytes
from faultwire.faults.connection.rst_stream import RstStream


def test_before_headers_nothing_goes_out(run, chat, dice):
    mutator = RstStream(code="REFUSED_STREAM").start(chat(), dice())
    assert run(mutator, chat(), [b"never"]) == [Reset(7)]
    assert mutator.effect == "stream reset (REFUSED_STREAM) before the headers"


def test_after_headers_no_byte_of_the_body_arrives(run, chat, dice):
    mutator = RstStream(at="after_headers").start(chat(), dice())
    assert run(mutator, chat(), [b"body"]) == [Reset(2)]
    assert mutator.effect == "stream reset (INTERNAL_ERROR) after the headers"
    assert run(RstStream(at="after_headers"), chat(), []) == [Reset(2)]


def test_after_bytes_counts_them_however_they_arrive(run, chat):
    out = run(RstStream(at=AfterBytes(after_bytes=4)), chat(), [b"01", b"2345"], "bytes")
    assert out == [Send(b"01"), Send(b"23"), Reset(2)]


def test_after_events_counts_events(run, chat, dice):
    mutator = RstStream(after_events=2, code="CANCEL").start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), [b"a", b"b", b"c", b"d"]) == [Send(b"a"), Send(b"b"), Reset(8)]
    assert mutator.effect == "stream reset (CANCEL) after 2 events"


@pytest.mark.parametrize("fault", [RstStream(at=AfterBytes(after_bytes=4)), RstStream(after_events=4)])
def test_what_is_shorter_is_left_alone(run, chat, dice, fault):
    mutator = fault.start(chat(), dice())
    assert run(mutator, chat(), [b"0123"], "body") == [Send(b"0123")]
    assert mutator.effect is None


def test_where_it_cannot_act(chat):
    over_http2 = replace(chat(), http2=True)
    assert "HTTP/1.1" in RstStream().inapplicable(chat())
    assert RstStream().inapplicable(over_http2) is None
    assert RstStream(after_events=2).inapplicable(over_http2) is not None, "it is no stream"
    assert RstStream(after_events=2).inapplicable(replace(chat(stream=True), http2=True)) is None


@pytest.mark.parametrize(
    ("fault", "last"),
    [(RstStream(), True), (RstStream(after_events=0), False), (RstStream(at="after_headers"), False)],
)
def test_only_a_reset_before_the_headers_is_the_last_word(fault, last):
    assert fault.final is last


def test_one_place_is_enough():
    with pytest.raises(ValidationError, match="expected one"):
        RstStream(at="after_headers", after_events=1)
