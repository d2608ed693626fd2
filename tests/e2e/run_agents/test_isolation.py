"""One cell never sees another cell's traffic or faults, however many run at once."""

from __future__ import annotations

import sys

import pytest
from tests.e2e.run_agents.conftest import CALM, HERE, asked, bench, scenario

from faultwire.agents.settings import CommandSettings
from faultwire.contract.cells import Prompt

MANY = 16
BROKEN = scenario("broken", "  - status: {code: 503}\n    on: {kind: llm}\n")
SLOW = scenario("slow", "  - latency: {ms: 40}\n    on: {kind: llm}\n")
PROMPTS = [Prompt(f"p{n}", f"<mark {n:02}>") for n in range(12)]


def look(played, *, calls):
    """Every history holds exactly its own calls, and the faults of its own scenario."""
    marks = {prompt.text for prompt in PROMPTS}
    wanted = {"calm": [], "broken": ["status"] * calls, "slow": ["latency"] * calls}
    for one in played:
        mine, name = one.invocation.prompt.text, one.invocation.scenario.name
        assert one.history.voids == (), one.invocation.id
        bodies = asked(one.history)
        assert len(bodies) == calls, one.invocation.id
        for body in bodies:
            assert {mark for mark in marks if mark in body} == {mine}, one.invocation.id
        assert [fault.fault for fault in one.history.fired] == wanted[name], one.invocation.id


def test_commands(world):
    agent = world.agent(
        CommandSettings(command=(sys.executable, "-S", str(HERE / "command_agent.py"), "{prompt}"))
    )
    assert agent.concurrent
    played = world.play(agent, [CALM, BROKEN, SLOW], PROMPTS, concurrency=MANY)
    look(played, calls=1)
    for one in played:
        status, _ = one.history.agent.answer.split(" ", 1)
        assert status == ("503" if one.invocation.scenario is BROKEN else "200")


def test_a_server_that_propagates(world):
    agent = world.served("--propagate")
    assert agent.concurrent
    played = world.play(agent, [CALM, BROKEN, SLOW], PROMPTS, concurrency=MANY)
    look(played, calls=2)
    for one in played:
        assert one.history.notes == ()


@pytest.mark.by_day("traceparent")
@pytest.mark.parametrize("only", ["traceparent", "baggage"])
def test_either_of_the_two_headers_is_enough(world, only):
    agent = world.served("--only", only, propagates=True)
    look(world.play(agent, [CALM, BROKEN], PROMPTS, concurrency=MANY), calls=2)


def test_without_propagation_it_is_refused(world):
    agent = world.served(propagates=True)  # which it does not
    played = world.play(agent, [CALM, BROKEN], PROMPTS, concurrency=MANY)
    astray = [one for one in played if one.history.voids]
    assert astray
    for one in astray:
        assert "`server` did not propagate `traceparent` or `baggage`" in one.history.voids[0]
    for one in played:  # what was let through went to the only open session, so it was of nobody else
        mine = one.invocation.prompt.text
        assert one.history.voids or all(mine in body for body in asked(one.history))
    assert world.run.engine.stats()["refused"] >= len(astray)


@pytest.mark.by_day("flags0")
@pytest.mark.parametrize("flags", [("--propagate",), ()])
def test_calls_at_the_start_are_the_servers_own(world, flags):
    agent = world.served("--startup-call", *flags)
    (one,) = world.play(agent, [CALM], PROMPTS[:1])
    assert all("are you there?" not in body for body in asked(one.history))
    assert world.run.engine.notes() == (
        "`server` made 1 call while no session was open; the tape has them as session `server`",
    )
    world.run.engine.flush()
    (early,) = world.run.history("server").exchanges
    assert b"are you there?" in early.request.body


CHANCE = scenario("chance", "  - status: {code: 503}\n    on: {kind: llm}\n    trigger: {probability: 0.5}\n")


def test_the_ledger_is_the_same_however_many_run_at_once(tmp_path):
    ledgers, fired = [], []
    for concurrency in (1, MANY):
        (tmp_path / str(concurrency)).mkdir()
        with bench(tmp_path / str(concurrency)) as world:
            played = world.play(world.served("--propagate"), [CALM, CHANCE], PROMPTS, concurrency=concurrency)
            ledgers.append(world.run.ledger_hash())
        fired.append([len(one.history.fired) for one in played])
    assert ledgers[0] == ledgers[1]
    assert fired[0] == fired[1]
    assert set(fired[0]) == {0, 1, 2}  # chance decides, and decides the same
