from __future__ import annotations

import json

import pytest

from faultwire.dice import Dice
from faultwire.errors import ProfileError
from faultwire.events import Exchange, Request
from faultwire.faults.mcp.mcp_message import ID, McpMessage
from faultwire.profile.load import inline

ANSWER = '{"jsonrpc": "2.0", "id": "{id}", "result": {"content": null}}'
NOTE = '{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}'


def entry(*messages, more=""):
    return f"  - mcp_message: {{messages: {json.dumps(messages)}{more}}}"


def test_the_call_gets_the_message_with_its_id_and_the_server_is_not_called(mcp_session):
    session = mcp_session(entry(ANSWER))
    met = session.call("create_order", item="tea")
    assert met.said == [{"jsonrpc": "2.0", "id": session.ident, "result": {"content": None}}]
    assert (met.asked, met.effects) == (False, ["answered 1 message of the profile's"])
    assert ID in ANSWER


def test_several_are_events_in_their_order(mcp_session):
    met = mcp_session(entry(NOTE, ANSWER)).call("list_orders")
    assert [one.get("method", "answer") for one in met.said] == ["notifications/message", "answer"]
    assert met.effects == ["answered 2 messages of the profile's"]


def test_what_is_no_json_is_sent_byte_by_byte():
    body = json.dumps({"jsonrpc": "2.0", "id": "x7", "method": "tools/call", "params": {"name": "t"}})
    request = Request("POST", "https", "mcp.example", 443, "/mcp", (), body.encode())
    exchange = Exchange("s", 1, request, kind="tool", protocol="mcp", tool="t")
    mutator = McpMessage(messages=('{"a": 1, "a": "{id}", ',)).start(exchange, Dice(1, "s").held("f", "k", 0))
    assert mutator.answer().body == b'{"a": 1, "a": "x7", '


def test_other_methods_and_where_it_cannot_act(chat, mcp_session):
    session = mcp_session(entry(ANSWER, more=', methods: "tools/list"'))
    assert session.ask("tools/list").said[0]["result"] == {"content": None}
    assert session.call("list_orders").said[-1]["result"]["content"], "a call is left alone"
    assert McpMessage(messages=("x",)).inapplicable(chat()) == "the exchange does not speak `mcp`"
    with pytest.raises(ProfileError):
        inline("mcp_message: {messages: []}")
