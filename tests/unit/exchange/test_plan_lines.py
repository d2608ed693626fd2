"""What a plan says of entries: where they act, and why they do not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, FaultFired, Request, RequestView, ToolResult
from faultwire.exchange.plan import Decision, Plan, decide, decide_result, unknown_websocket, unread_request
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.profile.load import parse
from faultwire.profile.model import Profile

DICE = Dice(1, "s")
POST = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions")
CHAT = Exchange("s", 1, POST, "llm", "openai_chat", "openai", view=RequestView("m", stream=False), key="k")
HTTP = Exchange("s", 1, Request("GET", "https", "api.x.com", 443, "/find"), "tool", tool="search", key="k")
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}}
CALLED = Request("POST", "https", "mcp.x.com", 443, "/mcp", (), json.dumps(ASKED).encode())
MCP = Exchange("s", 1, CALLED, "tool", "mcp", tool="search", key="k", n=3, attempt=1)
RESULT = ToolResult("call_1", "search", "{}", "42", False, ("messages", 2, "content"), True)
SUBJECT = Subject("tool:search", 0, 0, "search")


def profile(*entries: str) -> Profile:
    return parse("faults:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries), "p.yaml")


def seen(site: str | None = None) -> SessionState:
    """A session that has seen the tool at a site of its own."""
    state = SessionState()
    if site is not None:
        state.note_call("search", site)  # type: ignore[arg-type]
    return state


def found(plan: Plan) -> list[tuple[str, str]]:
    return [(decision.entry.id, decision.verb) for decision in plan.decisions]


def test_a_line_of_the_ledger_holds_the_whole_decision() -> None:
    (entry,) = profile("status: {code: 503}, id: e").entries
    decision = Decision(entry, Subject("k", 2, 1, "search"), "fire", "because", 0.25)
    line = decision.line("fired", effect="did it")
    assert line == FaultFired(
        fault="status",
        id="e",
        site="response",
        outcome="fired",
        reason="because",
        key="k",
        n=2,
        attempt=1,
        unit=0.25,
        subject="search",
        effect="did it",
        settings={"code": 503},
    )
    other = replace(decision, site="result").line("preempted", "another came first")
    assert other == replace(
        line, site="result", outcome="preempted", reason="another came first", effect=None
    )
    assert [replace(decision, verb=verb).line().outcome for verb in ("skip", "inapplicable")] == [
        "skipped",
        "inapplicable",
    ]


@pytest.mark.parametrize(
    ("exchange", "name"),
    [(CHAT, None), (HTTP, "search"), (replace(CHAT, kind="agent", view=None, agent="writer"), "writer")],
)
def test_a_decision_is_about_the_tool_or_the_agent_that_is_called(exchange: Exchange, name: str) -> None:
    (decision,) = decide(profile("latency: {ms: 1}"), DICE, exchange, SessionState()).decisions
    assert decision.subject == Subject("k", 0, 0, name)


def test_what_does_not_match_keeps_nothing_after_it_from_matching() -> None:
    made = profile("status: {code: 500}, on: {stream: true}", "status: {code: 503}")
    assert found(decide(made, DICE, CHAT, SessionState())) == [("status#2", "fire")]


def test_a_fault_about_a_protocol_is_decided_on_its_exchanges() -> None:
    made = profile("mcp_list_changed: {}")
    listing = replace(CALLED, body=json.dumps({**ASKED, "method": "tools/list"}).encode())
    asked = Exchange("s", 1, listing, "other", "mcp", key="k")
    assert found(decide(made, DICE, asked, SessionState())) == [("mcp_list_changed", "fire")]
    assert found(decide(made, DICE, replace(asked, protocol=None), SessionState())) == []


def test_an_entry_that_looks_at_more_than_its_host_fires_where_that_fits() -> None:
    made = profile("status: {code: 503}, on: {stream: false}", "status: {code: 500}, on: {stream: true}")
    streamed = replace(CHAT, view=RequestView("m", stream=True))
    for exchange, entry in ((CHAT, "status"), (streamed, "status#2")):
        assert found(decide(made, DICE, exchange, SessionState())) == [(entry, "fire")]


def test_such_an_entry_about_a_protocol_fires_on_its_exchanges() -> None:
    made = profile("mcp_list_changed: {}, on: {body: {$.method: tools/list}}")
    listing = replace(CALLED, body=json.dumps({**ASKED, "method": "tools/list"}).encode())
    asked = Exchange("s", 1, listing, "other", "mcp", key="k")
    assert found(decide(made, DICE, asked, SessionState())) == [("mcp_list_changed", "fire")]
    assert found(decide(made, DICE, replace(asked, request=CALLED), SessionState())) == []


@pytest.mark.parametrize("on", ["", ", on: {stream: false}"])
def test_the_dice_are_asked_for_each_kind_of_entry(on: str) -> None:
    made = profile(f"status: {{code: 503}}, id: e, trigger: {{probability: 0.5}}{on}")
    (decision,) = decide(made, DICE, CHAT, SessionState()).decisions
    assert decision.unit == DICE.roll("e", "k", 0)


def test_the_dice_are_asked_for_a_result() -> None:
    made = profile("tool_error: {}, id: e, trigger: {probability: 0.5}")
    (decision,) = decide_result(made, DICE, CHAT, RESULT, SUBJECT, seen()).decisions
    assert decision.unit == DICE.roll("e", SUBJECT.key, 0)


def test_a_tool_without_a_name_is_at_no_site() -> None:
    made = profile("latency: {ms: 1}", "status: {code: 503}, on: {kind: tool, site: http}")
    assert found(decide(made, DICE, replace(HTTP, tool=None), SessionState())) == [("latency", "fire")]


def test_a_fault_for_one_exchange_passes_all_others() -> None:
    (entry,) = (made := profile("status: {code: 503}")).entries
    state = SessionState(only=7)
    why = "the fault is for another exchange"
    assert decide(made, DICE, CHAT, state).decisions == (
        Decision(entry, Subject("k", 0, 0), "skip", why, counted=False),
    )
    assert found(decide(made, DICE, replace(CHAT, number=7), state)) == [("status", "fire")]


def test_what_cannot_act_is_decided_without_being_counted() -> None:
    (entry,) = (made := profile("cut_stream: {after_events: 1}")).entries
    why = "the request asks for no stream"
    assert decide(made, DICE, CHAT, SessionState()).decisions == (
        Decision(entry, Subject("k", 0, 0), "inapplicable", why, counted=False),
    )


# ---------------------------------------------------------------- the sites of a tool

AT_MCP = "tool `search` is seen at its `mcp` site in this session"


def test_a_fault_acts_on_a_tool_at_the_site_where_it_was_first_seen() -> None:
    (entry,) = (made := profile("status: {code: 503}, on: {tool: search}")).entries
    assert decide(made, DICE, HTTP, seen("mcp")).decisions == (
        Decision(entry, Subject("k", 0, 0, "search"), "skip", AT_MCP, counted=False),
    )
    for state in (seen(), seen("http")):
        assert found(decide(made, DICE, HTTP, state)) == [("status", "fire")]
    assert found(decide(made, DICE, MCP, seen("mcp"))) == [("status", "fire")]


@pytest.mark.parametrize(
    ("entry", "at_http", "at_mcp"),
    [
        ("status: {code: 503}, on: {kind: tool}", "fire", "fire"),
        ("status: {code: 503}, on: {kind: tool, url: '*'}", "fire", "fire"),
        ("tool_error: {}, on: {kind: tool}", "skip", "fire"),
        ("tool_error: {}, on: {tool: '*'}", "skip", "fire"),
        ("tool_error: {}, on: {tool: search, site: http}", "fire", None),
        ("status: {code: 503}, on: {tool: search, site: mcp}", None, "fire"),
        ("status: {code: 503}, on: {tool: other}", None, None),
    ],
)
def test_an_entry_that_means_a_tool_acts_at_one_site(entry: str, at_http: str, at_mcp: str) -> None:
    made = profile(entry)
    for exchange, verb in ((HTTP, at_http), (MCP, at_mcp)):
        decisions = decide(made, DICE, exchange, seen("mcp")).decisions
        assert [decision.verb for decision in decisions] == ([] if verb is None else [verb])


def test_where_a_fault_on_results_acts_at_the_tool_it_acts_on_the_response() -> None:
    made = profile("tool_error: {}, on: {tool: search}", "status: {code: 503}, on: {tool: search}")
    plan = decide(made, DICE, HTTP, SessionState())
    assert [(d.entry.id, d.site) for d in plan.decisions] == [("tool_error", "response"), ("status", None)]


@pytest.mark.parametrize(
    ("entry", "exchange", "acts"),
    [
        ("status: {code: 503}, on: {path: '*', site: mcp}", CHAT, False),
        ("status: {code: 503}, on: {path: '*', site: http}", CHAT, False),
        ("status: {code: 503}, on: {path: '*', site: mcp}", replace(MCP, kind="other", tool=None), True),
        ("status: {code: 503}, on: {path: '*', site: http}", replace(MCP, kind="other", tool=None), False),
        ("tool_error: {}", CHAT, False),
    ],
)
def test_without_a_call_of_a_tool_only_what_mcp_says_is_at_a_site(
    entry: str, exchange: Exchange, acts: bool
) -> None:
    made = profile(entry, "reset: , on: {path: '*'}")
    wanted = {"reset", entry.partition(":")[0]} if acts else {"reset"}
    assert {d.entry.id for d in decide(made, DICE, exchange, SessionState()).decisions} == wanted


def test_a_result_is_passed_over_where_its_tool_was_seen_elsewhere() -> None:
    entries = (made := profile("tool_error: {}", "tool_empty: {}, on: {site: result}")).entries
    plan = decide_result(made, DICE, CHAT, RESULT, SUBJECT, seen("mcp"))
    assert plan.decisions[0] == Decision(entries[0], SUBJECT, "skip", AT_MCP, counted=False)
    assert found(plan) == [("tool_error", "skip"), ("tool_empty", "fire")]
    assert found(decide_result(made, DICE, CHAT, RESULT, SUBJECT, seen())) == [
        ("tool_error", "fire"),
        ("tool_empty", "skip"),
    ]


def test_a_result_is_no_business_of_other_faults_or_sites() -> None:
    made = profile(
        "latency: {ms: 1}",
        "tool_error: {}, on: {stream: true}",
        "tool_error: {}, on: {tool: search, site: http}",
        "tool_error: {}, on: {tool: search}",
    )
    assert found(decide_result(made, DICE, CHAT, RESULT, SUBJECT, seen())) == [("tool_error#3", "fire")]


# ---------------------------------------------------------------- what nobody could look into

UPGRADE = replace(POST, method="GET", headers=(("Upgrade", "websocket"),))
SOCKET = Exchange("s", 1, UPGRADE, key="k", n=2, attempt=1, agent="writer")


def test_a_websocket_of_no_known_protocol_is_reported_to_those_that_may_have_meant_it() -> None:
    made = profile(
        "status: {code: 500}, on: {host: api.openai.com}",
        "status: {code: 501}, on: {kind: llm, host: elsewhere.test}",
        "status: {code: 502}, on: {kind: tool}",
        "status: {code: 503}, on: {kind: llm}",
        "status: {code: 504}",
        "status: {code: 505}, on: {model: m}",
    )
    line = FaultFired(
        fault="status",
        id="status#4",
        site="response",
        outcome="inapplicable",
        reason="a WebSocket of no known protocol: nobody can tell whether it is a model's",
        key="k",
        n=2,
        attempt=1,
        subject="writer",
        settings={"code": 503},
    )
    assert list(unknown_websocket(made, SOCKET)) == [
        line,
        replace(line, id="status#5", settings={"code": 504}),
        replace(line, id="status#6", settings={"code": 505}),
    ]
    named = [one.subject for one in unknown_websocket(made, replace(SOCKET, tool="t"))]
    assert named == ["t", "t", "t"]
    assert list(unknown_websocket(made, replace(SOCKET, request=POST))) == []
    assert list(unknown_websocket(made, replace(SOCKET, kind="llm"))) == []


def test_a_request_that_nobody_read_is_reported_to_those_that_may_have_meant_it() -> None:
    made = profile(
        "tool_error: {}",
        "latency: {ms: 1}",
        "status: {code: 501}, on: {kind: agent, text: hi}",
        "status: {code: 502}, on: {text: hi}, trigger: {first: 9}",
        "status: {code: 503}, on: {kind: llm, text: hi, host: elsewhere.test}",
    )
    asked = replace(CHAT, n=2, attempt=1, agent="writer", view=None)
    first, second = unread_request(made, asked, "too large")
    assert second == FaultFired(
        fault="status",
        id="status#2",
        site="response",
        outcome="inapplicable",
        reason="too large",
        key="k",
        n=2,
        attempt=1,
        subject="writer",
        settings={"code": 502},
    )
    assert (first.id, first.site) == ("tool_error", "result"), "one may stand in the request"
    assert [one.subject for one in unread_request(made, replace(asked, tool="t"), "")] == ["t", "t"]


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (replace(HTTP, view=None), ["tool"]),
        (Exchange("s", 1, POST), ["result", "model", "any", "protocol"]),
        (Exchange("s", 1, POST, protocol="mcp"), ["result", "model", "any"]),
        (replace(CHAT, view=None), ["result", "model"]),
    ],
)
def test_an_unknown_request_may_be_a_model_s(exchange: Exchange, expected: list[str]) -> None:
    made = profile(
        "tool_error: {}, id: result",
        "status: {code: 501}, id: tool, on: {kind: tool, body: {$.a: 1}}",
        "status: {code: 502}, id: model, on: {kind: llm, body: {$.a: 1}}",
        "latency: {ms: 1}, id: any",
        "mcp_session_lost: {}, id: protocol",
        "reset: , id: here, on: {host: '*'}",
    )
    assert sorted(line.id for line in unread_request(made, exchange, "why")) == sorted(expected)


def test_a_decision_rests_where_nothing_can_come_of_it() -> None:
    def rests(fault: str, verb: str, call: str = "skip") -> bool:
        (entry,) = profile(fault).entries
        return Decision(entry, SUBJECT, verb, "why", call=(call, "why", None)).rests  # type: ignore[arg-type]

    assert rests("status: {code: 503}", "skip")
    assert rests("status: {code: 503}", "inapplicable")
    assert rests("stale_response: {}", "inapplicable")
    assert not rests("status: {code: 503}", "fire", "fire")
    assert not rests("status: {code: 503}", "fire"), "it acts, whatever is known of its call"
    assert not rests("stale_response: {}", "skip"), "it looks on"
    assert not rests("status: {code: 503}", "skip", "fire"), "an attempt let through has a place to give back"
