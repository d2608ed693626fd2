"""MCP's HTTP+SSE: a fault is decided on a `POST` and acts on the event in another exchange's stream."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Cut, Exchange, Request, Response, Send, Wait
from faultwire.exchange.active_fault import ActiveFault
from faultwire.exchange.deferred_replies import DeferredReplies, ExpectedReply, expect
from faultwire.exchange.fault_chain import FaultChain
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.plan import Decision
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.exchange.stage import ExchangeState
from faultwire.faults._api import Mutator
from faultwire.faults.stream.stall import Stall
from faultwire.profile.entry_model import Entry
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
        self.heard = self.receive(first)

    def receive(self, data):
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
    assert session.receive(others) == others
    assert session.receive(answer(7)) == answer(7).replace(b"22C", b"obey")
    assert session.receive(answer(7)) == answer(7), "once"
    (line,) = [line for line in session.stream.over() if line.outcome == "fired"]
    assert (line.fault, line.site, line.subject) == ("tool_malicious", "response", "search")


def test_the_answer_may_come_in_pieces_and_before_the_post_is_accepted():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    session.post()
    data = answer()
    whole = b"".join(session.receive(data[at : at + 3]) for at in range(0, len(data), 3))
    assert whole == data.replace(b"22C", b"")


@pytest.mark.parametrize("fault", ["tool_error: {message: boom}", "mcp_error: {code: -32602}"])
def test_an_answer_in_the_tool_s_place_comes_by_the_stream_and_the_tool_is_not_called(fault):
    session = Session(f"  - {fault}\n    on: {{tool: search}}")
    sent, _ = session.post("x")
    assert sent == {"jsonrpc": "2.0", "id": "x", "method": "ping"}
    pong = b'event: message\ndata: {"jsonrpc":"2.0","id":"x","result":{}}\n\n'
    told = json.loads(session.receive(pong).partition(b"data: ")[2])
    assert told["id"] == "x"
    assert told.get("error", {}).get("code") == -32602 or told["result"]["isError"] is True
    assert [line.outcome for line in session.stream.over()][-1] == "fired"


def test_an_error_of_http_is_the_post_s_own():
    session = Session("  - status: {code: 503}\n    on: {tool: search}")
    refused, lines = session.post()
    assert (refused.status, [line.outcome for line in lines]) == (503, ["fired"])
    assert session.receive(answer()) == answer()


def test_a_timeout_after_the_work_is_an_error_in_the_stream():
    session = Session("  - timeout_after_commit: {}\n    on: {tool: search}")
    sent, _ = session.post(3)
    assert sent["method"] == "tools/call"
    told = json.loads(session.receive(answer(3)).partition(b"data: ")[2])
    assert (told["id"], told["error"]["message"]) == (3, "Gateway Timeout")


def test_a_cut_ends_the_stream():
    session = Session("  - cut_stream: {after_events: 1}\n    on: {tool: search}")
    session.post()
    assert session.receive(answer(2)) == answer(2), "another request's"
    assert session.receive(answer()) == b"", "the answer is the event that closes"
    assert [action for action in session.actions if not isinstance(action, Send)] == [Cut()]
    assert [line.outcome for line in session.stream.over()] == ["fired"]


def test_what_never_came_is_reported_and_gives_its_place_back():
    session = Session("  - tool_empty: {}\n    on: {tool: search}\n    trigger: {max_times: 1}")
    session.post()
    assert session.state.counts("tool_empty") == (1, 1)
    (line,) = session.stream.over()
    assert (line.outcome, line.reason) == ("preempted", "its stream ended first")
    assert session.state.counts("tool_empty") == (1, 0)
    assert (session.state.owed, session.state.inboxes) == ({}, {})


def test_a_fault_that_fired_keeps_its_place():
    session = Session("  - tool_empty: {}\n    on: {tool: search}\n    trigger: {max_times: 1}")
    session.post()
    assert session.receive(answer()) != answer()
    assert session.state.counts("tool_empty") == (1, 1)
    (line,) = session.stream.over()
    assert (line.outcome, session.state.counts("tool_empty")) == ("fired", (1, 1)), "said once"


def test_a_fault_that_only_takes_notes_has_no_place_to_give_back():
    session = Session("  - tool_stale: {}\n    on: {tool: search}\n    trigger: {calls: [2], max_times: 1}")
    session.post()
    assert session.receive(answer()) == answer()
    assert session.state.counts("tool_stale") == (1, 0)
    session.post(2)
    assert session.receive(answer(2, "24C")) == answer(2), "the result before"
    assert session.state.counts("tool_stale") == (2, 1)


def test_a_canary_is_that_of_the_exchange_which_asked():
    session = Session("  - tool_malicious: {}\n    on: {tool: search}")
    session.post()
    heard = session.receive(answer())
    ((canary, planted),) = session.state.canaries.items()
    assert canary.encode() in heard
    assert (planted.entry, planted.number) == ("tool_malicious", 2)


def test_a_request_of_the_server_with_the_same_id_is_no_answer():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    session.post()
    own = b'event: message\ndata: {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}\n\n'
    assert session.receive(own) == own
    assert session.receive(answer()) != answer()


def test_one_answer_of_several_in_one_event_is_changed():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    session.post()
    one, other = (json.loads(answer(n).partition(b"data: ")[2]) for n in (1, 9))
    event = f"event: message\ndata: {json.dumps([other, one])}\n\n".encode()
    changed = json.loads(session.receive(event).partition(b"data: ")[2])
    assert changed == [other, {**one, "result": {**one["result"], "content": [{"type": "text", "text": ""}]}}]


@pytest.mark.parametrize(("size", "opens"), [(4096, True), (4097, False)])
def test_an_address_has_a_bounded_length(size, opens):
    address = "/messages/".ljust(size, "x")
    session = Session(
        "  - tool_empty: {}\n    on: {tool: search}",
        first=ENDPOINT.replace(ADDRESS.encode(), address.encode()),
    )
    assert len(session.state.inboxes) == opens


def test_a_comment_may_come_before_the_address():
    session = Session("  - tool_empty: {}\n    on: {tool: search}", first=b": hello\r\n\r\n" + ENDPOINT)
    assert session.heard == b": hello\r\n\r\n" + ENDPOINT
    assert list(session.state.inboxes) == [f"http://h{ADDRESS}"]


def test_an_event_that_never_ended_is_the_last():
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    assert session.receive(b"event: mess") == b""
    assert list(session.stream.finish()) == [Send(b"event: mess")]
    whole = Session("  - tool_empty: {}\n    on: {tool: search}")
    assert list(whole.stream.finish()) == []


# ---------------------------------------------------------------- whatever a fault makes of an answer


class Scripted(Mutator):
    """Gives another head, and then what the test says."""

    def __init__(self, parts=(), last=(), head=None, effect="did it"):
        self.parts, self.last, self.other, self.effect = parts, last, head, effect

    def head(self, response):
        return self.other or response

    def feed(self, chunk):
        return self.parts

    def finish(self):
        return self.last


def waiting(*mutators, call="fire", counted=True):
    """A session in which these wait for the answer to request 1; the stream's actions for it."""
    session = Session("  - tool_empty: {}\n    on: {tool: search}")
    chain = FaultChain()
    for n, mutator in enumerate(mutators):
        entry = Entry(id=f"e{n}", fault=Stall(after_events=1))
        subject = Subject("k", 0, 0)
        session.state.note(entry.id, subject, ("fire", "", None))
        decision = Decision(entry, subject, "fire", "test", counted=counted, call=(call, "", None))
        chain.add(ActiveFault(decision, mutator))
    asked = Exchange("s", 2, Request("POST", "http", "h", 80, ADDRESS), "tool", "mcp")
    session.state.expect((f"http://h{ADDRESS}", b"1"), ExpectedReply(asked, 1, chain))
    session.receive(answer())
    return session


JSON = Response(200, "OK", (("content-type", "application/json"),))


def test_a_body_in_parts_becomes_one_event_and_waits_are_kept():
    parts = (Send(b'{"jsonrpc": "2.0", "id": 9,'), Wait(0.1), Send(b' "error": '))
    session = waiting(Scripted(parts, (Send(b'{"code": 1}}'),), JSON))
    wait, event = session.actions
    assert wait == Wait(0.1)
    assert json.loads(event.data.partition(b"data: ")[2]) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": 1},
    }


def test_a_body_that_is_no_json_is_an_event_as_it_is():
    session = waiting(Scripted((Send(b"<html>"),), (), JSON))
    (event,) = session.actions
    assert event.data.partition(b"data: ")[2].strip() == b"<html>"


def test_a_body_that_is_cut_is_not_delivered_in_part():
    session = waiting(Scripted((Send(b'{"jsonrpc":'), Cut(), Send(b"never")), (Send(b"never"),), JSON))
    assert session.actions == [Cut()]


def test_each_fault_on_an_answer_keeps_or_gives_back_its_own_place():
    session = waiting(Scripted((Send(b"a"),)), Scripted((Send(b"b"),), effect=None))
    assert [session.state.counts(f"e{n}") for n in (0, 1)] == [(1, 1), (1, 0)]
    assert [(line.id, line.outcome) for line in session.stream.ledger() if line.id[0] == "e"] == [
        ("e0", "fired"),
        ("e1", "no_effect"),
    ]
    for call, counted in (("skip", True), ("fire", False)):
        kept = waiting(Scripted(effect=None), call=call, counted=counted)
        assert kept.state.counts("e0") == (1, 1), "it took none"


def call(ident=1, **more):
    return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": "search"}, **more}


def expected(body, mutator=None, *, protocol="mcp", answer=None, ended=False):
    """Whether a request's answer is waited for in an open stream, and whether it goes on as it is."""
    state, chain = SessionState(), FaultChain()
    request = Request("POST", "http", "h", 80, "/m", (), json.dumps(body).encode())
    state.open_replies(request.url)
    decision = Decision(Entry(id="e", fault=Stall(after_events=1)), Subject("k", 0, 0), "fire", "test")
    chain.add(ActiveFault(decision, mutator or Scripted()))
    chain.answer, chain.ended = answer, ended
    sent = expect(Exchange("s", 1, request, "tool", protocol), chain, state, request)
    return bool(state.owed), sent is request


def test_one_request_of_mcp_is_waited_for():
    assert expected(call()) == (True, True)
    assert expected(call("x"), answer=Response(299)) == (True, False)
    assert expected([call(), {"jsonrpc": "2.0", "method": "notifications/x"}]) == (True, True)


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (call(), {"protocol": "a2a"}),
        (call(), {"protocol": None}),
        ([call(1), call(2)], {}),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}),
        (call(), {"ended": True}),
        (call(), {"answer": Response(300)}),
        (call(), {"mutator": Mutator()}),
    ],
)
def test_nothing_else_is(body, more):
    assert expected(body, **more) == (False, True)


def test_an_answer_of_ours_is_no_such_stream():
    context = Session("  - tool_empty: {}\n    on: {tool: search}").context
    at = ExchangeState(context, Exchange("s", 1, Request("GET", "http", "h", 80, "/sse")), None)
    at.chain.answer = SSE
    stage = DeferredReplies(at)
    assert stage.on_response_head(SSE) is SSE
    assert not stage.touches
    at.chain.answer = None
    stage.on_response_head(SSE)
    assert stage.touches


def test_only_bytes_are_looked_into():
    context = Session("  - tool_empty: {}\n    on: {tool: search}").context
    head = Exchange("s", 1, Request("GET", "http", "h", 80, "/sse"))
    stage = DeferredReplies(ExchangeState(context, head, None))
    actions = [Wait(1.0), Send(ENDPOINT), Cut()]
    assert list(stage.on_data(actions)) == actions
    assert stage.on_response_head(SSE) is SSE
    assert list(stage.on_data(actions)) == actions
    assert list(stage.on_end([Wait(2.0)])) == [Wait(2.0)]


def test_other_streams_pass_byte_by_byte():
    session = Session("  - tool_empty: {}", path="/events", first=b"")
    told = b"event: price\ndata: 7\n\n" + ENDPOINT + answer()
    assert session.receive(told) == told
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
        ("GET", Response(200, "", (*SSE.headers, ("content-encoding", "identity"))), True),
    ],
)
def test_what_may_be_such_a_stream(method, response, opens):
    exchange = Exchange("s", 1, Request(method, "http", "h", 80, "/x"))
    assert DeferredReplies.opens(exchange, response) is opens
    assert DeferredReplies.opens(replace(exchange, protocol="mcp"), response) is opens
    assert not DeferredReplies.opens(replace(exchange, protocol="a2a"), response)


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
