"""What only the whole profile tells: its agents, and whether anything can fire."""

from __future__ import annotations

import pytest

from faultwire.errors import ProfileError
from faultwire.events import Exchange, Request
from faultwire.profile import whole
from faultwire.profile.entry_model import On
from faultwire.profile.load import dump, from_dump, merge, parse
from faultwire.profile.match import caller, mismatch
from faultwire.profile.problems import Problems

AGENTS = "agents:\n  writer: {url: 'http://a/w*'}\n  planner: {caller: {User-Agent: 'plan*'}}\nfaults:\n"


def problem(text: str) -> ProfileError:
    with pytest.raises(ProfileError) as raised:
        parse(text, "p.yaml")
    assert raised.value.also == ()
    return raised.value


@pytest.mark.parametrize(
    ("text", "place", "code", "message", "hint"),
    [
        ("  - {agent_down: , on: {agent: wirter}}\n", "5:25", "unknown_agent",
         "found agent `wirter` in `agent`, expected one of `agents`", "did you mean `writer`?"),
        ("  - {agent_down: , on: {edge: ['x->writer', 'x->riter']}}\n", "5:25", "unknown_agent",
         "found agent `riter` in `edge`, expected one of `agents`", "did you mean `writer`?"),
        ("  - {agent_down: , on: {edge: planner}}\n", "5:25", "never_fires",
         "found `planner` for `edge`, expected two names, as in `planner->writer`",
         "write who calls, `->`, and who is called"),
        ("  - {agent_down: , on: {edge: 'planner->'}}\n", "5:25", "never_fires",
         "found `planner->` for `edge`, expected two names, as in `planner->writer`",
         "write who calls, `->`, and who is called"),
        ("  - {agent_down: , on: {agent: []}}\n", "5:25", "never_fires",
         "found an empty list for `agent`, which never matches",
         "remove `agent`, or name what it shall match"),
        ("  - {refusal: , on: {agent: writer}}\n", "5:22", "never_fires",
         "found `agent` for `refusal`, which acts on `llm` only", "remove `agent`, or choose another fault"),
        ("  - {latency: {ms: 1}, on: {agent: writer, kind: llm}}\n", "5:29", "never_fires",
         "found `agent` with `kind: llm`, which only `agent` exchanges have", "remove `agent` or `kind`"),
        ("  - {latency: {ms: 1}, on: {edge: 'a->writer', agent: planner}}\n", "5:48", "never_fires",
         "found `agent: planner` with `edge: a->writer`, where another one is called",
         "remove `agent` or `edge`"),
    ],
)  # fmt: skip
def test_agents_that_are_meant_otherwise(text, place, code, message, hint):
    error = problem(AGENTS + text)
    line, column = place.split(":")
    assert error.where is not None
    assert (error.where.line, error.where.column) == (int(line), int(column))
    assert (error.code, error.message, error.hint) == (f"profile.{code}", message, hint)


def test_agents_themselves():
    missing = problem("agents: {x: {}}\nfaults: []").message
    assert "found no `url`, `caller` or `instructions` for agent `x`" in missing
    assert "expected a mapping" in problem("agents: [x]\nfaults: []").message
    assert parse(AGENTS + "  - {agent_down: , on: {agent: 'wri*'}}\n", "p").entries, "a glob may mean any"
    assert parse(AGENTS + "  - {agent_down: , on: {agent: a.example.com}}\n", "p").entries, "and so a host"
    assert parse("faults: [{agent_down: , on: {agent: any name}}]", "p").entries, "or a card's name"


def test_they_survive_the_way_to_the_engine():
    made = parse(AGENTS + "  - {agent_down: , on: {edge: 'planner->writer'}}\n", "p.yaml")
    assert from_dump(dump(made)) == made
    both = merge([made, parse("agents: {critic: {url: 'http://c/*'}}\nfaults: [reset]", "q.yaml")])
    assert set(both.agents) == {"writer", "planner", "critic"}
    assert both.digest != merge([made, parse("faults: [reset]", "q.yaml")]).digest


def exchange(agent: str | None, who: str | None = None, session: str = "s") -> Exchange:
    request = Request("POST", "http", "a", 80, "/w", (("user-agent", who or ""),))
    return Exchange(session, 1, request, kind="agent" if agent else "other", agent=agent, caller=who)


def test_matching():
    edge = On(edge=("planner -> writer", "critic->*"))
    assert mismatch(On(agent="wri*"), exchange("writer")) is None
    assert mismatch(On(agent="writer"), exchange("critic")) == "agent"
    assert mismatch(On(agent="*"), exchange(None)) == "kind", "telemetry is nobody's agent"
    assert mismatch(edge, exchange("writer", "planner")) is None
    assert mismatch(edge, exchange("reader", "planner")) == "edge"
    assert mismatch(edge, exchange("reader", None, session="critic")) is None, "the session is named after it"
    assert mismatch(edge, exchange("writer", "other", session="critic")) == "edge"


def test_who_calls():
    made = parse(AGENTS + "  - agent_down\n", "p")
    called = exchange("writer", "planner/1").request
    assert caller(made, called) == "planner"
    assert caller(made, exchange("writer", "curl").request) is None
    assert caller(parse("faults: []", "p"), called) is None


@pytest.mark.parametrize(
    "trigger",
    [
        "{probability: 0}",
        "{probability: 0.0, first: 3}",
        "{stages: [{for_calls: 2, probability: 0}, {probability: 0}]}",
    ],
)
def test_an_entry_without_any_chance(trigger):
    entry = f"  - {{slow_close: {{ms: 1}}, trigger: {trigger}}}\n"
    error = problem("faults:\n  - rate_limit\n" + entry)
    assert error.code == "profile.never_fires"
    key = "stages" if "stages" in trigger else "probability"
    assert error.message == f"found no chance above 0 for `{key}`, which never fires"
    assert error.where is not None
    assert error.where.line == 3
    assert error.hint == "leave the entry out"
    assert parse("faults: []", "p").entries == ()


@pytest.mark.parametrize("fault", ["tool_error", "memory_poisoning"])
def test_signed_requests_are_not_rewritten(fault):
    error = problem(f"faults: [{{{fault}: , on: {{provider: aws}}}}]")
    assert error.code == "profile.never_fires"
    assert "signed (SigV4)" in error.message
    for on in (
        "{provider: [aws, openai]}",
        "{provider: 'a*'}",
        "{provider: aws, header: {Authorization: 'Bearer *'}}",
    ):
        assert parse(f"faults: [{{{fault}: , on: {on}}}]", "p").entries
    assert parse("faults: [{refusal: , on: {provider: aws}}]", "p").entries, "answers are not signed"


def test_the_other_shape_is_held_to_the_same():
    text = "chaos:\n  tool_faults:\n    - {tool: '*', mode: error, error_code: 503, probability: 0.0}\n"
    error = problem(text)
    assert error.code == "profile.never_fires"
    assert error.message == "found no entry that can ever fire, expected at least one"
    assert error.hint == "`faults: []` has no faults"
    assert parse(text.replace("0.0", "0.5"), "p").entries
    other = "    - {tool: search, mode: slow, probability: 0.5}\n"
    assert len(parse(text + other, "p").entries) == 2, "Flakestorm's own files may switch an entry off"


def test_a_profile_without_agents_or_entries_has_no_problem() -> None:
    problems = Problems("p.yaml", ProfileError)
    assert whole.agents(None, problems) == {}
    whole.check([], {}, problems)
    assert len(problems) == 0
