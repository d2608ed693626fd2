"""Leaving a tape at one exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, Request
from faultwire.exchange.plan import decide
from faultwire.exchange.session_state import SessionState
from faultwire.profile.inline import inline
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence
from faultwire.replay.fork import Forked
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.replay.settings import ForkSettings, GivenAnswer, ReplaySettings
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.redact.redactor import Redactor

JSON = (("content-type", "application/json"),)
KEY = b"k" * 32
Fork = Callable[..., Forked]


def chat(text: str) -> Request:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, orjson.dumps(body))


@pytest.fixture
def fork(deck: Any) -> Iterator[Fork]:
    """A fork of a tape with the calls a, b, c and the answers r1, r2, r3."""
    for text, answer in (("a", b"r1"), ("b", b"r2"), ("c", b"r3")):
        deck.add(chat(text), answer)
    readers: list[TapeReader] = []

    def made(**settings: Any) -> Forked:
        if not readers:
            readers.append(TapeReader.open(deck.close()))
        wanted = ForkSettings(**{"session": "exec", "at": 2, "tail": "live", **settings})
        return Forked(index(readers[0], session="exec"), Redactor(KEY), Rebinder(), wanted)

    yield made
    for reader in readers:
        reader.close()


class Agent:
    """Asks one thing after the other, as the engine tells it to a player."""

    def __init__(self, player: Forked) -> None:
        self.player, self.number = player, 0
        self.faulted: list[int] = []

    def arrive(self, text: str) -> int:
        self.number += 1
        if self.player.arrive(chat(text), self.number):
            self.faulted.append(self.number)
        return self.number

    def ask(self, text: str, said: str | None = None) -> Any:
        """`said` is what a fault made of the request on its way."""
        return told(self.player.play(chat(said or text), self.arrive(text)))

    def stopped(self, text: str) -> None:
        self.player.pass_over(chat(text), self.arrive(text))


def told(found: Answer | Divergence | None) -> Any:
    if found is None:
        return "onward"
    if isinstance(found, Divergence):
        return found.kind
    return b"".join(data for data, _ in found.chunks) or found.ends


GIVEN = GivenAnswer(status=200, headers=JSON, body="bmV3")  # new


def test_before_it_the_tape_answers_and_after_it_somebody_else(fork: Fork) -> None:
    agent = Agent(fork(answer=GIVEN))
    assert [agent.ask(text) for text in ("a", "b", "c", "d", "b")] == [b"r1", b"new", *["onward"] * 3]
    report = agent.player.report()
    assert report["fork"] == {"at": "exec#2", "reached": 2, "tail": "live", "onward": 3}
    assert (report["missed"], report["left"], agent.faulted) == (0, 0, [])


MARKED = (*JSON, ("set-cookie", "redacted:v1:00112233445566778899aabbccddeeff"))


@pytest.mark.parametrize(
    ("body", "counted"),
    [("bmV3", {"answers": 0, "heads": 0}), ("InJlZGFjdGVkOnYxOngi", {"answers": 1, "heads": 0})],
)
def test_an_answer_of_the_users_differs_in_more_than_its_header_fields(
    fork: Fork, body: str, counted: dict[str, int]
) -> None:
    agent = Agent(fork(answer=GivenAnswer(status=200, headers=MARKED, body=body)))
    assert [agent.ask("a"), bool(agent.ask("b"))] == [b"r1", True]
    redacted = agent.player.report()["redacted"]
    assert {name: redacted[name] for name in counted} == counted


def test_what_came_before_must_come_as_it_was_recorded(fork: Fork) -> None:
    agent = Agent(fork(answer=GIVEN))
    assert [agent.ask(text) for text in ("a?", "b")] == ["changed prompt", b"new"]
    report = agent.player.report()
    assert (report["missed"], report["leftovers"]) == (
        1,
        ["exec#1 POST https://api.openai.com/v1/chat/completions"],
    )


def test_a_call_of_the_tail_that_comes_early_goes_on(fork: Fork) -> None:
    agent = Agent(fork(answer=GIVEN))
    assert [agent.ask(text) for text in ("c", "a", "b")] == ["onward", b"r1", b"new"]


def test_the_tape_may_answer_the_rest(fork: Fork) -> None:
    agent = Agent(fork(answer=GIVEN, tail="tape"))
    assert [agent.ask(text) for text in ("a", "b", "c", "d")] == [b"r1", b"new", b"r3", "changed prompt"]
    assert agent.player.report()["left"] == 0


def test_a_dropped_call_that_is_made_again_is_a_call_after_it(fork: Fork) -> None:
    agent = Agent(fork(drop=True, tail="tape"))
    assert [agent.ask(text) for text in ("a", "b", "b", "c")] == [b"r1", "cut", b"r2", b"r3"]
    agent = Agent(fork(drop=True))
    assert [agent.ask(text) for text in ("a", "b", "b")] == [b"r1", "cut", "onward"]


def test_a_fault_is_for_that_exchange_alone(fork: Fork) -> None:
    agent = Agent(fork(fault=True, tail="tape"))
    assert agent.ask("a") == b"r1"
    agent.stopped("b")
    assert [agent.ask(text) for text in ("b", "c")] == [b"r2", b"r3"]
    assert agent.faulted == [2]
    report = agent.player.report()
    assert (report["missed"], report["left"]) == (0, 0)


def test_a_fault_that_asks_something_else_is_answered_by_whoever_comes_after(fork: Fork) -> None:
    agent = Agent(fork(fault=True))
    assert [agent.ask("a"), agent.ask("b", said="poisoned")] == [b"r1", "onward"]
    agent = Agent(fork(fault=True, tail="tape"))
    assert [agent.ask("a"), agent.ask("b", said="poisoned")] == [b"r1", "changed prompt"]


def test_a_fork_that_is_never_reached_reports_that(fork: Fork) -> None:
    agent = Agent(fork(answer=GIVEN))
    assert agent.ask("a") == b"r1"
    report = agent.player.report()
    assert report["fork"]["reached"] is None
    assert report["left"] == 1


def test_only_a_fork_whose_tail_is_the_tape_has_no_way_out() -> None:
    def offline(**settings: Any) -> bool:
        return ReplaySettings(tape=Path("t.tape"), **settings).offline

    assert offline()
    assert not offline(on_miss="live")
    for tail, expected in (("tape", True), ("live", False), ("mock", False)):
        assert offline(fork=ForkSettings(session="exec", at=1, tail=tail, drop=True)) is expected


def test_a_branch_states_what_it_is_of() -> None:
    lineage = {"made_of": [{"tape": "t.tape"}], "fork": {"at": "exec#1"}}
    settings = ForkSettings(session="exec", at=1, tail="tape", drop=True, lineage=lineage)
    said = ReplaySettings(tape=Path("t.tape"), fork=settings).tape_settings()
    assert said == {"made_by": "fork", **lineage}
    assert ReplaySettings(tape=Path("x/t.tape")).tape_settings() == {
        "made_by": "replay",
        "made_of": [{"tape": "t.tape"}],
    }


@pytest.mark.parametrize(("only", "verb"), [(None, "fire"), (0, "skip"), (4, "skip"), (7, "fire")])
def test_faults_act_on_the_chosen_exchange(only: int | None, verb: str) -> None:
    state = SessionState(only=only)
    exchange = Exchange("exec", 7, chat("a"), kind="llm", key="k")
    plan = decide(inline("status: {code: 503}"), Dice(1, "exec"), exchange, state)
    assert [decision.verb for decision in plan.decisions] == [verb]
