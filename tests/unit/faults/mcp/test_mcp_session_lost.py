from __future__ import annotations


def test_a_lost_session_stays_lost_and_a_new_one_lives(mcp_session):
    session = mcp_session("  - mcp_session_lost: {}\n    on: {kind: tool}\n    trigger: {first: 1}")
    assert session.ask("tools/list").response.status == 200
    lost = session.call("list_orders")
    assert (lost.response.status, lost.asked, lost.effects) == (404, False, ["session lost"])
    assert lost.said == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
    ]
    again = session.call("list_orders", again=True)
    assert (again.response.status, again.effects) == (404, ["session lost earlier"])
    session.begin()
    found = session.call("list_orders", anew=True)
    assert (found.response.status, found.effects) == (200, [])


def test_without_a_session_there_is_nothing_to_lose(mcp_session):
    session = mcp_session("  - mcp_session_lost: {}")
    session.session = None
    met = session.ask("initialize", protocolVersion="2025-06-18")
    assert met.response.status == 200
    assert [line.reason for line in met.lines] == ["the request names no session"]
