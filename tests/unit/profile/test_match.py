"""Matching, key by key, each with what it must not match: faultwire.profile.match, over the keys of
faultwire.profile.entry_model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import Exchange, Request, RequestView, Response, ToolResult, Turn
from faultwire.profile.entry_model import On
from faultwire.profile.load import parse
from faultwire.profile.match import caller, may_match, mismatch, needs_response, response_mismatch

REQUEST = Request(
    "POST",
    "https",
    "api.openai.com",
    443,
    "/v1/chat/completions?x=1",
    (("X-Team", "blue"), ("accept", "*/*")),
)
LLM = Exchange(
    "alice",
    1,
    REQUEST,
    kind="llm",
    protocol="openai_chat",
    provider="openai",
    view=RequestView("gpt-4o", True),
)
TOOL = Exchange(
    "alice", 2, Request("GET", "http", "search.local", 8080, "/q"), kind="tool", tool="web_search"
)
OTHER = Exchange("alice", 3, Request("POST", "https", "telemetry.example.com", 443, "/v1/traces"))


@pytest.mark.parametrize(
    ("on", "exchange", "found"),
    [
        (On(), LLM, None),
        (On(), TOOL, None),
        (On(), OTHER, "kind"),
        (On(model="*"), OTHER, "kind"),
        (On(kind="other"), OTHER, None),
        (On(host="telemetry.*"), OTHER, None),
        (On(path="/v1/*"), OTHER, None),
        (On(kind="llm"), TOOL, "kind"),
        (On(kind=("llm", "other")), LLM, None),
        (On(kind=("llm", "other")), OTHER, None),
        (On(kind=("llm", "other")), TOOL, "kind"),
        (On(kind=("llm", "tool")), OTHER, "kind"),
        (On(provider="openai", model="gpt-4*"), LLM, None),
        (On(model="gpt-3*"), LLM, "model"),
        (On(model=("gpt-3*", "gpt-4?")), LLM, None),
        (On(model="GPT-4*"), LLM, "model"),
        (On(provider="*"), TOOL, "provider"),
        (On(host="api.openai.com"), LLM, None),
        (On(host="openai.com"), LLM, "host"),
        (On(path="/v1/chat/completions"), LLM, None),
        (On(url="https://api.openai.com/v1/chat/completions?x=1"), LLM, None),
        (On(url="http://search.local:8080/*"), TOOL, None),
        (On(method="GET"), LLM, "method"),
        (On(tool="web_*"), TOOL, None),
        (On(tool="*"), LLM, "tool"),
        (On(session="ali*"), LLM, None),
        (On(session="bob"), LLM, "session"),
        (On(stream=True), LLM, None),
        (On(stream=False), LLM, "stream"),
        (On(stream=False), TOOL, "stream"),
        (On(header={"x-team": "b*"}), LLM, None),
        (On(header={"x-team": "red"}), LLM, "header x-team"),
        (On(header={"x-team": "r*"}), LLM, "header x-team"),
        (On(header={"x-none": "*"}), LLM, "header x-none"),
        (On(status=500), LLM, None),
    ],
)
def test_mismatch_names_the_first_key_that_differs(on, exchange, found):
    assert mismatch(on, exchange) == found


def test_a_results_tool_goes_before_the_exchanges():
    assert mismatch(On(tool="lookup"), LLM, tool="lookup") is None
    assert mismatch(On(tool="lookup"), LLM, tool="other") == "tool"
    assert mismatch(On(tool="lookup", host="api.openai.com"), LLM, tool="lookup") is None


def test_a_fault_about_a_protocol_means_its_exchanges_whatever_their_kind():
    listing = replace(OTHER, protocol="mcp")
    assert mismatch(On(), listing, protocols=("mcp", "mcp_2")) is None
    assert mismatch(On(), listing, protocols=("a2a",)) == "kind"
    assert may_match(On(), listing, protocols=("mcp", "mcp_2"))
    assert not may_match(On(), listing, protocols=("a2a",))


def test_the_status_is_left_to_the_response():
    on = On(status=(500, 503))
    assert needs_response(on)
    assert not needs_response(On(kind="llm"))
    assert response_mismatch(on, LLM) is None, "not known yet"
    assert response_mismatch(on, replace(LLM, response=Response(503))) is None
    assert response_mismatch(on, replace(LLM, response=Response(200))) == "status"
    assert response_mismatch(On(status=200), replace(LLM, response=Response(200))) is None
    assert response_mismatch(On(kind="llm"), replace(LLM, response=Response(200))) is None


@pytest.mark.parametrize(
    "on", [On(), On(kind="llm"), On(model="gpt-4*"), On(stream=True), On(header={"x-team": "b*"})]
)
def test_may_match_never_rules_out_what_matches_with_the_body(on):
    assert mismatch(on, LLM) is None
    assert may_match(on, replace(LLM, view=None))


@pytest.mark.parametrize(
    ("on", "exchange", "found"),
    [
        (On(), OTHER, False),
        (On(model="*"), OTHER, False),
        (On(kind="other"), OTHER, True),
        (On(path="/v1/*"), OTHER, True),
        (On(kind="llm", path="/v1/*"), OTHER, True),
        (On(kind="llm"), OTHER, False),
        (On(kind="llm"), TOOL, False),
        (On(kind="tool"), TOOL, True),
        (On(kind="other"), LLM, False),
        (On(host="api.*", method="POST"), LLM, True),
        (On(host="api.*", method="GET"), LLM, False),
        (On(url="*x=1", session="ali*"), LLM, True),
        (On(session="bob"), LLM, False),
        (On(provider="nobody", model="gpt-3*"), LLM, True),
    ],
)
def test_what_may_match_is_judged_by_the_head(on, exchange, found):
    assert may_match(on, exchange) is found


# ---------------------------------------------------------------- who calls whom

CALLED = Exchange("planner", 4, Request("POST", "http", "w.local", 80, "/"), kind="agent", agent="writer")


@pytest.mark.parametrize(
    ("edge", "sender", "found"),
    [
        ("planner->writer", None, None),
        ("plan*->*", None, None),
        (("a->b", "planner -> writer"), None, None),
        ("other->writer", None, "edge"),
        ("planner->other", None, "edge"),
        ("editor->writer", "editor", None),
        ("planner->writer", "editor", "edge"),
    ],
)
def test_an_edge_is_who_calls_and_who_is_called(edge, sender, found):
    assert mismatch(On(edge=edge), replace(CALLED, caller=sender)) == found


def test_an_exchange_with_no_agent_is_on_no_edge():
    assert mismatch(On(edge="*->*"), replace(CALLED, agent=None)) == "edge"


def test_a_caller_is_recognised_by_all_of_its_header_fields():
    profile = parse(
        """
agents:
  quiet: {url: "http://q.test/*"}
  editor: {caller: {x-team: "b*", x-role: edit}}
  writer: {caller: {x-team: "b*"}}
faults: []
""",
        "p.yaml",
    )

    def sent(*headers):
        return caller(profile, replace(REQUEST, headers=headers))

    assert sent(("X-Team", "blue"), ("X-Role", "edit")) == "editor"
    assert sent(("X-Team", "blue"), ("X-Role", "write")) == "writer"
    assert sent(("X-Team", "blue")) == "writer"
    assert sent(("X-Team", "red"), ("X-Role", "edit")) is None
    assert sent() is None


# ---------------------------------------------------------------- what is said


def talk(*turns: Turn) -> Exchange:
    view = RequestView("m", stream=False, turns=turns)
    body = b'{"messages": [{"role": "user"}], "n": 2}'
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)
    return Exchange("s", 1, request, "llm", "openai_chat", "openai", view=view)


FOUND = ToolResult("c", "search", "{}", "42 hits", False, ("messages", 1, "content"), True)
TALK = talk(
    Turn("user", "find me a refund"),
    Turn("assistant", "looking"),
    Turn("tool", "", (), (FOUND,)),
)


@pytest.mark.parametrize(
    ("on", "missed"),
    [
        (On(turn=1), None),
        (On(turn=(2, 1)), None),
        (On(turn=2), "turn"),
        (On(text="42"), None),
        (On(text=("nothing", "4? hits")), None),
        (On(text="refund"), "text"),
        (On(body={"$.n": 2}), None),
        (On(body={"$.n": 3}), "body $.n"),
    ],
)
def test_what_is_said_and_sent(on, missed):
    assert mismatch(on, TALK) == missed


def test_the_last_word_is_the_users_or_a_tools():
    assert mismatch(On(text="refund"), talk(Turn("user", "a refund"), Turn("assistant", "no"))) is None
    assert mismatch(On(text="no"), talk(Turn("user", "a refund"), Turn("assistant", "no"))) == "text"
    assert mismatch(On(text="*"), talk()) == "text"
    assert mismatch(On(turn=1), Exchange("s", 1, TALK.request, "llm")) == "turn"
    assert mismatch(On(text="*"), Exchange("s", 1, TALK.request, "llm")) == "text"


def test_a_turn_is_one_in_which_the_user_says_something():
    said = talk(
        Turn("user", "one"),
        Turn("assistant", "a"),
        Turn("user", "", (), (FOUND,)),
        Turn("assistant", "b"),
        Turn("assistant", "c"),
        Turn("user", "two"),
    )
    assert [n for n in range(7) if mismatch(On(turn=n), said) is None] == [2]


@pytest.mark.parametrize(
    ("last", "glob", "missed"),
    [
        (Turn("tool", "the sum is 42"), "42", None),
        (Turn("function", "", (), (FOUND,)), "42", None),
        (Turn("function", "42"), "42", "text"),
        (Turn("user", "a refund", (), (FOUND, replace(FOUND, text="last"))), "refund\n42 hits\nlast", None),
    ],
)
def test_the_last_word_is_in_results_and_in_the_text_beside_them(last, glob, missed):
    assert mismatch(On(text=glob), talk(Turn("user", "hi"), last)) == missed
