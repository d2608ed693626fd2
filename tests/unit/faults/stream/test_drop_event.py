from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Response, Send
from faultwire.faults.stream.drop_event import DropEvent


def sends(actions):
    return [action.data for action in actions if isinstance(action, Send)]


def test_the_event_is_missing_and_no_other(run, chat, text_stream, dice):
    mutator = DropEvent(at=3).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), text_stream)) == text_stream[:2] + text_stream[3:]
    assert mutator.effect == "event 3 lost"


def test_comments_are_no_events(run, chat, text_stream, dice):
    stream = [b": ping\n\n", *text_stream]
    mutator = DropEvent(at=1).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), stream)) == [stream[0], *text_stream[1:]]


def test_a_share_of_them_by_the_dice(run, chat, text_stream, dice):
    events = text_stream[1:-2] * 200
    mutator = DropEvent(share=0.25).start(chat(stream=True), dice())
    kept = sends(run(mutator, chat(stream=True), events))
    assert 0.6 < len(kept) / len(events) < 0.9
    again = DropEvent(share=0.25).start(chat(stream=True), dice())
    assert sends(run(again, chat(stream=True), events)) == kept
    assert mutator.effect == f"{len(events) - len(kept)} events lost"


def test_a_short_stream_is_left_alone(run, chat, text_stream, dice):
    mutator = DropEvent(at=500).start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), text_stream)) == text_stream
    assert mutator.effect is None


def test_where_it_cannot_act(chat):
    assert DropEvent(at=1).inapplicable(chat(stream=False)) == "the request asks for no stream"
    whole = Response(200, "OK", (("content-type", "application/json"),))
    assert DropEvent(at=1).inapplicable(chat(stream=True, response=whole)) == "the response is no stream"


@pytest.mark.parametrize("settings", [{}, {"at": 1, "share": 0.5}, {"at": 0}, {"share": 0}, {"share": 1.5}])
def test_one_choice_is_needed(settings):
    with pytest.raises(ValidationError):
        DropEvent(**settings)
