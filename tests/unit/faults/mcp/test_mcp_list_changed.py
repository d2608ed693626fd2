from __future__ import annotations

import pytest

CHANGED = "notifications/tools/list_changed"


def names(met):
    return [tool["name"] for tool in met.said[-1]["result"]["tools"]]


def test_tools_vanish_after_the_first_list_and_the_client_is_notified_once(mcp_session):
    session = mcp_session('  - mcp_list_changed: {tools: "create_*"}')
    assert "create_order" in names(session.ask("tools/list"))
    told = session.call("create_order", item="tea")
    assert [one.get("method") for one in told.said] == [CHANGED, None]
    assert told.said[1]["result"]["isError"] is False, "the call under way is carried out"
    assert dict(told.response.headers)["content-type"].startswith("text/event-stream")
    gone = session.call("create_order", item="milk")
    assert gone.said[0]["error"] == {"code": -32602, "message": "Unknown tool: create_order"}
    assert (gone.asked, session.server.shop.orders) == (False, ["tea"])
    assert len(session.call("list_orders").said) == 1, "told once"
    after = session.ask("tools/list")
    assert names(after) == ["get_weather", "web_search", "list_orders"]
    assert [told.effects, gone.effects, after.effects] == [
        ["told that the tools changed"],
        ["tool `create_order` is gone"],
        ["tools changed (vanish)"],
    ]


def test_without_a_notice(mcp_session):
    session = mcp_session("  - mcp_list_changed: {notify: false, tools: create_order}")
    session.ask("tools/list")
    met = session.call("create_order", item="tea")
    assert met.said[0]["error"]["message"] == "Unknown tool: create_order"


@pytest.mark.parametrize("how", ["describe", "schema"])
def test_tools_change(mcp_session, how):
    session = mcp_session(
        f"  - mcp_list_changed: {{how: {how}, tools: web_search, description: New., notify: false}}"
    )
    before, after = session.ask("tools/list"), session.ask("tools/list")
    old, new = ({tool["name"]: tool for tool in met.said[-1]["result"]["tools"]} for met in (before, after))
    changed = new.pop("web_search")
    assert new == {name: tool for name, tool in old.items() if name != "web_search"}
    if how == "describe":
        assert changed == {**old["web_search"], "description": "New."}
    else:
        assert changed["inputSchema"]["required"] == ["query", "confirm"]
    assert session.call("web_search", query="x").effects == []


def test_pages_of_one_list_count_once(mcp_session):
    session = mcp_session("  - mcp_list_changed: {}")
    session.ask("tools/list")
    assert names(session.ask("tools/list", cursor="2")) == []
    assert session.context.state.memory("mcp_list_changed")["lists"] == 1
