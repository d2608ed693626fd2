from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Response, Send
from faultwire.faults.stream.cut_stream import CutStream

SSE = Response(200, "OK", (("content-type", "text/event-stream; charset=utf-8"),))
JSON = Response(200, "OK", (("content-type", "application/json"),))


def sends(actions):
    return [action.data for action in actions if isinstance(action, Send)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_after_events_exactly_so_many_arrive(run, chat, text_stream, dice, count):
    mutator = CutStream(after_events=count).start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), text_stream)
    assert out == [*(Send(e) for e in text_stream[:count]), Cut(clean=False)]
    assert mutator.effect == f"stream cut after {count} events"


def test_a_short_stream_still_loses_its_closing_event(run, chat, text_stream, dice):
    mutator = CutStream(after_events=500).start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), text_stream)
    assert sends(out) == text_stream[:-1]
    assert out[-1] == Cut(clean=False)
    assert mutator.effect == f"stream cut after {len(text_stream) - 1} events"


def test_a_stream_of_no_known_protocol_is_cut_at_its_end_at_the_latest(run, web):
    out = run(CutStream(after_events=500), web, [b"data: 1\n\n", b"data: 2\n\n"])
    assert out == [Send(b"data: 1\n\n"), Send(b"data: 2\n\n"), Cut(clean=False)]


def test_inside_tool_arguments_leaves_half_of_them(run, chat, tool_stream, dice):
    mutator = CutStream(inside="tool_arguments").start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), tool_stream)
    assert out == [Send(tool_stream[0]), Send(tool_stream[1]), Cut(clean=False)]
    assert mutator.effect == "stream cut inside tool arguments"


def test_arguments_sent_whole_are_not_delivered(run, chat, one_piece_tool_stream):
    out = run(CutStream(inside="tool_arguments"), chat(stream=True), one_piece_tool_stream)
    assert out == [Send(one_piece_tool_stream[0]), Cut(clean=False)]


def test_inside_text_delivers_its_beginning(run, chat, text_stream, dice):
    mutator = CutStream(inside="text").start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), text_stream) == [*map(Send, text_stream[:2]), Cut(clean=False)]
    assert mutator.effect == "stream cut inside the text"


def test_a_stream_without_that_place_is_left_alone(run, chat, text_stream, dice):
    mutator = CutStream(inside="tool_arguments").start(chat(stream=True), dice())
    assert sends(run(mutator, chat(stream=True), text_stream)) == text_stream
    assert mutator.effect is None


def test_events_that_are_not_the_protocols_do_no_harm(run, chat, text_stream):
    odd = [b"data: not json\n\n", b": comment\n\n", b"\xff\n\n", *text_stream]
    out = run(CutStream(inside="text"), chat(stream=True), odd)
    assert sends(out) == odd[:5]


def test_where_it_cannot_act(chat, web):
    fault = CutStream(after_events=1)
    assert fault.inapplicable(chat(stream=False)) == "the request asks for no stream"
    assert fault.inapplicable(chat(stream=True)) is None
    assert fault.inapplicable(chat(stream=True, response=SSE)) is None
    assert fault.inapplicable(chat(stream=True, response=JSON)) == "the response is no stream"
    assert fault.inapplicable(web) is None
    assert CutStream(inside="text").inapplicable(web) == "the exchange speaks no known model protocol"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "found neither of `after_events` and `inside`, expected one"),
        ({"after_events": 1, "inside": "text"}, "found both of `after_events` and `inside`, expected one"),
        ({"after_events": -1}, "greater than or equal to 0"),
        ({"inside": "thoughts"}, "'tool_arguments' or 'text'"),
    ],
)
def test_one_place_is_needed(settings, message):
    with pytest.raises(ValidationError, match=message):
        CutStream(**settings)
