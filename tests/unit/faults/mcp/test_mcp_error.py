from __future__ import annotations

from faultwire.faults.mcp import _asked
from faultwire.faults.mcp.mcp_error import USUAL, McpError


def test_the_call_is_answered_and_the_server_is_not_asked(mcp_session):
    session = mcp_session("  - mcp_error: {code: -32602}\n    on: {tool: create_order}")
    met = session.call("create_order", item="tea")
    (said,) = met.said
    assert (met.response.status, said["id"]) == (200, session.ident)
    assert said["error"] == {"code": -32602, "message": USUAL[-32602]}
    assert (met.asked, session.server.shop.orders) == (False, [])
    assert met.effects == ["answered error -32602"]
    assert "result" in session.call("list_orders").said[-1], "another tool is left alone"


def test_with_the_call_made(mcp_session):
    session = mcp_session("  - mcp_error: {message: so sad, call_upstream: true}")
    met = session.call("create_order", item="tea")
    assert met.said == [
        {"jsonrpc": "2.0", "id": session.ident, "error": {"code": -32603, "message": "so sad"}}
    ]
    assert (met.asked, session.server.shop.orders, met.effects) == (True, ["tea"], ["told error -32603"])


def test_other_methods(mcp_session):
    session = mcp_session('  - mcp_error: {methods: "tools/*"}\n    trigger: {first: 1}')
    assert session.ask("tools/list").said[0]["error"]["code"] == -32603
    assert "result" in session.ask("tools/list").said[0]


def test_where_it_cannot_act(chat, mcp_session):
    assert McpError().inapplicable(chat()) == "the exchange does not speak `mcp`"
    met = mcp_session("  - mcp_error: {}").ask("tools/list")
    assert [line.reason for line in met.lines] == ["the request is `tools/list`, not `tools/call`"]
    assert _asked.no_request(chat(), "*") == "the exchange speaks no MCP"
