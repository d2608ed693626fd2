"""The mock's MCP server: sessions, both transports, every version; its state is all that it counts."""

from __future__ import annotations

import json

import pytest

from faultwire.events import Request
from faultwire.mock import _mcp_tools, script
from faultwire.mock.mcp import McpServer
from faultwire.wire.framing import sse

ACCEPT = ("accept", "application/json, text/event-stream")


def post(server, message, *headers, path="/mcp"):
    head = (("content-type", "application/json"), ACCEPT, *headers)
    return server.answer(Request("POST", "http", "h", 80, path, head, json.dumps(message).encode()))


def ask(method, ident=1, **params):
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def call(name, ident=1, **arguments):
    return ask("tools/call", ident, name=name, arguments=arguments)


def said(answer):
    if answer.events is None:
        return json.loads(answer.body)
    return [json.loads(sse.fields(event).data) for event in answer.events]


def session(server, version="2025-06-18"):
    answer = post(server, ask("initialize", protocolVersion=version))
    assert said(answer)[0]["result"]["protocolVersion"] == version
    return ("mcp-session-id", dict(answer.headers)["mcp-session-id"])


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_session_from_hand_shake_to_end(version):
    server = McpServer()
    of = session(server, version)
    assert post(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}, of).status == 202
    names = [tool["name"] for tool in said(post(server, ask("tools/list"), of))[0]["result"]["tools"]]
    assert names == ["get_weather", "web_search", "create_order", "list_orders"]
    gone = Request("DELETE", "http", "h", 80, "/mcp", (of,))
    assert server.answer(gone).status == 200
    assert post(server, ask("tools/list"), of).status == 404
    assert post(server, ask("tools/list")).status == 400


def test_tools_give_words_and_values_and_orders_are_kept():
    server = McpServer()
    of = session(server)
    (weather,) = said(post(server, call("get_weather", city="Oslo"), of))
    assert json.loads(weather["result"]["content"][0]["text"]) == weather["result"]["structuredContent"]
    for ident in (2, 3):
        post(server, call("create_order", ident, item="tea"), of)
    (orders,) = said(post(server, call("list_orders"), of))
    assert json.loads(orders["result"]["content"][0]["text"]) == {"count": 2, "items": ["tea", "tea"]}
    (failed,) = said(post(server, call("create_order"), of))
    assert failed["result"]["isError"] is True
    (unknown,) = said(post(server, call("nothing"), of))
    assert unknown["error"]["code"] == -32602
    assert said(post(server, ask("nothing/at/all"), of))[0]["error"]["code"] == -32601


def test_json_progress_and_batches():
    server = McpServer()
    of = session(server, "2025-03-26")
    assert said(post(server, ask("ping"), of, path="/mcp?answers=json")) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {},
    }
    with_token = ask("tools/call", 4, name="list_orders", _meta={"progressToken": "p"})
    assert [one.get("method") for one in said(post(server, with_token, of))] == [
        "notifications/progress",
        None,
    ]
    both = said(post(server, [ask("ping", 1), call("list_orders", 2)], of, path="/mcp?answers=json"))
    assert [one["id"] for one in both] == [1, 2]
    newer = ("mcp-protocol-version", "2025-06-18")
    assert post(server, [ask("ping")], of, newer).status == 400, "batches were taken out again"


def test_without_a_handshake():
    server = McpServer()
    version = ("mcp-protocol-version", "2026-07-28")
    found = said(post(server, ask("server/discover"), version, ("mcp-method", "server/discover")))[0]
    assert found["result"]["supportedVersions"] == ["2026-07-28"]
    named = (version, ("mcp-method", "tools/call"), ("mcp-name", "list_orders"))
    assert said(post(server, call("list_orders"), *named))[0]["result"]["resultType"] == "complete"
    wrong = post(server, call("create_order", item="x"), *named)
    assert (wrong.status, said(wrong)["error"]["code"]) == (400, -32020)
    assert server.shop.orders == []


async def test_answers_come_in_the_stream_of_http_and_sse():
    server = McpServer()
    stream = server.answer(Request("GET", "http", "h", 80, "/api/sse", (("accept", "text/event-stream"),)))
    address = sse.fields(await stream.feed.next()).data.decode()
    assert address.startswith("/api/messages/?session_id=")
    assert post(server, call("list_orders", 9), path=address).status == 202
    assert json.loads(sse.fields(await stream.feed.next()).data)["id"] == 9
    assert post(server, ask("ping"), path="/messages/?session_id=nobody").status == 404


@pytest.mark.parametrize(
    ("path", "method", "mine"), [("/mcp", "GET", True), ("/sse", "GET", True), ("/v1/models", "GET", False)]
)
def test_what_it_answers(path, method, mine):
    assert McpServer().speaks(Request(method, "http", "h", 80, path)) is mine


def test_a_script_adds_tools():
    tools = "[{name: lookup, result: {id: 7}}, {name: web_search, result: mine, is_error: true}]"
    text = f"turns: []\ntools: {tools}"
    made = tuple(tool.made() for tool in script.parse(text, "s.yaml").tools)
    server = McpServer(more=made)
    of = session(server)
    assert said(post(server, call("lookup"), of))[0]["result"]["content"][0]["text"] == '{"id":7}'
    assert said(post(server, call("web_search"), of))[0]["result"]["isError"] is True
    assert [tool.name for tool in server.tools].count("web_search") == 1
    assert _mcp_tools.stated_tool("a", "b", "c").run({}).text == "c"
