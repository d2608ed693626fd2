from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Response, Send
from faultwire.faults.model.truncate_response import TruncateResponse
from faultwire.wire import protocol

OPENAI = protocol("openai_chat")


def said(actions):
    assert all(isinstance(action, Send) for action in actions)
    return [action.data for action in actions]


def streamed(events):
    reader = OPENAI.reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def test_a_whole_answer_is_cut_as_the_provider_would(run, chat, answer, dice):
    mutator = TruncateResponse(max_tokens=3).start(chat(), dice())
    (body,) = said(run(mutator, chat(), [answer], "body"))[:1]
    view = OPENAI.response_view(200, body)
    assert view.text == "one two three"
    assert view.finish_reason == "length"
    assert view.usage is not None
    assert view.usage.output_tokens == 3
    assert mutator.effect == "answer cut to 3 tokens (words and signs)"


def test_a_live_stream_is_cut_and_still_ends(run, chat, text_stream, dice):
    mutator = TruncateResponse(max_tokens=3).start(chat(stream=True), dice())
    view = streamed(said(run(mutator, chat(stream=True), text_stream)))
    assert view.text.split() == ["one", "two", "three"]
    assert view.finish_reason == "length"
    assert view.complete
    assert mutator.effect == "answer cut to 3 tokens (words and signs)"


def test_the_effect_counts_signs_as_the_cut_does(run, chat, answer, dice):
    signs = answer.replace(b"one two three", b"one, two. three")
    mutator = TruncateResponse(max_tokens=4).start(chat(), dice())
    (body,) = said(run(mutator, chat(), [signs], "body"))[:1]
    assert OPENAI.response_view(200, body).text == "one, two."
    assert mutator.effect == "answer cut to 4 tokens (words and signs)"
    least = TruncateResponse(max_tokens=1).start(chat(), dice())
    said(run(least, chat(), [signs], "body"))
    assert least.effect == "answer cut to 1 token (words and signs)"


@pytest.mark.parametrize("unit", ["body", "event"])
def test_a_short_answer_is_left_alone_byte_for_byte(run, chat, answer, text_stream, dice, unit):
    chunks = [answer] if unit == "body" else text_stream
    mutator = TruncateResponse(max_tokens=50).start(chat(stream=unit == "event"), dice())
    assert said(run(mutator, chat(), chunks, unit)) == chunks
    assert mutator.effect is None


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b'{"choices": 5}', b"\xff"])
def test_what_is_no_answer_is_passed_on(run, chat, body, dice):
    mutator = TruncateResponse(max_tokens=1).start(chat(), dice())
    assert said(run(mutator, chat(), [body], "body")) == [body]
    assert mutator.effect is None


def test_where_it_cannot_act(chat, web):
    fault = TruncateResponse(max_tokens=3)
    assert fault.inapplicable(chat()) is None
    assert fault.inapplicable(chat(response=Response(200))) is None
    assert fault.inapplicable(chat(response=Response(503))) == "the response has status 503"
    assert fault.inapplicable(web) == "the exchange is `tool`, not `llm`"


@pytest.mark.parametrize("count", [0, -1, 1_000_001])
def test_bounds(count):
    with pytest.raises(ValidationError):
        TruncateResponse(max_tokens=count)
