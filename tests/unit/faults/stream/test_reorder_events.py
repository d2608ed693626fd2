from __future__ import annotations

from faultwire.events import Send
from faultwire.faults.stream.reorder_events import ReorderEvents


def sends(actions):
    return [action.data for action in actions if isinstance(action, Send)]


def test_an_event_comes_after_the_next_one(run, chat, text_stream, dice):
    mutator = ReorderEvents(at=2).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), text_stream))
    assert out == [text_stream[0], text_stream[2], text_stream[1], *text_stream[3:]]
    assert mutator.effect == "events changed places once"


def test_nothing_is_lost_or_made(run, chat, text_stream, dice):
    mutator = ReorderEvents(share=0.7).start(chat(stream=True), dice())
    out = sends(run(mutator, chat(stream=True), text_stream))
    assert sorted(out) == sorted(text_stream)
    assert out != text_stream


def test_the_last_stays_where_it_is(run, chat, text_stream, dice):
    mutator = ReorderEvents(at=len(text_stream)).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), text_stream)) == text_stream
    assert mutator.effect is None
