from __future__ import annotations

import pytest

from faultwire.events import Cut, Send
from faultwire.faults.stream.early_end import EarlyEnd
from faultwire.wire import protocol


def test_everything_comes_but_the_reason(run, chat, text_stream, dice):
    mutator = EarlyEnd().start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), text_stream)
    assert out == [*map(Send, text_stream[:-2]), Cut(clean=True)]
    assert mutator.effect == f"ended cleanly after {len(text_stream) - 2} events, without a finish reason"
    reader = protocol("openai_chat").reader()
    for action in out[:-1]:
        reader.feed(action.data)
    assert reader.view().finish_reason is None
    assert not reader.view().complete


@pytest.mark.parametrize("count", [0, 3])
def test_or_only_so_many(run, chat, text_stream, dice, count):
    mutator = EarlyEnd(after_events=count).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), text_stream) == [*map(Send, text_stream[:count]), Cut(clean=True)]


def test_a_stream_that_ends_so_by_itself_is_left_alone(run, chat, text_stream, dice):
    mutator = EarlyEnd().start(chat(stream=True), dice())
    odd = [b"data: no json\n\n", *text_stream[:-2]]
    assert run(mutator, chat(stream=True), odd) == [*map(Send, odd)]
    assert mutator.effect is None


def test_where_it_cannot_act(chat, web):
    assert EarlyEnd().inapplicable(chat(stream=False)) == "the request asks for no stream"
    assert EarlyEnd().inapplicable(web) == "the exchange is `tool`, not `llm` or `agent`"
