"""A tool that is seen at several sites meets a fault at one: the outermost, or the one that is named."""

from __future__ import annotations

import json

import pytest

from faultwire.dice import Dice
from faultwire.errors import ProfileError
from faultwire.events import Request, Response
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse

JSON = (("content-type", "application/json"),)
OK = Response(200, "OK", JSON)


class Session:
    def __init__(self, fault="tool_empty: {}", on="{tool: search}"):
        text = (
            f"name: p\ntools: {{search: {{url: 'https://api.x.com/*'}}}}\nfaults:\n  - {fault}\n    on: {on}"
        )
        self.state = SessionState()
        self.context = SessionContext("s", parse(text, "p.yaml"), Dice(1, "s"), self.state)

    def _met(self, head, body, answer):
        pipeline = ExchangePipeline(self.context, head)
        departure = pipeline.request(body)
        list(departure.actions)
        if departure.answer is None:
            pipeline.head(OK)
            list(pipeline.feed(answer))
        list(pipeline.finish())
        return [(line.outcome, line.reason) for line in pipeline.over()]

    def http(self):
        return self._met(Request("GET", "https", "api.x.com", 443, "/find", JSON), b"", b'{"hits": 3}')

    def mcp(self, ident=1):
        call = {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": "search"}}
        told = {"jsonrpc": "2.0", "id": ident, "result": {"content": [{"type": "text", "text": "3 hits"}]}}
        head = Request("POST", "https", "mcp.x.com", 443, "/mcp", JSON)
        return self._met(head, json.dumps(call).encode(), json.dumps(told).encode())

    def result(self, name="search"):
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        messages = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "3 hits"},
        ]
        head = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON)
        return self._met(head, json.dumps({"model": "m", "messages": messages}).encode(), b"{}")


FIRED = ("fired", "call 1 matches")
AGAIN = ("reapplied", "the conversation goes on: what exchange 1 changed is changed again")


def test_a_tool_without_a_call_on_the_wire_is_faulted_at_its_result():
    assert Session().result() == [FIRED]


@pytest.mark.parametrize("site", ["http", "mcp"])
@pytest.mark.parametrize("name", ["search", "mcp__files__search"])
def test_a_fault_acts_once_on_one_call(site, name):
    session = Session(on="{tool: '*search'}")
    assert getattr(session, site)() == [FIRED]
    assert session.result(name) == [
        ("skipped", f"tool `{name}` is seen at its `{site}` site in this session")
    ]
    assert session.state.counts("tool_empty") == (1, 1), "the result was not counted"


def test_the_site_that_the_agent_called_first_is_the_outermost():
    session = Session()
    assert session.mcp() == [FIRED]
    assert session.http() == [("skipped", "tool `search` is seen at its `mcp` site in this session")]
    assert session.mcp(2)[0][0] == "fired"


def test_the_rule_holds_for_every_fault_that_names_a_tool():
    session = Session("status: {code: 503}")
    assert session.mcp() == [FIRED]
    assert session.http() == [("skipped", "tool `search` is seen at its `mcp` site in this session")]
    wide = Session("latency: {ms: 1}", "{kind: tool}")
    assert [wide.mcp()[0][0], wide.http()[0][0]] == ["fired", "fired"], "no tool is named"


@pytest.mark.parametrize("site", ["http", "mcp", "result"])
def test_a_site_that_is_named_is_the_only_one(site):
    session = Session(on=f"{{tool: search, site: {site}}}")
    met = {each: getattr(session, each)() for each in ("mcp", "http", "result")}
    assert met.pop(site) == [FIRED]
    assert list(met.values()) == [[], []]


@pytest.mark.parametrize("site", ["http", "mcp"])
def test_a_site_without_a_tool_means_every_tool_there_and_no_model(site):
    session = Session("status: {code: 503}", f"{{site: {site}}}")
    met = {each: getattr(session, each)() for each in ("result", "mcp", "http")}
    assert met.pop(site) == [FIRED]
    assert list(met.values()) == [[], []]


@pytest.mark.parametrize(("site", "fires"), [("mcp", True), ("http", False)])
def test_what_mcp_says_around_its_calls_is_at_its_site(site, fires):
    session = Session("status: {code: 503}", f"{{path: /mcp, site: {site}}}")
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    head = Request("POST", "https", "mcp.x.com", 443, "/mcp", JSON)
    assert session._met(head, listing, b"{}") == ([FIRED] if fires else [])


@pytest.mark.parametrize(
    ("fault", "on", "why"),
    [
        ("truncate_response: {max_tokens: 2}", "tool: search", "`tool` for `truncate_response`, which acts"),
        ("memory_poisoning: {}", "site: mcp", "`site: mcp` for `memory_poisoning`, which acts on `llm` only"),
        ("agent_down: {}", "tool: search", "`tool` for `agent_down`, which acts on `agent` only"),
        ("status: {code: 503}", "kind: llm, site: mcp", "`site: mcp` with `kind: llm`"),
        ("tool_empty: {}", "kind: tool, site: result", "`site: result` with `kind: tool`"),
        ("tool_empty: {}", "kind: llm, site: http", "`site: http` with `kind: llm`"),
    ],
)
def test_a_site_that_can_never_be_reached_is_an_error(fault, on, why):
    with pytest.raises(ProfileError, match=f"found {why}"):
        Session(fault, f"{{{on}}}")


def test_a_named_site_that_a_fault_does_not_have_is_an_error():
    with pytest.raises(
        ProfileError, match="found `site: result` for `status`, which does not act on results"
    ):
        Session("status: {code: 503}", "{tool: search, site: result}")


def test_a_result_replaced_before_the_tool_was_seen_stays_replaced():
    session = Session()
    assert session.result() == [FIRED]
    session.mcp()
    assert session.result() == [AGAIN], "the same result again is not decided again"
    assert session.state.seen_at("search") == "mcp"
