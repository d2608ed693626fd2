from __future__ import annotations

from dataclasses import replace

from faultwire.events import Response, Send
from faultwire.faults.response.content_filter import ContentFilter
from faultwire.wire import protocol

OPENAI = protocol("openai_chat")


def test_a_prompt_is_answered_with_the_providers_error(chat, anthropic, dice):
    for exchange in (chat(), anthropic):
        mutator = ContentFilter().start(exchange, dice())
        answer = mutator.answer()
        assert answer.status == 400
        assert mutator.effect == "answered 400"


def test_a_whole_answer_is_withheld(run, chat, answer, dice):
    mutator = ContentFilter(stops="answer").start(chat(), dice())
    assert mutator.answer() is None
    (sent,) = run(mutator, chat(), [answer], "body")
    view = OPENAI.response_view(200, sent.data)
    assert (view.text, view.finish_reason) == ("", "content_filter")
    assert view.usage == OPENAI.response_view(200, answer).usage
    assert mutator.effect == "answer withheld by the filter"


def test_a_streamed_answer_is_withheld(run, chat, tool_stream, dice):
    mutator = ContentFilter(stops="answer").start(chat(stream=True), dice())
    reader = OPENAI.reader()
    for action in run(mutator, chat(stream=True), tool_stream):
        assert isinstance(action, Send)
        reader.feed(action.data)
    view = reader.view()
    assert (view.tool_calls, view.finish_reason, view.complete) == ((), "content_filter", True)


def test_where_it_cannot_act(chat, web):
    assert ContentFilter().inapplicable(web) == "the exchange is `tool`, not `llm`"
    failed = ContentFilter(stops="answer").inapplicable(chat(response=Response(500)))
    assert failed == "the response has status 500"
    unknown = replace(chat(), protocol=None)
    assert ContentFilter().inapplicable(unknown) == "the exchange speaks no known model protocol"
