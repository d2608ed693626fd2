"""An entry behind one that always ends the exchange first is refused; real decisions show why."""

from __future__ import annotations

import pytest

from faultwire.dice import Dice
from faultwire.errors import ProfileError
from faultwire.events import Cut, Request, Reset, Response
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.dump import merge
from faultwire.profile.inline import inline
from faultwire.profile.load import parse
from faultwire.profile.shadowed import shadowed

LLM = Request(
    "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (("content-type", "application/json"),)
)
BODY = b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}'


def outcomes(*faults: str) -> list[str]:
    """What becomes of each on one exchange: profiles that are merged are not held against each other."""
    profile = merge([inline(fault) for fault in faults])
    pipeline = ExchangePipeline(SessionContext("s", profile, Dice(1, "s"), SessionState()), LLM)
    departure = pipeline.request(BODY)
    ended = any(isinstance(action, Cut | Reset) for action in departure.actions)
    if not ended and departure.answer is None:
        pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
        list(pipeline.finish())
    return [line.outcome for line in pipeline.over()]


HIDDEN = [
    ("refuse", "rate_limit"),
    ("hang: {for_ms: 1}", "truncate_response: {max_tokens: 1}"),
    ("status: {code: 500}", "auth_error"),
    ("{overloaded: , on: {kind: llm}}", "{refusal: , on: {kind: llm}}"),
    ("{reset: , on: {host: '*'}}", "{garbage: , on: {host: '*', kind: llm}}"),
    ("auth_error", "truncate_response: {max_tokens: 1}"),
]
SEEN = [
    ("{refuse: , trigger: {first: 1}}", "rate_limit"),
    ("rate_limit", "{status: {code: 500, call_upstream: true}}"),
    ("{reset: {at: after_headers}}", "refusal"),
    ("status: {code: 500, call_upstream: true}", "auth_error"),
    ("{refuse: , on: {host: a}}", "{refusal: , on: {host: b}}"),
    ("refuse", "{status: {code: 500}, on: {host: a}}"),
    ("refuse", "tool_error"),
    ("refuse", "dns_failure"),
]


def entry(text: str) -> str:
    return text if text.startswith("{") or ":" not in text else f"{{{text}}}"


@pytest.mark.parametrize(("first", "second"), HIDDEN)
def test_what_never_acts(first: str, second: str) -> None:
    entries = [inline(text).entries[0] for text in (first, second)]
    assert list(shadowed(entries)) == [(entries[1], entries[0])]
    assert outcomes(first, second) == ["fired", "preempted"], "the pipeline agrees"
    with pytest.raises(ProfileError) as caught:
        parse(f"faults:\n  - {entry(first)}\n  - {entry(second)}\n", "p.yaml")
    assert caught.value.code == "profile.never_fires"
    assert str(caught.value.where).startswith("p.yaml:3:")
    assert " on line 2, which leaves it no exchange" in caught.value.message


@pytest.mark.parametrize(("first", "second"), SEEN)
def test_what_may_act(first: str, second: str) -> None:
    assert not list(shadowed([inline(text).entries[0] for text in (first, second)]))
    assert len(parse(f"faults:\n  - {entry(first)}\n  - {entry(second)}\n", "p.yaml").entries) == 2


def test_of_the_faults_on_one_result_only_the_first_acts() -> None:
    at_result = "on: {site: result, tool: search}"
    (earlier,) = parse(f"faults: [{{tool_error: , {at_result}}}]", "p").entries
    (later,) = parse(f"faults: [{{tool_empty: , {at_result}}}]", "p").entries
    assert list(shadowed([earlier, later])) == [(later, earlier)]
    own = "faults: [{tool_error: , on: {tool: search}}, {tool_empty: , on: {tool: search}}]"
    assert len(parse(own, "p").entries) == 2, "at a tool's own exchange both act"
