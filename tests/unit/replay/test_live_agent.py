"""Of a recorded system one agent runs: each gets what it got, and no other's answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwire.events import Request
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence
from faultwire.replay.live_agent import NO_MARK, LiveAgent
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.redact.redactor import Redactor
from faultwire.wire.senders import Mark

JSON = (("content-type", "application/json"),)
MARKS = (Mark("planner", (("user-agent", "planner/*"),)), Mark("writer", (), ("You are the writer*",)))


def ask(text: str, who: str = "planner/1", system: str = "You plan.") -> Request:
    import orjson

    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    body = orjson.dumps({"model": "m", "messages": messages})
    headers = (*JSON, ("user-agent", who))
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", headers, body)


def of_writer(text: str) -> Request:
    return ask(text, "python", "You are the writer.")


def player(deck: Any, name: str = "planner", *, marks: tuple[Mark, ...] = MARKS, **more: Any) -> LiveAgent:
    reader = TapeReader.open(deck.close())
    found = index(reader, session="exec", marks=marks)
    settings = ReplaySettings(tape=Path("t.tape"), live_agent=name, **more)
    return LiveAgent(found, Redactor(b"k" * 32), Rebinder(), settings)


def said(found: object) -> bytes:
    assert isinstance(found, Answer), found
    return b"".join(data for data, _ in found.chunks)


def test_an_answer_that_another_agent_got_is_not_this_ones(deck: Any) -> None:
    """The control: without marks the tape gives it."""
    deck.add(ask("hi", "critic/1"), b"the critic's")
    assert said(player(deck, marks=()).play(ask("hi"))) == b"the critic's"
    missed = player(deck).play(ask("hi"))
    assert isinstance(missed, Divergence)
    assert missed.reason == "a call of `planner`: no exchange was recorded for this address"


def test_two_agents_that_ask_the_same_get_what_each_got(deck: Any) -> None:
    deck.add(ask("hi", "critic/1"), b"the critic's")
    deck.add(ask("hi"), b"the planner's")
    one = player(deck)
    assert said(one.play(ask("hi"))) == b"the planner's"
    assert said(one.play(ask("hi", "critic/9"))) == b"the critic's"


def test_ids_are_not_bound_to_another_agents_call(deck: Any) -> None:
    """An id of the agent's own in a call to a server stands for the recorded one, of this agent alone."""

    def trace(minted: str, who: str) -> Request:
        headers = (*JSON, ("user-agent", who))
        return Request("POST", "https", "shop.test", 443, "/x", headers, b'{"run": "%s"}' % minted.encode())

    deck.add(trace("run_aaaaaaaaaaaa", "critic/1"), b"the critic's")
    assert isinstance(player(deck).play(trace("run_bbbbbbbbbbbb", "planner/1")), Divergence)
    assert said(player(deck).play(trace("run_bbbbbbbbbbbb", "critic/1"))) == b"the critic's"


def test_calls_of_agents_that_do_not_run_are_not_missed_and_those_of_the_live_one_are(deck: Any) -> None:
    deck.add(ask("one"), b"1")
    deck.add(ask("two"), b"2")
    deck.add(of_writer("three"), b"3")
    deck.add(ask("four", "somebody"), b"4")
    one = player(deck)
    one.play(ask("one"))
    report = one.report()
    assert report["left"] == 1
    assert report["leftovers"] == ["exec#2 POST https://api.openai.com/v1/chat/completions"]
    assert report["live"] == {
        "agent": "planner", "calls": 1, "onward": 0, "beside": {}, "played": {"writer": 1, NO_MARK: 1},
    }  # fmt: skip
    one.play(of_writer("other"))
    report = one.report()
    assert report["left"] == 2, "the writer runs, too: what it did not ask is missing"
    assert report["live"]["beside"] == {"writer": 1}


def test_its_models_answer_anew_and_nobody_elses_do(deck: Any) -> None:
    deck.add(ask("one"), b"1")
    deck.add(of_writer("two"), b"2")
    one = player(deck, live_model=True)
    assert one.play(ask("something else")) is None
    assert said(one.play(of_writer("two"))) == b"2"
    missed = one.play(of_writer("something else"))
    assert isinstance(missed, Divergence)
    assert missed.reason.startswith("a call of `writer`: it differs from exec#2")
    assert one.report()["live"]["onward"] == 1
    assert one.report()["left"] == 0


def test_tools_of_the_live_agent_come_from_the_tape_with_live_model(deck: Any) -> None:
    tool = Request("POST", "http", "shop.test", 80, "/price", (*JSON, ("user-agent", "planner/1")), b"{}")
    deck.add(tool, b'{"price": 3}')
    assert said(player(deck, live_model=True).play(tool)) == b'{"price": 3}'
    assert isinstance(player(deck, live_model=True).play(replace(tool, path="/other")), Divergence)


@pytest.mark.parametrize(("model", "offline"), [(False, True), (True, False)])
def test_there_is_no_way_out_but_to_the_live_model(model: bool, offline: bool) -> None:
    assert ReplaySettings(tape=Path("t"), live_agent="a", live_model=model).offline is offline
