"""MCP on the wire: what is recognised, what it says, and edits that keep every other byte."""

from __future__ import annotations

import json

import pytest

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Exchange, Request, Response, header
from faultwire.wire import tool_sites
from faultwire.wire.framing import split as framing
from faultwire.wire.mcp import edits as mcp_edits, http as mcp, jsonrpc as mcp_jsonrpc
from faultwire.wire.types import Rewrite

PROTOCOL = wire.protocol("mcp")
JSON = ("content-type", "application/json")
BOTH = ("accept", "application/json, text/event-stream")


def post(body, *headers, path="/mcp"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Request("POST", "https", "tools.example.com", 443, path, (JSON, *headers), data)


def asks(method, ident=1, **params):
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def result(ident=1, text="22C", **more):
    return {"jsonrpc": "2.0", "id": ident, "result": {"content": [{"type": "text", "text": text}], **more}}


# ---------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    ("body", "kind", "tool"),
    [
        (asks("tools/call", name="search", arguments={}), "tool", "search"),
        ([asks("ping"), asks("tools/call", 2, name="search")], "tool", "search"),
        (asks("tools/list"), "other", None),
        (asks("initialize", protocolVersion="2024-11-05"), "other", None),
        (asks("server/discover"), "other", None),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, "other", None),
        (asks("tasks/get", taskId="t"), "other", None),
        (result(), "other", None),
        (asks("tools/call", name=7), "other", None),
    ],
)
def test_what_is_a_message_on_any_host_and_path(body, kind, tool):
    for path in ("/mcp", "/", "/gateway/v1/messages?x=1", "/anything/at/all"):
        found = wire.classify(post(body, path=path))
        assert (found.kind, found.protocol, found.tool) == (kind, PROTOCOL, tool)


@pytest.mark.parametrize(
    "body",
    [
        asks("message/send", message={}),
        asks("tasks/get", id="t"),
        asks("eth_call"),
        {"method": "tools/call", "id": 1},
        {"jsonrpc": "2.0"},
        b'{"jsonrpc": "2.0", "method": ',
        b"[]",
    ],
)
def test_what_is_none(body):
    assert wire.classify(post(body)).protocol is not PROTOCOL


@pytest.mark.parametrize(
    ("method", "headers", "path", "known"),
    [
        ("GET", (("mcp-session-id", "s"), ("accept", "text/event-stream")), "/x", True),
        ("DELETE", (("Mcp-Session-Id", "s"),), "/x", True),
        ("GET", (("accept", "text/event-stream"),), "/api/sse", True),
        ("GET", (("accept", "text/event-stream"),), "/events", False),
        ("GET", (), "/sse", False),
        ("PUT", (("mcp-session-id", "s"),), "/x", False),
    ],
)
def test_streams_and_the_end_of_a_session(method, headers, path, known):
    found = wire.classify(Request(method, "http", "h", 80, path, headers))
    assert (found.protocol is PROTOCOL) is known
    assert found.kind == "other"


def test_a_head_shows_that_a_message_may_come():
    """The body must be held then: it alone names the tool."""
    head = Request("POST", "http", "h", 80, "/batch", (JSON, BOTH))
    assert wire.may_be_model(head), "although `/batch` is a path of other APIs"
    assert not wire.may_be_model(Request("POST", "http", "h", 80, "/batch", (JSON,)))
    stateless = (("mcp-method", "tools/call"), ("mcp-name", "search"))
    found = wire.classify(Request("POST", "http", "h", 80, "/m", (JSON, *stateless)))
    assert (found.kind, found.tool) == ("tool", "search")


def test_what_is_volatile_is_not_part_of_the_key():
    def key(ident, token, path="/messages/?session_id=a", **more):
        request = post(asks("tools/call", ident, name="s", _meta={"progressToken": token}, **more), path=path)
        return wire.fingerprint(request, "tool", PROTOCOL)

    assert key(1, 1) == key(2, 7) == key("x", "y", "/messages/?session_id=b")
    assert key(1, 1) != key(1, 1, arguments={"id": 2}), "an id that the tool is asked about is the question"
    assert PROTOCOL.attempt(post(asks("ping"))) == 0, "no SDK repeats a call"


def test_a_session_is_named_by_header_or_query():
    assert mcp.session(post(asks("ping"), ("mcp-session-id", "s1"))) == "s1"
    assert mcp.session(post(asks("ping"), path="/messages/?sessionId=s2")) == "s2"
    assert mcp.session(post(asks("ping"))) is None


# ---------------------------------------------------------------- views


def test_what_messages_say():
    (call,) = mcp_jsonrpc.messages(json.dumps(asks("tools/call", name="s", arguments={"q": "ä"})))
    assert (call.is_request, call.tool, json.loads(call.arguments)) == (True, "s", {"q": "ä"})
    (answer,) = mcp_jsonrpc.messages(json.dumps(result(isError=True)))
    assert (answer.is_answer, answer.text, answer.is_error) == (True, "22C", True)
    (failed,) = mcp_jsonrpc.messages(mcp_jsonrpc.error(1, -32602, "no such tool"))
    assert (failed.text, failed.is_error) == ("no such tool", True)
    for bad in (b"[]", b"{}", b"7", b"nothing"):
        with pytest.raises(WireError):
            mcp_jsonrpc.messages(bad)


def test_views_of_calls_and_answers():
    view = PROTOCOL.request_view(json.dumps(asks("tools/call", 3, name="s", arguments={"a": 1})).encode())
    (call,) = view.turns[0].tool_calls
    assert (call.id, call.name, call.arguments) == ("3", "s", '{"a":1}')
    told = PROTOCOL.response_view(200, json.dumps(result()).encode())
    assert (told.text, told.error, told.complete) == ("22C", None, True)
    reader = PROTOCOL.reader()
    note = mcp.notice("notifications/progress")
    event = mcp.as_event(json.dumps(result()).encode())
    reader.feed(note)
    assert not reader.view().complete
    reader.feed(event)
    assert reader.view().text == "22C"
    assert [PROTOCOL.is_terminal(one) for one in (note, event)] == [False, True]


def test_errors_are_those_of_a_server():
    for status in (400, 404, 429, 503):
        answer = PROTOCOL.error(status, message="so it is", retry_after_s=1.2)
        assert (answer.status, header(answer.headers, "retry-after")) == (status, "2")
        (said,) = mcp_jsonrpc.messages(answer.body)
        assert (said.id, said.error["message"]) == (None, "so it is")


# ---------------------------------------------------------------- edits


ODD = (
    b'{ "jsonrpc":"2.0",\n "id" : 1.0e0, "zzz": 1.50, "result":{"content":[{"type":"image","data":"AA=="},'
    b'{"type":"text","text":"22C","annotations":{"a": 1.0}}],"_meta":{"x":[ ]}}}'
)


def test_a_rewritten_result_keeps_every_other_byte():
    data = ODD.replace(b"1.0e0", b"1")
    changed = mcp_edits.rewritten(data, [1], lambda text, failed: Rewrite("30C"))
    assert changed == data.replace(b'"22C"', b'"30C"')
    assert mcp_edits.rewritten(data, [1], lambda text, failed: None) == data
    assert mcp_edits.rewritten(data, [2], lambda text, failed: Rewrite("30C")) == data, "another call's"


@pytest.mark.parametrize(
    ("text", "values", "rewrite", "becomes"),
    [
        ("22C", {"result": "22C"}, Rewrite("30C"), {"result": "30C"}),
        ('{"t": 22}', {"t": 22}, Rewrite('{"t": 30}'), {"t": 30}),
        ('{"t": 22}', {"t": 22}, Rewrite("all wrong"), {"result": "all wrong"}),
        ('{"t": 22}', {"t": 22}, Rewrite('{"t": ', raw=True), None),
        ("22C", {"t": 22}, Rewrite("boom", is_error=True), None),
        ("22C", {"t": 22}, Rewrite(""), {}),
    ],
)
def test_words_and_values_agree(text, values, rewrite, becomes):
    data = json.dumps(result(text=text, structuredContent=values)).encode()
    changed = json.loads(mcp_edits.rewritten(data, [1], lambda text, failed: rewrite))["result"]
    assert changed.get("structuredContent") == becomes
    assert changed.get("isError", False) is rewrite.is_error


def test_only_its_own_answer_in_a_batch_and_in_a_stream():
    batch = json.dumps([result(1, "one"), result(2, "two")]).encode()
    changed = json.loads(mcp_edits.rewritten(batch, [2], lambda text, failed: Rewrite("new")))
    assert [one["result"]["content"][0]["text"] for one in changed] == ["one", "new"]
    event = b"id: 7\r\nevent: message\r\ndata: " + json.dumps(result()).encode() + b"\r\n\r\n"

    def rename(data):
        return mcp_edits.rewritten(data, [1], lambda text, failed: Rewrite("30C"))

    assert mcp.in_event(event, rename) == event.replace(b"22C", b"30C")
    other = b"event: endpoint\ndata: /messages\n\n"
    assert mcp.in_event(other, lambda data: b"x") == other


def test_lists():
    tools = [{"name": "a", "description": "A.", "inputSchema": {"type": "object"}, "x": 1.0}, {"name": "b"}]
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": "c"}}).encode()
    described = mcp.with_descriptions(data, [1], lambda name, said: said + "!" if name == "a" else said)
    assert described == data.replace(b'"A."', b'"A.!"')
    gone = mcp.without_tools(data, [1], lambda name: name == "a")
    assert json.loads(gone)["result"] == {"tools": [{"name": "b"}], "nextCursor": "c"}
    assert mcp.without_tools(data, [9], lambda name: True) == data
    wanting = mcp.with_schemas(data, [1], lambda name, schema: {**schema, "required": ["q"]})
    assert json.loads(wanting)["result"]["tools"][0]["inputSchema"] == {"type": "object", "required": ["q"]}


# ---------------------------------------------------------------- a tool's own exchange


def site(request, tool="search", protocol="mcp"):
    found = wire.tool_site(Exchange("s", 1, request, kind="tool", tool=tool, protocol=protocol))
    assert found is not None
    return found


def test_a_tool_by_mcp():
    found = site(post([asks("tools/call", 1, name="search"), asks("tools/call", 2, name="other")]))
    assert isinstance(found, tool_sites.McpSite)
    assert (found.name, found.ids) == ("mcp", [1])
    assert found.cannot(Response(500)) == "the server answered 500 by itself"
    said = found.answer(Rewrite("no", is_error=True), 500)
    (message,) = json.loads(said.body)
    assert (said.status, message["id"], message["result"]["isError"]) == (200, 1, True)
    stateless = post(asks("tools/call", name="search"), ("mcp-protocol-version", "2026-07-28"))
    assert json.loads(site(stateless).answer(Rewrite("x"), 500).body)["result"]["resultType"] == "complete"
    assert found.rewritten(b"no message at all", lambda text, failed: Rewrite("x")) == b"no message at all"


def test_a_tool_over_http():
    request = Request("POST", "https", "h", 443, "/find?lang=en", (JSON,), b'{"q": "tea"}')
    found = site(request, protocol=None)
    assert isinstance(found, tool_sites.HttpSite)
    assert json.loads(found.call.arguments) == {"lang": "en", "q": "tea"}
    assert found.rewritten(b'{"hits": 3}', lambda text, failed: Rewrite("")) == b"{}"
    assert found.cannot(Response(404)) == "the tool answered 404 by itself"
    assert (
        found.cannot(Response(200, "", (("content-type", framing.SSE),))) == "the tool's answer is a stream"
    )
    assert found.fails(Rewrite("too late", is_error=True), 504).status == 504
    assert found.answer(Rewrite('{"status": "ok"}'), 500).status == 200


def test_what_calls_no_tool_has_no_site():
    assert wire.tool_site(Exchange("s", 1, post(asks("tools/list")), kind="other", protocol="mcp")) is None


def test_a_tool_that_the_user_mapped_goes_before_recognition():
    from faultwire.profile.model import ToolSite

    found = wire.classify(post(asks("tools/list")), {"files": ToolSite(url="https://tools.example.com/*")})
    assert (found.kind, found.tool, found.protocol) == ("tool", "files", None)
