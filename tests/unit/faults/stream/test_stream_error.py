from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Send
from faultwire.faults.stream.stream_error import StreamError
from faultwire.wire import protocol
from faultwire.wire.framing import sse


def test_openais_error_comes_after_so_many_events(run, chat, text_stream, dice):
    mutator = StreamError(after_events=2, message="no more").start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), text_stream)
    assert out[:2] == [*map(Send, text_stream[:2])]
    assert out[3:] == [Cut(clean=True)]
    reader = protocol("openai_chat").reader()
    reader.feed(out[2].data)
    assert reader.view().error == "no more"
    assert mutator.effect == "error event after 2 events"


def test_anthropics_error_has_its_name(run, anthropic, dice):
    mutator = StreamError(after_events=0).start(anthropic, dice())
    out = run(mutator, anthropic, [b"event: ping\ndata: {}\n\n"])
    fields = sse.fields(out[0].data)
    assert fields.name == "error"
    assert b"overloaded_error" in fields.data


def test_the_error_of_responses_counts_on_from_the_events_before_it(run, chat, dice):
    exchange = replace(chat(stream=True), protocol="openai_responses")
    events = [sse.write(b'{"type":"response.created","sequence_number":%d}' % n) for n in range(4)]
    out = run(StreamError(after_events=2).start(exchange, dice()), exchange, events)
    last = json.loads(sse.fields(out[2].data).data)
    assert (last["type"], last["sequence_number"]) == ("error", 2)
    assert last["error"]["type"] == "server_error"


def test_a_short_stream_fails_before_it_ends(run, chat, text_stream, dice):
    out = run(StreamError(after_events=500).start(chat(stream=True), dice()), chat(stream=True), text_stream)
    assert out[:-2] == [*map(Send, text_stream[:-1])]
    assert isinstance(out[-2], Send)
    assert out[-1] == Cut(clean=True)


def test_where_it_cannot_act(chat):
    assert StreamError().inapplicable(chat(stream=False)) == "the request asks for no stream"
    unknown = replace(chat(stream=True), protocol=None)
    assert StreamError().inapplicable(unknown) == "the exchange speaks no known model protocol"
    with pytest.raises(ValidationError):
        StreamError(type="other")
