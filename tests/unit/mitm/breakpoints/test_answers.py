"""Answers that are held at an event, at a tool call, at a tool's result."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from tests.unit.mitm.breakpoints.conftest import (
    CALLS,
    JSON,
    SECRET,
    SSE,
    Bench,
    chat,
    feed,
    said,
    sent,
)

from faultwire.errors import UsageError
from faultwire.events import Cut, Exchange, Request, Wait
from faultwire.mitm.breakpoints import answers
from faultwire.mitm.breakpoints.held import ALIVE
from faultwire.mock._api import Call, Reply
from faultwire.wire import protocol


def arguments(events: list[bytes]) -> list[str]:
    reader = protocol("openai_chat").reader()
    for event in events:
        reader.feed(event)
    return [call.arguments for call in reader.view().tool_calls]


def held(bench: Bench, at: str, events: list[bytes], *decisions, **more) -> list:
    mutator = bench.start(chat(response=SSE), at, **more)
    found = bench.run(feed(mutator, events), *decisions)
    bench.effect = mutator.effect
    return found


def test_a_call_that_nobody_edits_keeps_every_byte_and_its_order(bench: Bench) -> None:
    events = said(chat(), Reply(calls=CALLS))
    found = held(bench, "tool_call", events, lambda: bench.decide())
    assert sent(found) == events
    assert bench.effect == "held at the tool call of `get_weather`, then resumed as it was"


def test_what_comes_between_the_events_of_a_call_keeps_its_place(bench: Bench) -> None:
    """An editor lets it pass at once; where nothing is edited, nothing changes places."""
    events = said(chat(), Reply(calls=CALLS))
    events.insert(3, b": ping\n\n")
    assert sent(held(bench, "tool_call", events, lambda: bench.decide())) == events


@pytest.mark.parametrize("event", [2, 3, 4, 5])
def test_an_event_within_a_call_holds_the_whole_call(bench: Bench, event: int) -> None:
    events = said(chat(), Reply(calls=CALLS))
    seen: list[dict] = []

    def edit() -> None:
        seen.append(bench.desk.look(bench.ident)["shown"])
        bench.decide(calls=[{"members": {"city": "Rome"}}])

    found = held(bench, "event", events, edit, event=event)
    (shown,) = seen
    assert json.loads(shown["calls"][0]["arguments"]) == {"city": "Paris", "days": 3}
    assert shown["calls"][0]["properties"]["days"] == {"type": "integer"}
    assert [json.loads(one) for one in arguments(sent(found))] == [{"city": "Rome", "days": 3}]
    assert "then resumed with `city` of `get_weather` edited" in bench.effect
    waits = next(at for at, one in enumerate(found) if isinstance(one, Wait))
    assert arguments(sent(found[:waits])) == []  # nothing of the call is out before it is decided on


def test_of_several_calls_one_is_edited(bench: Bench) -> None:
    calls = (*CALLS, Call("get_weather", {"city": "Oslo", "days": 1}))
    events = said(chat(), Reply(calls=calls))
    found = held(
        bench, "tool_call", events, lambda: bench.decide(calls=[{"at": 1, "members": {"city": "Rome"}}])
    )
    cities = [json.loads(one)["city"] for one in arguments(sent(found))]
    assert cities == ["Paris", "Rome"]


def test_a_call_of_another_tool_is_not_held(bench: Bench) -> None:
    events = said(chat(), Reply(calls=CALLS))
    found = held(bench, "tool_call", events, on={"tool": "book_*"})
    assert sent(found) == events
    assert bench.effect is None


def test_an_event_of_text_says_something_else(bench: Bench) -> None:
    events = said(chat(), Reply(text="The river is long and wide."))
    found = held(bench, "event", events, lambda: bench.decide(text="LAKE "), event=2)
    assert sent(found)[:1] == events[:1]
    assert b"LAKE" in sent(found)[1]
    assert sent(found)[2:] == events[2:]


def test_an_event_is_typed_raw_and_keeps_the_end_of_an_event(bench: Bench) -> None:
    events = said(chat(), Reply(text="One two three."))
    found = held(bench, "event", events, lambda: bench.decide(raw="data: {broken"), event=2)
    assert sent(found)[1] == b"data: {broken\n\n"


def test_an_answer_from_here_ends_the_stream_and_nothing_of_upstream_follows(bench: Bench) -> None:
    events = said(chat(), Reply(text="One two three."))
    found = held(bench, "event", events, lambda: bench.decide("answer", raw="data: [DONE]"), event=2)
    assert sent(found) == [events[0], b"data: [DONE]\n\n"]
    assert found[-1] == Cut(clean=True)


def test_a_cut_sends_nothing_more(bench: Bench) -> None:
    events = said(chat(), Reply(text="One two three."))
    actions = iter(feed(bench.start(chat(response=SSE), "event", event=2), events))
    found = []
    for action in actions:  # as the chain does: what ends the exchange is the last
        found.append(action)
        if isinstance(action, Wait):
            bench.decide("cut")
        if isinstance(action, Cut):
            break
    assert sent(found) == events[:1]
    assert found[-1] == Cut()


def test_a_client_in_a_stream_is_kept_waiting_by_comments_of_one_line(bench: Bench) -> None:
    events = said(chat(), Reply(text="One two three."))
    found = held(bench, "event", events, lambda: None, lambda: None, lambda: bench.decide(), event=2)
    assert sent(found) == [events[0], ALIVE, ALIVE, *events[1:]]
    assert ALIVE.count(b"\n") == 1


def test_waits_that_are_over_at_once_let_it_go_instead_of_spinning(bench: Bench) -> None:
    """Where a fault of the same call was disarmed, no wait lasts any longer."""
    mutator = bench.start(chat(response=SSE), "event", event=1)
    events = said(chat(), Reply(text="One."))
    assert sent(list(islice(feed(mutator, events), 100))) == events
    assert "no fault makes it wait any longer" in (mutator.effect or "")


def test_a_stream_that_ends_early_loses_nothing(bench: Bench) -> None:
    events = said(chat(), Reply(calls=CALLS))[:-3]
    assert sent(held(bench, "tool_call", events)) == events


def test_the_calls_of_a_whole_answer_are_edited(bench: Bench) -> None:
    exchange = chat(stream=False, response=JSON)
    body = said(exchange, Reply(calls=CALLS))
    mutator = bench.start(exchange, "tool_call")
    edit = {"calls": [{"arguments": '{"city": "Rome"}'}]}
    found = bench.run(feed(mutator, body, unit="body"), lambda: bench.decide(**edit))
    (new,) = sent(found)
    made = json.loads(new)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(made) == {"city": "Rome"}
    assert json.loads(new)["usage"] == json.loads(body[0])["usage"]


def test_an_edit_that_cannot_be_made_leaves_it_held(bench: Bench) -> None:
    exchange = chat(stream=False, response=JSON)
    body = said(exchange, Reply(calls=CALLS))
    mutator = bench.start(exchange, "tool_call")

    def wrong() -> None:
        with pytest.raises(UsageError, match="expected one of 1, counted from 0"):
            bench.decide(calls=[{"at": 4, "members": {"city": "Rome"}}])
        with pytest.raises(UsageError, match="expected `resume` or `cut`"):
            bench.decide("retry")
        assert len(bench.desk.listed()) == 1

    assert sent(bench.run(feed(mutator, body, unit="body"), wrong, lambda: bench.decide())) == body


def test_what_a_tool_gives_back_over_http_is_edited(bench: Bench) -> None:
    request = Request("GET", "https", "weather.example", 443, "/v1?city=Paris", ())
    exchange = Exchange("s", 2, request, "tool", tool="get_weather", response=JSON)
    mutator = bench.start(exchange, "tool_result", on={"tool": "get_*"})
    body = [f'{{"sky": "grey", "key": "{SECRET}"}}'.encode()]

    def edit() -> None:
        (result,) = bench.desk.look(bench.ident)["shown"]["results"]
        assert SECRET not in result["text"]
        bench.decide(texts={"0": result["text"].replace("grey", "blue")})

    assert sent(bench.run(feed(mutator, body, unit="body"), edit)) == [
        f'{{"sky": "blue", "key": "{SECRET}"}}'.encode()
    ]


def test_each_way_of_holding_an_answer_is_a_class_of_its_own() -> None:
    assert issubclass(answers.HeldResult, answers.HeldAnswer)
