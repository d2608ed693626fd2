from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Reset, Wait
from faultwire.faults.agent.agent_partition import AgentPartition

PARTED = AgentPartition(one=("planner",), other=("writer", "r*"), from_s=5, until_s=20)


def call(agent, caller: str | None = "planner", called: str = "writer", at_s: float = 10.0):
    return replace(agent(), caller=caller, agent=called, at_s=at_s)


@pytest.mark.parametrize(
    ("caller", "called"), [("planner", "writer"), ("planner", "researcher"), ("writer", "planner")]
)
def test_no_call_passes_between_the_sides_in_either_direction(agent, caller: str, called: str) -> None:
    assert PARTED.inapplicable(call(agent, caller, called)) is None


@pytest.mark.parametrize(
    ("caller", "called"), [("writer", "researcher"), ("planner", "planner"), ("planner", "critic")]
)
def test_within_a_side_and_to_others_calls_pass(agent, caller: str, called: str) -> None:
    assert PARTED.inapplicable(call(agent, caller, called)) == "both agents are on one side of the partition"


def test_it_lasts_from_until(agent) -> None:
    assert PARTED.inapplicable(call(agent, at_s=4.99)) == "the partition begins at 5 s"
    assert PARTED.inapplicable(call(agent, at_s=5)) is None
    assert PARTED.inapplicable(call(agent, at_s=20)) == "the partition healed at 20 s"
    for_good = AgentPartition(one=("planner",), other=("writer",))
    assert for_good.inapplicable(call(agent, at_s=86_000)) is None


def test_an_unknown_caller_is_not_taken_for_anybody(agent) -> None:
    """Not even for an agent that the session is named after."""
    why = PARTED.inapplicable(replace(call(agent, None), session="planner"))
    assert why == "who calls is unknown: no agent of the profile has such a `caller`"


def test_what_the_caller_gets(agent, dice) -> None:
    silent = PARTED.start(call(agent), dice())
    assert list(silent.before()) == [Wait(None), Cut()]
    assert silent.effect == "`planner` and `writer` are parted: never answered"
    short = AgentPartition(one=("a",), other=("b",), for_ms=50).start(call(agent), dice())
    assert list(short.before()) == [Wait(0.05), Cut()]
    refused = AgentPartition(one=("a",), other=("b",), how="refused").start(call(agent), dice())
    assert list(refused.before()) == [Reset()]


def test_settings_that_mean_nothing() -> None:
    with pytest.raises(ValidationError, match="expected each agent on one side"):
        AgentPartition(one=("a", "b"), other=("b",))
    with pytest.raises(ValidationError, match="not after `from_s`"):
        AgentPartition(one=("a",), other=("b",), from_s=5, until_s=5)
    with pytest.raises(ValidationError):
        AgentPartition(one=(), other=("b",))


def test_it_acts_on_agents_alone(web) -> None:
    assert PARTED.inapplicable(web) == "the exchange is `tool`, not `agent`"
