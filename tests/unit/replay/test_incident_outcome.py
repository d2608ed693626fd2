from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.contract.matrix import judge
from faultwire.events import AgentResult, Delivery, FaultFired, History, Recorded, Request, Verdict
from faultwire.profile.model import Profile
from faultwire.replay.incident import Session, ToolResponse
from faultwire.replay.incident_outcome import answered, not_reproduced, notes_on, tools_seen
from faultwire.replay.incident_profile import profile_of

PATH = "/v1/chat/completions"


class Passes:
    label, severity, when, scenarios = "a", "high", "always", ()

    def verdict(self, history: History) -> Verdict:
        return Verdict("pass", "well")


def profile(*tools: str, none_left: Any = "refuse", **more: Any) -> Profile:
    answers = tuple(ToolResponse(tool=tool, **more) for tool in tools)
    return profile_of(Session("inc", ("hi",), tool_responses=answers, none_left=none_left), {})


def exchange(
    number: int,
    *lines: str,
    tool: str | None = None,
    error: str | None = None,
    body: Any = None,
    answer: Any = None,
) -> Recorded:
    """Each line is `ID OUTCOME`."""
    faults = [line.split() for line in lines]
    chat = body is not None
    return Recorded(
        session="s", number=number, kind="llm" if chat else "tool", protocol="openai_chat" if chat else None,
        provider=None, tool=tool, ending="complete", error=error, attempt=0, started_ms=0, duration_ms=1.0,
        request=Request("POST", "https", "api.openai.com", 443, PATH, (), json.dumps(body).encode()),
        upstream=None, delivered=Delivery(200, "", (), json.dumps(answer).encode()) if answer else None,
        faults=tuple(FaultFired(one, one, "result", how, "", "k", 0, 0) for one, how in faults),
    )  # fmt: skip


def history(*exchanges: Recorded) -> History:
    return History("s", exchanges, AgentResult("answer", 0, 1.0))


CALL = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
CHAT = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ],
}
ASKS = {"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [
    {"id": "c2", "type": "function", "function": {"name": "refund", "arguments": "{}"}}]}}]}  # fmt: skip


def test_what_became_of_the_answers() -> None:
    made = profile("price", "price", "stock")
    met = history(exchange(1, "recorded_response fired"), exchange(2, "recorded_response skipped"))
    price, stock = answered(made, met)
    assert (price.tool, price.recorded, price.calls, price.left, price.beyond) == ("price", 2, 1, 1, 0)
    assert (stock.tool, stock.recorded, stock.calls, stock.left) == ("stock", 1, 0, 1)
    assert notes_on(made, met) == (
        "1 of 2 recorded answers of `price` not requested",
        "1 of 1 recorded answer of `stock` not requested",
    )


@pytest.mark.parametrize(
    ("none_left", "outcome", "did"),
    [
        ("refuse", "fired", "refused"),
        ("pass", "no_effect", "passed on"),
        ("repeat", "fired", "given the last one again"),
    ],
)
def test_calls_that_found_none_left(none_left: str, outcome: str, did: str) -> None:
    lines = ["recorded_response fired", *[f"recorded_response {outcome}"] * 2]
    made = profile("price", none_left=none_left)
    assert notes_on(made, history(*(exchange(n, line) for n, line in enumerate(lines, 1)))) == (
        f"2 calls of `price` found no recorded answer left: {did}",
    )


def test_a_session_whose_tool_was_never_called_proves_nothing() -> None:
    made = profile("price")
    called = history(exchange(1, "recorded_response fired"))
    assert not_reproduced(made, called) is None
    assert (
        not_reproduced(made, history()) == "tool `price` of `inc` was never called (no tool was seen at all)"
    )
    others = history(exchange(1, tool="find"), exchange(2, body=CHAT, answer=ASKS))
    assert tools_seen(others) == ("find", "lookup", "refund")
    assert (
        not_reproduced(made, others)
        == "tool `price` of `inc` was never called (seen were `find`, `lookup`, `refund`)"
    )
    many = history(*(exchange(n, tool=f"t{n}") for n in range(1, 12)))
    assert (not_reproduced(made, many) or "").endswith("`t8` and 3 more)")


def test_an_optional_tool_may_be_left_out() -> None:
    assert not_reproduced(profile("price", optional=True), history(exchange(1, tool="find"))) is None


def test_a_call_that_the_tape_does_not_have_makes_it_another_world() -> None:
    missed = history(
        exchange(1, "recorded_response fired"),
        exchange(2, error="diverged: nothing was recorded"),
        exchange(3),
    )
    assert not_reproduced(profile("price"), missed) == (
        "the tape had no answer to 1 call, first to exchange 2: nothing was recorded "
        "(`on_miss: live` asks the model, and without `tape` all calls go live)"
    )


@pytest.mark.parametrize(("lines", "verdict"), [(("recorded_response fired",), "pass"), ((), "unknown")])
def test_the_matrix_asks(lines: tuple[str, ...], verdict: str) -> None:
    invocation = Invocation(Scenario("inc", profile("price")), Prompt("inc", "hi"))
    (cell,) = judge([Passes()], [(invocation, history(exchange(1, *lines, tool="find")))]).cells
    assert cell.verdict.verdict == verdict
    if verdict == "unknown":
        assert cell.verdict.explanation == (
            "tool `price` of `inc` was never called (seen were `find`); without it the verdict is pass: well"
        )
