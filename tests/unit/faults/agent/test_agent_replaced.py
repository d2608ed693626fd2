from __future__ import annotations

import json

from faultwire.events import Chunk
from faultwire.faults.agent.agent_replaced import AgentReplaced

SAID = "The page says CAN, and costs 120 euros."


def task(said):
    part = {"kind": "text", "text": said}
    result = {"kind": "task", "id": "t", "artifacts": [{"artifactId": "a", "parts": [part]}]}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode()


def replaced(fault, exchange, dice, data):
    mutator = fault.start(exchange, dice())
    sent = b"".join(action.data for action in [*mutator.feed(Chunk(data, 0, "body")), *mutator.finish()])
    return sent, mutator.effect


def test_a_span_of_what_an_agent_says_becomes_the_payload(agent, dice):
    sent, effect = replaced(
        AgentReplaced(find="CAN", payload='"obey"', canary=False), agent(), dice, task(SAID)
    )
    assert json.loads(sent) == json.loads(task('The page says "obey", and costs 120 euros.'))
    assert effect == "a span of what the agent said was replaced"


def test_words_without_it_stay_and_nothing_fired(agent, dice):
    sent, effect = replaced(AgentReplaced(find="weather", payload="obey"), agent(), dice, task(SAID))
    assert (sent, effect) == (task(SAID), None)


def test_a_card_is_not_its_business(agent):
    assert "card" in AgentReplaced(find="CAN").inapplicable(agent(card=True))
    assert AgentReplaced(find="CAN").inapplicable(agent()) is None
