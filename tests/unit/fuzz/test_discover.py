"""What can be generated of a run's traffic, and what of it cannot."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.unit.checks.conftest import call, result, said, talk, used, user

from faultwire.events import Delivery, History, Request
from faultwire.fuzz.case import Target
from faultwire.fuzz.discover import CALLS, as_json, read, surface
from faultwire.wire.framing import sse

SCHEMA = {"type": "object", "properties": {"hits": {"type": "integer"}}}
TOOLS = {"tools": [{"name": "find", "inputSchema": {}, "outputSchema": SCHEMA}]}
FOUND = {"content": [{"type": "text", "text": '{"hits": 3}'}]}


def mcp(number, method, answer, *, stream=False, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
    text = json.dumps({"jsonrpc": "2.0", "id": number, "result": answer}).encode()
    tool = params.get("name")
    return replace(
        talk(number),
        kind="tool" if tool else "other",
        protocol="mcp",
        provider="mcp",
        tool=tool,
        request=Request("POST", "https", "mcp.example", 443, "/mcp", (), body),
        delivered=Delivery(200, "OK", (), sse.write(text, "message") if stream else text),
    )


def sources(*exchanges, prompts=()):
    return {one.target: one for one in surface(History("s", exchanges), prompts).sources}


def test_results_at_their_own_exchange_by_call():
    found = sources(*(used(n, text=f'{{"n": {n}}}') for n in range(1, CALLS + 3)))
    assert list(found) == [Target("result", "search", n) for n in range(1, CALLS + 1)]
    assert found["result", "search", 2].bases == {"seen": '{"n": 2}'}


def test_a_failed_call_has_no_result_and_keeps_its_number():
    found = sources(used(1, status=500), used(2))
    assert list(found) == [Target("result", "search", 2)]


def test_results_inside_of_the_agent_are_seen_in_the_request_to_the_model():
    messages = [user(), said("", call("add")), result('{"sum": 5}')]
    found = sources(talk(1, calls=[call("add")]), talk(2, messages))
    assert found["result", "add", 1].bases == {"seen": '{"sum": 5}'}


def test_messages_of_mcp_with_what_was_seen_and_the_schema_of_results():
    for stream in (False, True):
        found = sources(
            mcp(1, "tools/list", TOOLS, stream=stream),
            mcp(2, "tools/call", FOUND, stream=stream, name="find"),
        )
        assert set(found) == {
            Target("result", "find"), Target("message", "tools/list"), Target("message", "tools/call find"),
        }  # fmt: skip
        assert found["result", "find", 1].schema == SCHEMA
        assert found["result", "find", 1].bases == {"seen": '{"hits": 3}'}
        assert json.loads(found["message", "tools/list", 1].bases["seen"])["result"] == TOOLS


def test_answers_of_models_by_call_with_other_shapes_of_the_first():
    found = sources(talk(1, calls=[call("add")]), talk(2), used(3), talk(4), talk(5))
    answers = [target for target in found if target.kind == "answer"]
    assert answers == [Target("answer", "model", n) for n in (1, 2, 3)]
    assert "empty choices" in found[answers[0]].bases
    assert list(found[answers[1]].bases) == ["seen"]
    bad = replace(talk(1), delivered=Delivery(500, "no", (), b"{}"))
    binary = replace(talk(2), delivered=Delivery(200, "OK", (), b"\xff\x00"))
    page = replace(talk(3), delivered=Delivery(200, "OK", (), b"<html>"))
    assert not [one for one in sources(bad, binary, page) if one.kind == "answer"]
    event = replace(talk(1), delivered=Delivery(200, "OK", (), b'data: {"a": 1}\n\n'))
    assert [one.kind for one in sources(event)] == ["answer"]


def test_prompts_come_first_and_calls_without_a_tools_name_are_named():
    other = replace(used(1), kind="other", tool=None)
    found = surface(History("s", (other, other, mcp(2, "initialize", {}))), ("hi",))
    assert found.sources[0].target == Target("prompt", "1")
    (unnamed,) = found.unnamed
    assert unnamed.startswith(f"{other.request.method} {other.request.host}/")


def test_a_source_is_the_same_after_a_file():
    for source in sources(mcp(1, "tools/list", TOOLS), mcp(2, "tools/call", FOUND, name="find")).values():
        assert read(json.loads(json.dumps(as_json(source)))) == source
