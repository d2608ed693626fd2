"""A request that is not sent: what needs no server acts, and of all else the ledger says that it did not.

Modules: faultwire.exchange.pipeline, faultwire.exchange.faults, faultwire.exchange.fault_chain.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from faultwire.dice import Dice
from faultwire.events import FaultFired, Request, Response, Wait
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.faults._describe import sections
from faultwire.faults._registry import BUILTIN
from faultwire.profile.load import merge, parse

WHY = "the mock does not answer for `model.corp.example`"
JSON = (("content-type", "application/json"),)
HEAD = Request("POST", "https", "model.corp.example", 443, "/v1/chat/completions", JSON)
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "What does tea cost?"},
    CALL,
    {"role": "tool", "tool_call_id": "c1", "content": "Tea costs 4.20 dollars."},
]
BODY = json.dumps({"model": "gpt-4o-mini", "stream": True, "messages": MESSAGES}).encode()


def context(profile: str) -> SessionContext:
    return SessionContext("s", merge([parse(profile, "test.yaml")]), Dice(1, "s"), SessionState())


def example(kind: Any) -> str:
    """The settings of the fault's own example, for any call that it can act on."""
    shown = yaml.safe_load(sections(kind)["Example"])["faults"]
    told = next((one[kind.name] for one in shown if kind.name in one), None)
    return json.dumps({"name": "p", "description": "d", "faults": [{kind.name: told or {}}]})


class Seen:
    """What came of one request: what was done to it before it would have been sent, its answer, the lines."""

    def __init__(self, session: SessionContext, *, withheld: bool) -> None:
        pipeline = ExchangePipeline(session, HEAD)
        self.may_act = pipeline.withhold(WHY) if withheld else True
        outbound = pipeline.request(BODY)
        self.actions = list(outbound.actions)
        self.answer: Response | None = outbound.answer
        self.changed = outbound.request.body != BODY
        self.lines: tuple[FaultFired, ...] = pipeline.over()

    @property
    def outcomes(self) -> set[str]:
        return {one.outcome for one in self.lines}


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.name)
def test_a_fault_fires_on_a_request_that_is_not_sent_only_where_the_agent_sees_it(kind: Any) -> None:
    seen = Seen(context(example(kind)), withheld=True)
    met = bool(seen.actions) or seen.answer is not None
    if "fired" in seen.outcomes:
        assert met, seen.lines
    # What a result would have been replaced by is known before the request goes; all else never had a chance.
    rest = [one for one in seen.lines if one.outcome == "no_effect" and one.site != "result"]
    assert rest == []


def test_what_answers_or_ends_it_acts_as_where_it_is_sent() -> None:
    for fault in ("status: {code: 503}", "reset: {at: before_headers}", "rate_limit: {retry_after_s: 1}"):
        profile = f"name: p\ndescription: d\nfaults:\n  - {fault}\n"
        held, sent = (Seen(context(profile), withheld=withheld) for withheld in (True, False))
        assert held.lines == sent.lines
        assert held.outcomes == {"fired"}
        assert (held.actions, held.answer) == (sent.actions, sent.answer)


def test_after_an_end_that_needs_no_server_the_lines_are_those_of_a_request_that_is_sent() -> None:
    faults = ("slow_close: {ms: 1}", "reset: {at: before_headers}")
    profile = "name: p\ndescription: d\nfaults:\n" + "".join(f"  - {fault}\n" for fault in faults)
    held, sent = (Seen(context(profile), withheld=withheld) for withheld in (True, False))
    assert held.lines == sent.lines
    assert [(one.fault, one.outcome) for one in held.lines] == [
        ("slow_close", "no_effect"),
        ("reset", "fired"),
    ]


def test_a_wait_is_waited_and_said() -> None:
    seen = Seen(context("name: p\ndescription: d\nfaults:\n  - latency: {ms: 20}\n"), withheld=True)
    assert (seen.actions, seen.answer, seen.outcomes) == ([Wait(0.02)], None, {"fired"})


@pytest.mark.parametrize(
    "fault",
    [
        "early_end: {after_events: 1}",
        "wrong_finish_reason: {}",
        "memory_poisoning: {role: system}",
    ],
)
def test_what_needs_a_server_says_why_it_did_nothing(fault: str) -> None:
    profile = f"name: p\ndescription: d\nfaults:\n  - {fault}\n    trigger: {{max_times: 1}}\n"
    session = context(profile)
    held = Seen(session, withheld=True)
    assert {(one.outcome, one.reason, one.effect) for one in held.lines} == {("preempted", WHY, None)}
    assert not held.changed
    assert held.may_act

    # Its place among `max_times` is still there, and the next request, which is sent, can meet it.
    sent = Seen(session, withheld=False)
    assert {one.reason for one in sent.lines} != {WHY}
    assert sent.changed == ("memory_poisoning" in fault)


def test_where_no_entry_can_act_the_request_need_not_be_read() -> None:
    profile = "name: p\ndescription: d\nfaults:\n  - status: {code: 503}\n    on: {host: other.example}\n"
    seen = Seen(context(profile), withheld=True)
    assert (seen.may_act, seen.lines) == (False, ())
