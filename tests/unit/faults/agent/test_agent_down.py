from __future__ import annotations

import json

import pytest

from faultwire.events import Reset
from faultwire.faults.agent.agent_down import AgentDown


def test_refused(agent, dice):
    mutator = AgentDown().start(agent(), dice())
    assert mutator.effect is None
    assert list(mutator.before()) == [Reset()]
    assert mutator.effect == "refused before the agent was called"
    assert mutator.answer() is None


@pytest.mark.parametrize(("how", "status"), [("unavailable", 503), ("broken", 500)])
def test_answered_in_its_own_words(agent, dice, how, status):
    mutator = AgentDown(how=how).start(agent(), dice())
    assert list(mutator.before()) == []
    answer = mutator.answer()
    told = json.loads(answer.body)
    assert (answer.status, told["id"], told["error"]["code"]) == (status, 7, -32603)
    assert mutator.effect == f"answered {status} for writer"
    rest = AgentDown(how=how).start(agent(rest=True), dice()).answer()
    assert json.loads(rest.body)["error"]["code"] == status


def test_the_card_may_stay(agent, chat):
    assert AgentDown().inapplicable(agent(card=True)) is None
    assert AgentDown(card=False).inapplicable(agent(card=True)) == "the card is read, and `card` is false"
    assert AgentDown(card=False).inapplicable(agent()) is None
    assert AgentDown().inapplicable(chat()) == "the exchange is `llm`, not `agent`"
