from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Send, Wait
from faultwire.faults.stream.stall import Stall


def test_silence_in_the_middle(run, chat, text_stream, dice):
    mutator = Stall(after_events=2, for_ms=300).start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), text_stream)
    assert out == [*map(Send, text_stream[:2]), Wait(0.3), *map(Send, text_stream[2:])]
    assert mutator.effect == "silent for 300 ms after 2 events"


def test_without_an_end_it_waits_for_the_client_to_leave(run, chat, text_stream, dice):
    mutator = Stall(after_events=1).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), text_stream) == [
        Send(text_stream[0]),
        Wait(None),
        Cut(clean=False),
    ]
    assert mutator.effect == "silent until the client gave up after 1 events"


def test_a_stream_that_ends_before_is_left_alone(run, chat, text_stream, dice):
    mutator = Stall(after_events=500, for_ms=1).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), text_stream) == [*map(Send, text_stream)]
    assert mutator.effect is None


def test_where_it_cannot_act(chat):
    assert Stall(after_events=1).inapplicable(chat(stream=False)) == "the request asks for no stream"
    with pytest.raises(ValidationError):
        Stall()
