from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Chunk, Send, Wait
from faultwire.faults.agent.agent_slow import AgentSlow


def test_it_waits_before_the_call(agent, dice):
    mutator = AgentSlow(ms=300).start(agent(), dice())
    assert list(mutator.before()) == [Wait(0.3)]
    assert mutator.effect == "delayed by 300 ms"
    assert list(mutator.feed(Chunk(b"x", 1, "event"))) == [Send(b"x")]


def test_and_between_updates(agent, dice):
    mutator = AgentSlow(ms=300, between_updates_ms=20).start(agent(stream=True), dice())
    assert list(mutator.before()) == [Wait(0.3)]
    assert list(mutator.feed(Chunk(b"a", 0, "event"))) == [Send(b"a")]
    assert list(mutator.feed(Chunk(b"b", 1, "event"))) == [Wait(0.02), Send(b"b")]
    assert mutator.effect == "delayed by 300 ms, and 20 ms before each update"
    assert list(mutator.feed(Chunk(b"c", 2, "bytes"))) == [Send(b"c")]


def test_jitter_comes_from_the_dice(agent, dice):
    waits = {
        tuple(AgentSlow(ms=300, jitter_ms=100).start(agent(), dice(seed)).before()) for seed in range(20)
    }
    assert len(waits) > 10
    assert all(0.2 <= wait.seconds <= 0.4 for (wait,) in waits)
    same = [list(AgentSlow(ms=300, jitter_ms=100).start(agent(), dice(3)).before()) for _ in range(2)]
    assert same[0] == same[1]


def test_bounds_and_kinds(web):
    with pytest.raises(ValidationError):
        AgentSlow(ms=0)
    assert AgentSlow(ms=1).inapplicable(web) is not None
