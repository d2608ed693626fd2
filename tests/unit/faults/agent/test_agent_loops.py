from __future__ import annotations

import json

import pytest

from faultwire.events import Chunk, Response
from faultwire.faults.agent.agent_loops import AgentLoops
from faultwire.wire.framing import sse

PART = {"kind": "text", "text": "All done."}
OLD = {
    "kind": "task",
    "id": "t",
    "status": {"state": "completed"},
    "artifacts": [{"artifactId": "a", "parts": [PART]}],
}
NEW = {"task": {**OLD, "status": {"state": "TASK_STATE_COMPLETED"}}}
NEW["task"].pop("kind")


def looped(agent, dice, data: bytes, unit="body", **about):
    mutator = AgentLoops(question="Which?").start(agent(**about), dice())
    return b"".join(action.data for action in mutator.feed(Chunk(data, 0, unit))), mutator.effect


@pytest.mark.parametrize(
    ("task", "state", "rest"), [(OLD, "input-required", False), (NEW, "TASK_STATE_INPUT_REQUIRED", False),
                                (NEW, "TASK_STATE_INPUT_REQUIRED", True)],
)  # fmt: skip
def test_a_finished_task_asks_back_in_the_words_of_its_version(
    agent, dice, task, state: str, rest: bool
) -> None:
    document = task if rest else {"jsonrpc": "2.0", "id": 7, "result": task}
    body, effect = looped(agent, dice, json.dumps(document).encode(), rest=rest)
    told = json.loads(body)
    found = told if rest else told["result"]
    found = found.get("task", found)
    assert found["status"]["state"] == state
    assert found["artifacts"][0]["parts"][0]["text"] == "Which?"
    assert effect == "what the agent said became a question"
    assert found["id"] == "t", "nothing else changes"


@pytest.mark.parametrize("state", ["failed", "working", "canceled"])
def test_other_states_stay(agent, dice, state: str) -> None:
    task = {"kind": "task", "id": "t", "status": {"state": state}}
    data = json.dumps({"jsonrpc": "2.0", "id": 7, "result": task}).encode()
    assert looped(agent, dice, data) == (data, None)


def test_in_a_stream_each_event(agent, dice) -> None:
    said = {"kind": "artifact-update", "taskId": "t", "artifact": {"artifactId": "a", "parts": [PART]}}
    done = {"kind": "status-update", "taskId": "t", "status": {"state": "completed"}, "final": True}
    events = [
        sse.write(json.dumps({"jsonrpc": "2.0", "id": 7, "result": one}).encode()) for one in (said, done)
    ]
    first, _ = looped(agent, dice, events[0], "event", stream=True)
    last, _ = looped(agent, dice, events[1], "event", stream=True)
    assert b"Which?" in first
    assert b"All done." not in first
    assert b'"input-required"' in last
    assert b'"final": true' in last


@pytest.mark.parametrize("data", [b"<html>", b"[]", b'{"jsonrpc": "2.0", "result": 1}', b""])
def test_what_it_cannot_read_passes(agent, dice, data: bytes) -> None:
    assert looped(agent, dice, data) == (data, None)


def test_where_it_does_not_act(agent, chat) -> None:
    assert AgentLoops().inapplicable(agent(card=True)) == "a card is read, and nothing said"
    assert AgentLoops().inapplicable(agent(response=Response(503))) == "the response has status 503"
    assert AgentLoops().inapplicable(chat()) == "the exchange is `llm`, not `agent`"
    assert AgentLoops().inapplicable(agent()) is None
