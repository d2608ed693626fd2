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
from faultwire.events import Chunk, Cut, Exchange, Request, Response, Wait
from faultwire.mitm.breakpoints import answers
from faultwire.mitm.breakpoints.held import ALIVE
from faultwire.mock._api import Call, Reply
from faultwire.wire import protocol
from faultwire.wire.openai.realtime_events import item_events


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


# ---------------------------------------------------------------- messages of a WebSocket

UPGRADED = Response(101, "", (("upgrade", "websocket"),))


def realtime() -> Exchange:
    head = (("upgrade", "websocket"), ("connection", "upgrade"))
    request = Request("GET", "https", "api.openai.com", 443, "/v1/realtime?model=gpt-realtime", head)
    return Exchange("s", 1, request, "llm", "realtime", "openai", response=UPGRADED)


def answer_in_messages(ident: str, city: str | None) -> list[bytes]:
    """One response of a session: a call of a tool, or a text."""
    item = {"id": f"item_{ident}", "object": "realtime.item", "status": "completed"}
    if city is None:
        content = [{"type": "output_text", "text": "A river."}]
        item |= {"type": "message", "role": "assistant", "content": content}
    else:
        call = {"name": "get_weather", "call_id": f"call_{ident}", "arguments": json.dumps({"city": city})}
        item |= {"type": "function_call", **call}
    response = {"id": ident, "object": "realtime.response", "status": "completed", "output": [item]}
    return [
        json.dumps({"type": "response.created", "response": {**response, "output": []}}).encode(),
        *(json.dumps(event).encode() for event in item_events(ident, 0, item, beta=False, previous=None)),
        json.dumps({"type": "response.done", "response": response}).encode(),
    ]


def socketed(mutator, messages: list[bytes]):
    for at, message in enumerate(messages):
        yield from mutator.feed(Chunk(message, at, "event", text=True))
    yield from mutator.finish()


def cities(messages: list[bytes]) -> list[str]:
    """The arguments of each call, as the last message of its response has them."""
    done = [one for one in map(json.loads, messages) if one["type"] == "response.done"]
    items = [item for one in done for item in one["response"]["output"]]
    return [json.loads(item["arguments"])["city"] for item in items if item["type"] == "function_call"]


SESSION = [
    json.dumps({"type": "session.created"}).encode(),
    *answer_in_messages("r1", None), *answer_in_messages("r2", "Paris"),
    *answer_in_messages("r3", None), *answer_in_messages("r4", "Oslo"),
]  # fmt: skip


def test_a_call_in_a_websocket_is_held_and_edited_and_later_answers_are_not(bench: Bench) -> None:
    mutator = bench.start(realtime(), "tool_call")
    edit = {"calls": [{"at": 0, "members": {"city": "Rome"}}]}
    found = sent(bench.run(socketed(mutator, SESSION), lambda: bench.decide(**edit)))
    assert cities(found) == ["Rome", "Oslo"]
    assert b"Paris" not in b"".join(found)
    assert len(found) == len(SESSION)
    untouched = [*answer_in_messages("r1", None), *answer_in_messages("r3", None)]
    assert [one for one in found if one in untouched] == untouched
    assert (
        mutator.effect
        == "held at the tool call of `get_weather`, then resumed with `city` of `get_weather` edited"
    )


@pytest.mark.parametrize("tool", ["get_weather", "book_*"])
def test_what_nobody_edits_in_a_websocket_keeps_every_byte_and_its_order(bench: Bench, tool: str) -> None:
    mutator = bench.start(realtime(), "tool_call", on={"tool": tool})
    decisions = [lambda: bench.decide()] if tool == "get_weather" else []
    assert sent(bench.run(socketed(mutator, SESSION), *decisions)) == SESSION


def test_answers_that_take_turns_in_a_websocket_are_not_mixed_up(bench: Bench) -> None:
    """The first is whole while the other one is still under way."""
    first, other = answer_in_messages("r1", None), answer_in_messages("r2", "Paris")
    turns = [*other[:3], *first, *other[3:]]
    edit = {"calls": [{"at": 0, "members": {"city": "Rome"}}]}
    mutator = bench.start(realtime(), "tool_call")
    found = sent(bench.run(socketed(mutator, turns), lambda: bench.decide(**edit)))
    assert cities(found) == ["Rome"]
    assert b"Paris" not in b"".join(found)
    assert [one for one in found if one in first] == first
    assert len(found) == len(turns)


def test_a_websocket_that_ends_within_an_answer_loses_nothing(bench: Bench) -> None:
    mutator = bench.start(realtime(), "tool_call")
    assert sent(bench.run(socketed(mutator, SESSION[:-1]), lambda: bench.decide())) == SESSION[:-1]
    cut = SESSION[: SESSION.index(answer_in_messages("r2", "Paris")[-1])]
    assert sent(bench.run(socketed(bench.start(realtime(), "tool_call"), cut))) == cut


def test_messages_that_are_no_json_pass(bench: Bench) -> None:
    messages = [b"\xff\xfe", b"[" * 5_000, b"{}", *SESSION]
    mutator = bench.start(realtime(), "tool_call", on={"tool": "book_*"})
    assert sent(bench.run(socketed(mutator, messages))) == messages


def test_a_text_for_an_event_that_has_none_is_refused_and_the_event_stays_held(bench: Bench) -> None:
    mutator = bench.start(realtime(), "event", event=2)

    def wrong() -> None:
        with pytest.raises(UsageError, match="whose text cannot be edited by itself"):
            bench.decide(text="LAKE")
        assert len(bench.desk.listed()) == 1

    assert sent(bench.run(socketed(mutator, SESSION), wrong, lambda: bench.decide())) == SESSION


def responses_in_messages(city: str) -> list[bytes]:
    """What the model of the mock says over HTTP, as the messages of the WebSocket."""
    tool = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}
    body = {"model": "gpt-5-mini", "input": "Weather?", "stream": True, "tools": [tool]}
    head = (("content-type", "application/json"), ("authorization", "Bearer any"))
    request = Request(
        "POST", "https", "api.openai.com", 443, "/v1/responses", head, json.dumps(body).encode()
    )
    over_http = Exchange("s", 1, request, "llm", "openai_responses", "openai")
    events = said(over_http, Reply(calls=(Call("get_weather", {"city": city}),)))
    lines = [line for event in events for line in event.splitlines() if line.startswith(b"data: {")]
    return [line.removeprefix(b"data: ") for line in lines]


def test_a_call_of_responses_over_a_websocket_is_edited_in_all_its_messages(bench: Bench) -> None:
    head = (("upgrade", "websocket"), ("connection", "upgrade"))
    request = Request("GET", "https", "api.openai.com", 443, "/v1/responses", head)
    exchange = Exchange("s", 1, request, "llm", "responses_socket", "openai", response=UPGRADED)
    messages = [*responses_in_messages("Paris"), *responses_in_messages("Oslo")]
    assert b"Paris" in b"".join(messages)
    mutator = bench.start(exchange, "tool_call")
    edit = {"calls": [{"at": 0, "members": {"city": "Rome"}}]}
    found = b"".join(sent(bench.run(socketed(mutator, messages), lambda: bench.decide(**edit))))
    assert b"Paris" not in found
    assert b"Rome" in found
    assert b"Oslo" in found
    again = bench.start(exchange, "tool_call")
    assert sent(bench.run(socketed(again, messages), lambda: bench.decide())) == messages
