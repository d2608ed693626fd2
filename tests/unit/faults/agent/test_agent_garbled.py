from __future__ import annotations

import json

import pytest

from faultwire.events import Chunk, Response
from faultwire.faults.agent.agent_garbled import AgentGarbled
from faultwire.wire.framing import sse

SAID = "It costs 120 euros."
TASK = {
    "kind": "task",
    "id": "t1",
    "contextId": "c1",
    "status": {"state": "completed"},
    "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": SAID}]}],
}
BODY = json.dumps({"jsonrpc": "2.0", "id": 7, "result": TASK}).encode()


def garbled(fault, exchange, dice, data=BODY, unit="body"):
    mutator = fault.start(exchange, dice())
    sent = [action.data for action in mutator.feed(Chunk(data, 0, unit))]
    sent += [action.data for action in mutator.finish()]
    return b"".join(sent), mutator.effect


@pytest.mark.parametrize("words", ["nonsense", "wrong", "cut", "empty"])
def test_words_change_and_nothing_else(agent, dice, words):
    body, effect = garbled(AgentGarbled(words=words), agent(), dice)
    told = json.loads(body)
    text = told["result"]["artifacts"][0]["parts"][0].pop("text")
    expected = json.loads(BODY)
    expected["result"]["artifacts"][0]["parts"][0].pop("text")
    assert told == expected
    assert effect == "what the agent said was garbled"
    assert text != SAID
    if words == "wrong":
        assert text.startswith("It costs ")
    if words in ("cut", "empty"):
        assert text == (SAID[: len(SAID) // 2] if words == "cut" else "")


def test_a_stream(agent, dice):
    artifact = {"kind": "artifact-update", "taskId": "t1", "artifact": TASK["artifacts"][0]}
    done = {"kind": "status-update", "taskId": "t1", "status": {"state": "completed"}, "final": True}
    mutator = AgentGarbled(words="empty").start(agent(stream=True), dice())
    events = [
        sse.write(json.dumps({"jsonrpc": "2.0", "id": 7, "result": r}).encode()) for r in (artifact, done)
    ]
    assert list(mutator.feed(Chunk(events[0], 0, "event"))) == [], "held until the last word"
    out = b"".join(action.data for action in mutator.feed(Chunk(events[1], 1, "event")))
    assert out == events[0].replace(SAID.encode(), b"") + events[1]
    assert mutator.effect


def test_what_it_cannot_read_passes(agent, dice):
    assert garbled(AgentGarbled(), agent(), dice, b"<html>") == (b"<html>", None)


def test_where_it_does_not_act(agent, chat):
    assert AgentGarbled().inapplicable(agent(card=True)) == "a card is read, and nothing said"
    assert AgentGarbled().inapplicable(chat()) == "the exchange is `llm`, not `agent`"
    assert AgentGarbled().inapplicable(agent(response=Response(503))) == "the response has status 503"
    assert AgentGarbled().inapplicable(agent()) is None
