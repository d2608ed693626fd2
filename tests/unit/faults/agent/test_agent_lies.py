from __future__ import annotations

import json
from dataclasses import replace

from faultwire.events import Chunk
from faultwire.faults.agent.agent_lies import AgentLies

SAID = "The invoice of 2026-03-01 is 1250 euros."


def body(text: str) -> bytes:
    message = {
        "kind": "message",
        "messageId": "m",
        "role": "agent",
        "parts": [{"kind": "text", "text": text}],
    }
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": message}).encode()


def told(
    agent,
    dice,
    text: str = SAID,
    *,
    caller: str | None = None,
    key: str = "k",
    n: int = 0,
    seed: int = 0,
    **settings,
):
    exchange = replace(agent(), caller=caller)
    mutator = AgentLies(**settings).start(exchange, dice(seed, key, n))
    out = b"".join(action.data for action in mutator.feed(Chunk(body(text), 0, "body")))
    return json.loads(out)["result"]["parts"][0]["text"], mutator.effect


def test_the_lie_has_the_form_of_the_truth(agent, dice) -> None:
    lie, effect = told(agent, dice)
    assert lie != SAID
    assert lie.startswith("The invoice of 2026-")
    assert lie.endswith(" euros.")
    assert effect == "the agent reported other facts"


def test_who_asks_again_gets_the_same_lie(agent, dice) -> None:
    """In another exchange, and whatever was asked in between: no order of arrival decides."""
    assert told(agent, dice, key="a", n=0)[0] == told(agent, dice, key="b", n=7)[0]
    assert told(agent, dice, seed=1)[0] != told(agent, dice, seed=2)[0]


def test_each_caller_gets_another_one_only_where_that_is_wanted(agent, dice) -> None:
    same = {told(agent, dice, caller=who)[0] for who in ("planner", "critic")}
    assert len(same) == 1
    lies = {who: told(agent, dice, caller=who, to="each_caller")[0] for who in ("planner", "critic")}
    assert lies["planner"] != lies["critic"]
    assert told(agent, dice, caller="planner", to="each_caller", key="z")[0] == lies["planner"]


def test_words_without_facts_stay(agent, dice) -> None:
    assert told(agent, dice, "Nothing was found.") == ("Nothing was found.", None)


def test_where_it_does_not_act(agent, chat) -> None:
    assert AgentLies().inapplicable(agent(card=True)) == "a card is read, and nothing said"
    assert AgentLies().inapplicable(chat()) == "the exchange is `llm`, not `agent`"
