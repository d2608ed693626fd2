"""MCP's HTTP+SSE: a fault is decided on a `POST` and acts on the event in another exchange's stream."""

from __future__ import annotations

import json

import pytest

from faultwire.dice import Dice
from faultwire.events import Cut, Exchange, Request, Response, Send
from faultwire.exchange.deferred_replies import DeferredReplies
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse

SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
ADDRESS = "/messages/?session_id=abc"
ENDPOINT = f"event: endpoint\r\ndata: {ADDRESS}\r\n\r\n".encode()


class Session:
    def __init__(self, faults, path="/sse", first=ENDPOINT):
        self.state = SessionState()
        profile = parse(f"name: p\nfaults:\n{faults}", "p.yaml")
        self.context = SessionContext("s", profile, Dice(1, "s"), self.state)
        self.stream = ExchangePipeline(self.context, Request("GET", "http", "h", 80, path))
        self.stream.request(b"" if self.stream.needs_request_body else None)
        self.stream.head(SSE)
        self.heard = self.hear(first)

    def hear(self, data):
        self.actions = list(self.stream.feed(data))
        return b"".join(action.data for action in self.actions if isinstance(action, Send))

    def post(self, ident=1, name="search", address=ADDRESS):
        """What the server is sent, or the answer of ours; and the ledger of the `POST`."""
        asked = {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": name}}
        head = Request("POST", "http", "h", 80, address, (("content-type", "application/json"),))
        pipeline = ExchangePipeline(self.context, head)
        departure = pipeline.request(json.dumps(asked).encode())
        list(departure.actions)
        if departure.answer is not None:
            return departure.answer, pipeline.over()
        pipeline.head(Response(202))
        assert list(pipeline.finish()) == []
        return json.loads(departure.request.body), pipeline.over()


def answer(ident=1, text="22C"):
    result = {"content": [{"type": "text", "text": text}], "isError": False}
    said = json.dumps({"jsonrpc": "2.0", "id": ident, "result": result})
    return f"event: message\r\ndata: {said}\r\n\r\n".encode()


def test_the_event_with_the_request_s_id_is_changed_and_no_other_byte():
    session = Session("  - tool_malicious: {payload: obey, canary: false}\n    on: {tool: search}")
    assert session.heard == ENDPOINT
    sent, lines = session.post(7)
    assert (sent["method"], lines) == ("tools/call", ())
    others = b": ping\r\n\r\n" + answer(6) + answer("7")
    assert session.hear(others) == others
    assert session.hear(answer(7)) == answer(7).replace(b"22C", b"obey")
    assert session.hear(answer(7)) == answer(7), "once"
    (line,) = [line for line in session.stream.over() if line.outcome == "fired"]
    assert (line.fault, line.site, line.subject) == ("tool_malicious", "response", "search")


def test_the_answer_may_come_in_pieces_and_before_the_post_is_accepted():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    session.post()
    data = answer()
    whole = b"".join(session.hear(data[at : at + 3]) for at in range(0, len(data), 3))
    assert whole == data.replace(b"22C", b"")


@pytest.mark.parametrize("fault", ["tool_error: {message: boom}", "mcp_error: {code: -32602}"])
def test_an_answer_in_the_tool_s_place_comes_by_the_stream_and_the_tool_is_not_called(fault):
    session = Session(f"  - {fault}\n    on: {{tool: search}}")
    sent, _ = session.post("x")
    assert sent == {"jsonrpc": "2.0", "id": "x", "method": "ping"}
    pong = b'event: message\ndata: {"jsonrpc":"2.0","id":"x","result":{}}\n\n'
    told = json.loads(session.hear(pong).partition(b"data: ")[2])
    assert told["id"] == "x"
    assert told.get("error", {}).get("code") == -32602 or told["result"]["isError"] is True
    assert [line.outcome for line in session.stream.over()][-1] == "fired"


def test_an_error_of_http_is_the_post_s_own():
    session = Session("  - status: {code: 503}\n    on: {tool: search}")
    refused, lines = session.post()
    assert (refused.status, [line.outcome for line in lines]) == (503, ["fired"])
    assert session.hear(answer()) == answer()


def test_a_timeout_after_the_work_is_an_error_in_the_stream():
    session = Session("  - timeout_after_commit: {}\n    on: {tool: search}")
    sent, _ = session.post(3)
    assert sent["method"] == "tools/call"
    told = json.loads(session.hear(answer(3)).partition(b"data: ")[2])
    assert (told["id"], told["error"]["message"]) == (3, "Gateway Timeout")


def test_a_cut_ends_the_stream():
    session = Session("  - cut_stream: {after_events: 1}\n    on: {tool: search}")
    session.post()
    assert session.hear(answer(2)) == answer(2), "another request's"
    assert session.hear(answer()) == b"", "the answer is the event that closes"
    assert [action for action in session.actions if not isinstance(action, Send)] == [Cut()]
    assert [line.outcome for line in session.stream.over()] == ["fired"]


def test_what_never_came_is_told_and_gives_its_place_back():
    session = Session("  - tool_empty: {}\n    on: {tool: search}\n    trigger: {max_times: 1}")
    session.post()
    assert session.state.counts("tool_empty") == (1, 1)
    (line,) = session.stream.over()
    assert (line.outcome, line.reason) == ("preempted", "its stream ended first")
    assert session.state.counts("tool_empty") == (1, 0)
    assert (session.state.owed, session.state.inboxes) == ({}, {})


def test_other_streams_pass_byte_by_byte():
    session = Session("  - tool_empty: {}", path="/events", first=b"")
    told = b"event: price\ndata: 7\n\n" + ENDPOINT + answer()
    assert session.hear(told) == told
    assert session.state.inboxes == {}, "only the first event of a stream names an address"
    assert list(session.stream.finish()) == []


@pytest.mark.parametrize(
    ("method", "response", "opens"),
    [
        ("GET", SSE, True),
        ("POST", SSE, False),
        ("GET", Response(404, "", SSE.headers), False),
        ("GET", Response(200), False),
        ("GET", Response(200, "", (*SSE.headers, ("content-encoding", "gzip"))), False),
    ],
)
def test_what_may_be_such_a_stream(method, response, opens):
    exchange = Exchange("s", 1, Request(method, "http", "h", 80, "/x"))
    assert DeferredReplies.opens(exchange, response) is opens


def test_nothing_is_held_for_a_calm_profile():
    context = SessionContext("s", parse("name: p\nfaults: []", "p.yaml"), Dice(1, "s"), SessionState())
    pipeline = ExchangePipeline(context, Request("GET", "http", "h", 80, "/sse"))
    pipeline.request(None)
    pipeline.head(SSE)
    assert not pipeline.touches


def test_only_an_open_stream_is_owed_to():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    _, lines = session.post(address="/elsewhere")
    assert [line.outcome for line in lines] == ["no_effect"]
    assert session.state.owed == {}
