from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Response, Send, header
from faultwire.faults.response.status import Status


def answered(fault, exchange, dice):
    mutator = fault.start(exchange, dice())
    answer = mutator.answer()
    assert answer is not None
    assert mutator.effect == f"answered {fault.code}"
    return answer


def test_openai_gets_openais_error(chat, dice):
    answer = answered(Status(code=503), chat(), dice)
    assert answer.status == 503
    assert (
        set(json.loads(answer.body)["error"]) >= {"message", "type", "code", "param"}
        or b"<html" in answer.body
    )
    assert header(answer.headers, "content-length") == str(len(answer.body))


def test_openais_500_has_its_request_id(chat, dice):
    answer = answered(Status(code=500, message="it broke"), chat(), dice)
    assert json.loads(answer.body)["error"]["message"] == "it broke"
    assert header(answer.headers, "x-request-id")


def test_anthropic_gets_anthropics_error(anthropic, dice):
    answer = answered(Status(code=529), anthropic, dice)
    document = json.loads(answer.body)
    assert document["type"] == "error"
    assert document["error"]["type"] == "overloaded_error"
    assert header(answer.headers, "request-id")


def test_other_services_get_plain_json(web, dice):
    answer = answered(Status(code=503), web, dice)
    assert json.loads(answer.body) == {"error": {"message": "Service Unavailable", "status": 503}}


def test_headers_are_added_or_replaced(web, dice):
    answer = answered(Status(code=503, headers={"Retry-After": "7", "content-type": "text/plain"}), web, dice)
    assert header(answer.headers, "retry-after") == "7"
    assert [value for name, value in answer.headers if name.lower() == "content-type"] == ["text/plain"]


def test_call_upstream_reads_the_whole_answer_and_delivers_the_error(run, web, dice):
    mutator = Status(code=504, call_upstream=True).start(web, dice())
    assert mutator.answer() is None, "upstream must be called"
    assert mutator.effect is None, "nothing has happened yet"
    head = mutator.head(Response(201, "Created", (("x-upstream", "1"), ("content-length", "4"))))
    assert (head.status, head.body) == (504, None)
    assert header(head.headers, "x-upstream") is None
    assert mutator.effect == "answered 504 where upstream sent 201"
    actions = run(mutator, web, [b"bo", b"dy"], "bytes")
    assert len(actions) == 1
    assert isinstance(actions[0], Send)
    assert json.loads(actions[0].data)["error"]["status"] == 504
    assert header(head.headers, "content-length") == str(len(actions[0].data))


def test_decided_on_the_response_it_states_what_was_replaced(web, dice):
    mutator = Status(code=500).start(replace(web, response=Response(200)), dice())
    assert mutator.answer() is None
    assert mutator.head(Response(200)).status == 500
    assert mutator.effect == "answered 500 where upstream sent 200"


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"x": "a\r\nset-cookie: b"}, "found a line end or another control character in header `x`"),
        ({"x": "a\nb"}, "found a line end"),
        ({"x": "a\x00b"}, "found a line end"),
        ({"x\r\ny": "a"}, "found a header name with other characters than letters"),
        ({"": "a"}, "found a header name with other characters than letters"),
        ({"x y": "a"}, "found a header name with other characters than letters"),
        ({"x": "\u20ac"}, "found a line end or another control character"),
        ({"Content-Length": "0"}, "found header `content-length`, which is always set to fit the body"),
        ({"Transfer-Encoding": "chunked"}, "found header `transfer-encoding`"),
    ],
)
def test_headers_that_break_out_of_their_line_are_refused(headers, message):
    with pytest.raises(ValidationError, match=message):
        Status(code=500, headers=headers)


@pytest.mark.parametrize("code", [0, 100, 200, 399, 600, -503])
def test_only_error_statuses(code):
    with pytest.raises(ValidationError, match=r"greater than or equal to 400|less than or equal to 599"):
        Status(code=code)
