"""Who sent a request to a model, by the instructions that it holds: faultwire.exchange.understanding."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.stage import ExchangeState
from faultwire.exchange.understanding import understood
from faultwire.profile.load import parse

AGENTS = parse(
    """
agents:
  writer: {instructions: "You write*"}
  editor: {instructions: "*edit*", caller: {x-team: blue}}
  router: {caller: {x-role: router}}
faults: [{latency: {ms: 1}, on: {path: "*"}}]
""",
    "p.yaml",
)
BLUE = ("x-team", "blue")


def asked(instructions: str | None, *headers: tuple[str, str]) -> Request:
    said = [{"role": "user", "content": "You write and edit"}]
    if instructions is not None:
        said.insert(0, {"role": "system", "content": instructions})
    body = json.dumps({"model": "m", "messages": said}).encode()
    fields = (("content-type", "application/json"), *headers)
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", fields, body)


def caller(request: Request, known: str | None = None) -> str | None:
    context = SessionContext("s", AGENTS, Dice(1, "s"), SessionState())
    at = ExchangeState(context, Exchange("s", 1, request, caller=known), None)
    understood(at)
    return at.exchange.caller


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (asked("You write letters"), "writer"),
        (asked("Please edit this", BLUE), "editor"),
        (asked("Please edit this"), None),
        (asked("Please edit this", ("x-team", "red")), None),
        (asked("You write and edit", BLUE), None),
        (asked("You write and edit"), "writer"),
        (asked("You read"), None),
        (asked(None, BLUE), None),
    ],
    ids=("fits", "all marks", "no header", "other header", "two fit", "one fits whole", "none fits", "none"),
)
def test_the_sender_is_the_one_agent_all_of_whose_marks_fit(request_: Request, name: str | None) -> None:
    assert caller(request_) == name


def test_a_request_that_is_none_to_a_model_has_no_instructions() -> None:
    find = Request("GET", "https", "x.test", 443, "/find", (BLUE,), b"")
    assert caller(find) is None


def test_who_is_known_by_header_fields_alone_is_not_looked_for_anew() -> None:
    assert caller(asked("You write letters"), known="router") == "router"


def test_what_an_earlier_request_of_the_session_held_is_not_read_again() -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    more = [*said, {"role": "user", "content": "and now?"}]
    one, other = (SessionContext("s", AGENTS, Dice(1, "s"), SessionState()) for _ in range(2))
    turns = []
    for number, (context, messages) in enumerate(((one, said), (one, more), (other, more)), 1):
        request = replace(asked(None), body=json.dumps({"model": "m", "messages": messages}).encode())
        at = ExchangeState(context, Exchange("s", number, request), None)
        understood(at)
        assert at.exchange.view is not None
        turns.append(at.exchange.view.turns)
    first, then, elsewhere = turns
    assert then == elsewhere
    assert [turn.text for turn in then] == ["hi", "hello", "and now?"]
    assert [turn is known for turn, known in zip(then, first, strict=False)] == [True, True]
    assert [turn is known for turn, known in zip(elsewhere, first, strict=False)] == [False, False]
