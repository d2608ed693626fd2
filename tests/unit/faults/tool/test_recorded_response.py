from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from faultwire.dice import Dice
from faultwire.events import Exchange, Request, ToolResult, Wait
from faultwire.exchange.result_decisions import decide_on_result
from faultwire.exchange.session_state import SessionState
from faultwire.faults.tool.recorded_response import RecordedResponse
from faultwire.profile.dump import dump, from_dump
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.model import Profile
from faultwire.wire import classify

RESULT = ToolResult("call_1", "search", "{}", "42 hits", False, ("messages", 2, "content"), True)
TWO = ({"status": 504, "latency_ms": 300}, {"response": {"hits": 3}, "headers": {"Retry-After": "2"}})


def fault(*answers: Any, **more: Any) -> RecordedResponse:
    told = json.dumps({"responses": answers, **more})
    return RecordedResponse.model_validate_json(told, strict=True)


def call(one: RecordedResponse, exchange: Exchange, memory: dict[str, Any], dice: Any) -> Any:
    """One call at the tool's own exchange: its waits, the answer and the effect."""
    mutator = one.start(exchange, dice())
    mutator.arrived(memory, 0.0)
    waits = [action.seconds for action in mutator.before() if isinstance(action, Wait)]
    return waits, mutator.answer(), mutator.effect


def mcp_call(*ids: int) -> Exchange:
    params = {"name": "search", "arguments": {"q": "tea"}}
    calls = [{"jsonrpc": "2.0", "id": one, "method": "tools/call", "params": params} for one in ids]
    body = json.dumps(calls if len(calls) > 1 else calls[0]).encode()
    request = Request("POST", "http", "mcp.test", 80, "/mcp", (("content-type", "application/json"),), body)
    found = classify(request)
    assert found.protocol is not None
    return Exchange("s", 1, request, kind="tool", protocol=found.protocol.name, tool="search")


def test_http_gets_status_body_headers_and_latency_in_order(web, dice):
    memory: dict[str, Any] = {}
    waits, first, effect = call(fault(*TWO), web, memory, dice)
    assert (waits, first.status, first.body) == ([0.3], 504, b"")
    assert effect == "call 1 of `search` got recorded answer 1 of 2 after 300 ms"
    waits, second, effect = call(fault(*TWO), web, memory, dice)
    assert (waits, second.status, second.body) == ([], 200, b'{"hits": 3}')
    assert dict(second.headers)["content-type"] == "application/json"
    assert dict(second.headers)["retry-after"] == "2"
    assert effect == "call 2 of `search` got recorded answer 2 of 2"


def test_mcp_gets_a_result_that_says_whether_it_failed(dice):
    memory: dict[str, Any] = {}
    _, first, _ = call(fault(*TWO), mcp_call(7), memory, dice)
    told = json.loads(first.body)
    assert (first.status, told["id"], told["result"]["isError"]) == (200, 7, True)
    assert told["result"]["content"][0]["text"] == "Error: 504 Server Error: Gateway Timeout"
    _, second, _ = call(fault(*TWO), mcp_call(8), memory, dice)
    result = json.loads(second.body)["result"]
    assert result["content"][0]["text"] == '{"hits": 3}'
    assert result["structuredContent"] == {"hits": 3}
    assert "structuredContent" not in told["result"]
    assert not result.get("isError")


def test_several_calls_in_one_message_are_left_alone():
    assert fault(*TWO).inapplicable(mcp_call(1)) is None
    assert fault(*TWO).inapplicable(mcp_call(1, 2)) == "one message calls the tool several times"


def test_a_result_reads_what_was_recorded(chat, dice):
    entry = Entry(id="r", fault=fault(*TWO), on=On(tool="search"))
    profile = Profile(name="p", entries=(entry,))
    state = SessionState()
    results = [replace(RESULT, call_id=f"call_{n}") for n in range(3)]
    judged = [
        decide_on_result(profile, Dice(0, "s"), chat(), (f"k{n}", one), state)
        for n, one in enumerate(results)
    ]
    assert [wait.seconds for one in judged for wait in one.waits] == [0.3]
    read = [state.rewrites[f"k{n}"] for n in range(3)]
    assert [(one.text, one.is_error, one.raw) for one in read if one] == [
        ("Error: 504 Server Error: Gateway Timeout", True, True),
        ('{"hits": 3}', False, True),
        ("faultwire: call 3 of `search` found none of 2 recorded answers left", True, True),
    ]
    assert [state.unread_lines[f"k{n}"].effect for n in range(3)] == [
        "call 1 of `search` got recorded answer 1 of 2 after 300 ms",
        "call 2 of `search` got recorded answer 2 of 2",
        "call 3 of `search` found none of 2 recorded answers left: it was refused",
    ]


def test_none_left(web, dice):
    refused: dict[str, Any] = {"\x00taken": 1}
    _, answer, effect = call(fault({"response": "a"}), web, refused, dice)
    assert answer.status == 422
    assert dict(answer.headers)["x-should-retry"] == "false"
    assert answer.body == b"faultwire: call 2 of `search` found none of 1 recorded answers left"
    assert effect.endswith(": it was refused")
    _, answer, effect = call(fault({"response": "a"}, none_left="repeat"), web, refused, dice)
    assert (answer.status, answer.body) == (200, b"a")
    assert effect == "call 3 of `search` found none of 1 recorded answers left: it got the last one again"
    _, answer, effect = call(fault({"response": "a"}, none_left="pass"), web, refused, dice)
    assert (answer, effect) == (None, None)
    due = fault({"response": "a"}, none_left="pass").due(RESULT, dice(), {"\x00taken": 1})
    assert due == (None, 0.0, None)


@pytest.mark.parametrize(
    ("answer", "status", "body", "kind", "words", "failed"),
    [
        ({}, 200, b"", "text/plain; charset=utf-8", "", False),
        (
            {"response": "gr\u00fcn"},
            200,
            "gr\u00fcn".encode(),
            "text/plain; charset=utf-8",
            "gr\u00fcn",
            False,
        ),
        ({"response": "[1]"}, 200, b"[1]", "application/json", "[1]", False),
        ({"response": [1, "ü"]}, 200, '[1, "ü"]'.encode(), "application/json", '[1, "ü"]', False),
        ({"response": 0}, 200, b"0", "application/json", "0", False),
        ({"response": "no", "status": 404}, 404, b"no", "text/plain; charset=utf-8", "no", True),
        ({"status": 0}, 500, b"", "text/plain; charset=utf-8", "Error: the tool failed", True),
        ({"status": 404}, 404, b"", "text/plain; charset=utf-8", "Error: 404 Client Error: Not Found", True),
        ({"response": "x", "status": 204}, 204, b"", "text/plain; charset=utf-8", "x", False),
        ({"response": "a,b", "headers": {"Content-Type": "text/csv"}}, 200, b"a,b", "text/csv", "a,b", False),
    ],
)
def test_every_shape_of_an_answer(answer, status, body, kind, words, failed, web, dice):
    _, told, _ = call(fault(answer), web, {}, dice)
    assert (told.status, told.body, dict(told.headers)["content-type"]) == (status, body, kind)
    rewrite = fault(answer).rewrite(RESULT, dice())
    assert (rewrite.text, rewrite.is_error) == (words, failed)


@pytest.mark.parametrize(
    "settings",
    [
        {"responses": []},
        {"responses": [{"status": 99}]},
        {"responses": [{"status": 101}]},
        {"responses": [{"status": 600}]},
        {"responses": [{"latency_ms": -1}]},
        {"responses": [{"latency": 1}]},
        {"responses": [{"headers": {"content-length": "3"}}]},
        {"responses": [{"headers": {"x-a": "b\r\nc: d"}}]},
        {"responses": [{}], "none_left": "ignore"},
    ],
)
def test_what_is_refused(settings):
    with pytest.raises(ValidationError):
        RecordedResponse.model_validate_json(json.dumps(settings), strict=True)


def test_the_ledger_does_not_repeat_bodies_and_the_engine_gets_them():
    one = fault({"response": "secret of 16 byt"}, *TWO)
    entry = Entry(id="r", fault=one, on=On(tool="search"))
    assert entry.settings["responses"][0] == {"response": "16 bytes"}
    assert entry.settings["responses"][2]["response"] == "11 bytes"
    profile = Profile(name="p", entries=(entry,))
    assert from_dump(json.loads(json.dumps(dump(profile)))).entries[0].fault == one


def test_it_is_required_unless_it_is_optional():
    assert fault({}).required
    assert not fault({}, optional=True).required
