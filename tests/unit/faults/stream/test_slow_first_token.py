from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Send, Wait
from faultwire.faults.stream.slow_first_token import SlowFirstToken


def test_only_the_beginning_is_late(run, chat, text_stream, dice):
    mutator = SlowFirstToken(ms=800).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), text_stream) == [Wait(0.8), *map(Send, text_stream)]
    assert mutator.effect == "first event delayed by 800 ms"


def test_an_empty_stream_has_no_first_event(run, chat, dice):
    mutator = SlowFirstToken(ms=800).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), []) == []
    assert mutator.effect is None


def test_where_it_cannot_act(chat):
    assert SlowFirstToken(ms=1).inapplicable(chat(stream=False)) == "the request asks for no stream"
    with pytest.raises(ValidationError):
        SlowFirstToken(ms=0)
