"""Requests and heads that are held."""

from __future__ import annotations

import json

import pytest
from tests.unit.mitm.breakpoints.conftest import JSON, SECRET, Bench, chat

from faultwire.errors import UsageError
from faultwire.events import Cut, header
from faultwire.mitm.breakpoints.mutators import HeldHead, HeldRequest


def test_a_request_is_forwarded_as_it_was_edited(bench: Bench) -> None:
    exchange = chat()
    mutator = bench.start(exchange, "request")
    assert isinstance(mutator, HeldRequest)
    bench.run(mutator.before(), lambda: bench.decide(texts={"0": "Weather in Rome?"}))
    edited = mutator.outbound(exchange.request)
    assert json.loads(edited.body or b"")["messages"][0]["content"] == "Weather in Rome?"
    assert mutator.effect == "held at the request, then resumed with 1 text edited"
    assert bench.notes == [
        "b1: exchange 1 of `s` was held at the request, then resumed with 1 text edited by somebody"
    ]


def test_a_request_that_nobody_edits_is_the_same_object(bench: Bench) -> None:
    exchange = chat()
    mutator = bench.start(exchange, "request")
    bench.run(mutator.before(), lambda: bench.decide())
    assert mutator.outbound(exchange.request) is exchange.request
    assert mutator.answer() is None


def test_a_secret_is_not_shown_and_goes_out_with_an_edit(bench: Bench) -> None:
    exchange = chat(messages=[{"role": "user", "content": f"my key is {SECRET}, say hi"}])
    mutator = bench.start(exchange, "request")

    def edit() -> None:
        shown = bench.desk.look(bench.ident)["shown"]
        assert SECRET not in json.dumps(shown)
        assert "Bearer any" not in json.dumps(shown)
        bench.decide(raw=shown["body"].replace("say hi", "say ho"))

    bench.run(mutator.before(), edit)
    body = json.loads(mutator.outbound(exchange.request).body or b"")
    assert body["messages"][0]["content"] == f"my key is {SECRET}, say ho"


def test_the_result_of_a_tool_is_edited_on_its_way_to_the_model(bench: Bench) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "grey"},
    ]
    exchange = chat(messages=turns)
    mutator = bench.start(exchange, "tool_result", on={"tool": "get_*"})
    bench.run(mutator.before(), lambda: bench.decide(texts={"0": "blue"}))
    assert json.loads(mutator.outbound(exchange.request).body or b"")["messages"][2]["content"] == "blue"
    assert "the result of `get_weather` edited" in (mutator.effect or "")


def test_an_answer_by_hand_has_no_field_that_lies_about_its_length(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")
    fields = [["content-type", "application/json"], ["content-length", "3"], ["x-a", "b"]]
    bench.run(mutator.before(), lambda: bench.decide("answer", status=201, headers=fields, raw='{"a": 1}'))
    answer = mutator.answer()
    assert answer is not None
    assert (answer.status, answer.body) == (201, b'{"a": 1}')
    assert answer.headers == (("content-type", "application/json"), ("x-a", "b"))
    assert mutator.effect == "held at the request, then answered by hand"


def test_a_header_field_that_breaks_its_line_is_refused(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")

    def wrong() -> None:
        with pytest.raises(UsageError, match="line end"):
            bench.decide("answer", status=200, headers=[["x-a", "b\r\nx-c: d"]], raw="{}")

    bench.run(mutator.before(), wrong, lambda: bench.decide())
    assert mutator.answer() is None


def test_a_retry_is_the_providers_503_with_the_field_that_sdks_follow(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")
    bench.run(mutator.before(), lambda: bench.decide("retry"))
    answer = mutator.answer()
    assert answer is not None
    assert (answer.status, header(answer.headers, "x-should-retry")) == (503, "true")


def test_a_cut_is_the_last_action(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")
    assert bench.run(mutator.before(), lambda: bench.decide("cut"))[-1] == Cut()


def test_a_head_is_edited_and_keeps_what_says_its_length(bench: Bench) -> None:
    response = type(JSON)(200, "OK", (("content-type", "application/json"), ("content-length", "9")))
    mutator = bench.start(chat(response=response), "response")
    assert isinstance(mutator, HeldHead)
    bench.run(mutator.before(), lambda: bench.decide(status=429, headers=[["retry-after", "2"]]))
    head = mutator.head(response)
    assert (head.status, head.headers) == (429, (("retry-after", "2"), ("content-length", "9")))
    assert mutator.effect == "held at the response, then resumed with its status and its header fields edited"


def test_a_client_that_leaves_is_no_decision(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")
    next(iter(mutator.before()))
    assert mutator.effect == "held at the request; the exchange ended before anything was decided"
    bench.under_way.ended = True
    assert bench.desk.listed() == []
