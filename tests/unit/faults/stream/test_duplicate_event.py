from __future__ import annotations

from faultwire.events import Send
from faultwire.faults.stream.duplicate_event import DuplicateEvent


def sends(actions):
    return [action.data for action in actions if isinstance(action, Send)]


def test_the_event_comes_twice(run, chat, text_stream, dice):
    mutator = DuplicateEvent(at=2).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), text_stream))
    assert out == [text_stream[0], text_stream[1], *text_stream[1:]]
    assert mutator.effect == "event 2 sent twice"


def test_each_may(run, chat, text_stream, dice):
    mutator = DuplicateEvent(share=1).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), text_stream))
    assert out == [event for event in text_stream for _ in range(2)]
    assert mutator.effect == f"{len(text_stream)} events sent twice"


def test_a_short_stream_is_left_alone(run, chat, text_stream, dice):
    mutator = DuplicateEvent(at=500).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), text_stream)) == text_stream
    assert mutator.effect is None
