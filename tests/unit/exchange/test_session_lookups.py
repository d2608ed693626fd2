"""What a session knows of tool calls, of the sites of tools, and of replies that come elsewhere."""

from __future__ import annotations

from dataclasses import replace

from faultwire.events import RequestView, ToolCall, ToolResult, Turn
from faultwire.exchange.session_state import KEPT, SessionState

UNNAMED = ToolResult("call_1", None, "", "42", False, ("input", 0), True)
NAMED = replace(UNNAMED, name="calc", arguments="{}")
CALL = ToolCall("call_1", "search", '{"q": 1}')


def view(*results: ToolResult) -> RequestView:
    said = (Turn("user", "hi"), Turn("tool", "", tool_results=results))
    return RequestView("m", stream=True, system="be kind", turns=said, tools=("search",))


def test_a_result_gets_the_name_of_the_call_that_an_earlier_response_made():
    state = SessionState()
    state.learn((CALL, ToolCall("call_2", "other", "{}")))
    found = replace(UNNAMED, name="search", arguments='{"q": 1}')
    assert state.with_tool_names(view(UNNAMED, NAMED)) == view(found, NAMED)
    unknown = replace(UNNAMED, call_id="call_9")
    assert state.with_tool_names(view(unknown)) == view(unknown)


def test_a_view_that_needs_no_names_stays_as_it_is():
    state, unnamed, named = SessionState(), view(UNNAMED), view(NAMED)
    assert state.with_tool_names(unnamed) is unnamed, "no call is known"
    state.learn((CALL,))
    assert state.with_tool_names(named) is named


def test_a_call_without_an_id_is_not_kept():
    state = SessionState()
    state.learn((replace(CALL, id=""),))
    assert state.tools == {}


def test_the_calls_that_are_kept_are_bounded():
    state = SessionState()
    state.learn(ToolCall(f"call_{n}", "t", "{}") for n in range(KEPT + 3))
    assert len(state.tools) == KEPT
    assert next(iter(state.tools)) == "call_3"


# ---------------------------------------------------------------- where a tool was called


def test_the_first_site_of_a_tool_stays():
    state = SessionState()
    assert state.seen_at("search") is None
    state.note_call("search", "mcp")
    state.note_call("search", "http")
    assert state.seen_at("search") == "mcp"
    assert state.seen_at("other") is None


def test_a_tool_of_a_named_mcp_server_is_the_server_s_own():
    state = SessionState()
    state.note_call("read__all", "mcp")
    assert state.seen_at("mcp__files__read__all") == "mcp"
    assert state.seen_at("my__files__read__all") is None
    assert state.seen_at("mcp__files__write") is None
    state.note_call("mcp__files__read__all", "http")
    assert state.seen_at("mcp__files__read__all") == "http", "its full name comes first"
    assert state.seen_at("read__all") == "mcp"


# ---------------------------------------------------------------- replies in another stream


def test_a_stream_that_ends_gives_what_was_still_to_come_in_it():
    state = SessionState()
    state.open_replies("http://h/a")
    state.open_replies("http://h/b")
    for address, ident in (("http://h/a", b"1"), ("http://h/b", b"1"), ("http://h/a", b"2")):
        state.expect((address, ident), (address, ident))
    assert dict(state.inboxes) == {"http://h/a": None, "http://h/b": None}
    assert state.close_replies("http://h/a") == [("http://h/a", b"1"), ("http://h/a", b"2")]
    assert list(state.inboxes) == ["http://h/b"]
    assert dict(state.owed) == {("http://h/b", b"1"): ("http://h/b", b"1")}
    assert state.close_replies("http://h/a") == [], "it has ended already"
