from __future__ import annotations

import json

import pytest

from faultwire.events import Send
from faultwire.faults.stream.malformed_event import MalformedEvent
from faultwire.wire.framing import sse


def sends(actions):
    return [action.data for action in actions if isinstance(action, Send)]


def test_one_events_data_is_cut_and_its_frame_kept(run, chat, text_stream, dice):
    mutator = MalformedEvent(at=2).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), text_stream))
    assert out[:1] + out[2:] == text_stream[:1] + text_stream[2:]
    assert out[1].startswith(b"data: {")
    assert out[1].endswith(b"\n\n")
    with pytest.raises(json.JSONDecodeError):
        json.loads(sse.fields(out[1]).data)
    assert mutator.effect == "event 2 cut in half"


def test_a_named_event_keeps_its_name(run, chat, dice):
    event = b'event: ping\ndata: {"type":"ping"}\n\n'
    out = sends(run(MalformedEvent(at=1).start(chat(stream=True), dice()), chat(stream=True), [event]))
    assert out == [b'event: ping\ndata: {"type"\n\n']


def test_what_has_no_data_is_left_alone(run, chat, dice):
    mutator = MalformedEvent(share=1).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), [b": x\n\n", b"data:\n\n"])) == [b": x\n\n", b"data:\n\n"]
    assert mutator.effect is None


def test_a_line_of_json_is_cut_and_stays_a_line(run, chat, dice):
    mutator = MalformedEvent(at=2).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), [b'{"a":1}\n', b'{"b":234}\n']))
    assert out == [b'{"a":1}\n', b'{"b":\n']
