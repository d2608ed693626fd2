"""An agent whose code mints ids and instants in every run, against one tape."""

from __future__ import annotations

import random
import uuid
from typing import Any

import orjson
import pytest

from faultwire.events import Request
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence, content, differences
from faultwire.replay.mask import Masks
from faultwire.replay.rebind import Rebinder
from faultwire.replay.request_key import asked

JSON = (("content-type", "application/json"),)
SSE = (("content-type", "text/event-stream"),)


def post(body: object, path: str = "/v1/chat/completions", host: str = "api.openai.com") -> Request:
    return Request("POST", "https", host, 443, path, JSON, orjson.dumps(body))


def event(text: str) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def said(stream: bytes) -> str:
    parts = [line[6:] for line in stream.split(b"\n\n") if line.startswith(b"data: {")]
    return "".join(orjson.loads(part)["choices"][0]["delta"]["content"] for part in parts)


class Agent:
    """Books with a tool of its own, whose results hold an order and an instant that nobody knew before;
    then asks a server about that order, with a trace id of its own; then reports."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.order = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        self.trace = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        self.call = f"call_{chance.getrandbits(96):024x}"
        self.at = f"2026-{chance.randrange(1, 13):02}-11T10:00:{chance.randrange(60):02}Z"

    def first(self) -> Request:
        return post({"model": "m", "messages": [{"role": "user", "content": "book a table"}]})

    def second(self) -> Request:
        call = {"id": self.call, "type": "function", "function": {"name": "book", "arguments": "{}"}}
        result = f'booked\n{self.order} at {self.at}, {{"order": "{self.order}"}}'
        return post(
            {
                "model": "m",
                "messages": [
                    {"role": "user", "content": "book a table"},
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": self.call, "content": result},
                ],
            }
        )

    def third(self, order: str) -> Request:
        return post({"order": order, "trace": self.trace}, "/orders", "shop.example")

    def fourth(self, order: str, status: str) -> Request:
        messages = [
            *orjson.loads(self.second().body or b"")["messages"],
            {"role": "assistant", "content": f"Your order is {order}."},
            {"role": "user", "content": f"the shop says {order} is {status}"},
        ]
        return post({"model": "m", "messages": messages})


def record(deck: Any, agent: Agent) -> None:
    deck.add(agent.first(), b'{"choices":[]}')
    pieces = [event("Your order is "), *(event(agent.order[n : n + 5]) for n in range(0, 36, 5)), event(".")]
    deck.add(agent.second(), *pieces, headers=SSE)
    deck.add(agent.third(agent.order), orjson.dumps({"order": agent.order, "status": "open"}))
    deck.add(agent.fourth(agent.order, "open"), b'{"done":"%s"}' % agent.order.encode())


def run(player: Any, agent: Agent) -> list[Answer | Divergence]:
    answers = [player.play(agent.first()), player.play(agent.second())]
    if isinstance(answers[1], Divergence):
        return answers
    text = said(b"".join(data for data, _ in answers[1].chunks))
    order = text.removeprefix("Your order is ").removesuffix(".")
    answers.append(player.play(agent.third(order)))
    if isinstance(answers[2], Divergence):
        return answers
    status = orjson.loads(b"".join(data for data, _ in answers[2].chunks))
    assert status["order"] == agent.order
    answers.append(player.play(agent.fourth(status["order"], status["status"])))
    return answers


@pytest.mark.parametrize("seed", range(1, 33))
def test_a_tool_loop_with_random_ids_replays(seed: int, deck: Any, play: Any) -> None:
    record(deck, Agent(0))
    player, agent = play(rebind=True), Agent(seed)
    answers = run(player, agent)
    assert [type(one) for one in answers] == [Answer] * 4, answers[-1]
    assert b"".join(data for data, _ in answers[3].chunks) == b'{"done":"%s"}' % agent.order.encode()
    assert len(answers[1].chunks) == 10
    assert player.report()["missed"] == player.report()["left"] == 0


def test_without_rebinding_it_misses(deck: Any, play: Any) -> None:
    record(deck, Agent(0))
    player = play()
    answers = run(player, Agent(1))
    assert isinstance(answers[1], Divergence)
    assert answers[1].kind == "volatile value"
    assert player.report()["missed"] == 1


def test_the_same_run_needs_no_rebinding(deck: Any, play: Any) -> None:
    record(deck, Agent(0))
    assert all(isinstance(one, Answer) for one in run(play(), Agent(0)))


def test_a_result_that_says_something_else_is_no_minted_value(deck: Any, play: Any) -> None:
    record(deck, Agent(0))
    player, agent = play(rebind=True), Agent(1)
    player.play(agent.first())
    body = (agent.second().body or b"").replace(b"booked", b"failed")
    request = agent.second()
    found = player.play(Request("POST", "https", request.host, 443, request.path, JSON, body))
    assert isinstance(found, Divergence)


def places(old: Request, new: Request) -> Any:
    return differences(content(old.body, old.path), content(new.body, new.path))


def test_a_value_belongs_to_one_other_only() -> None:
    one, other = Agent(1), Agent(2)
    rebinder = Rebinder()
    old, new = one.third(one.order), other.third(other.order)
    wanted = asked(new, Masks())
    made = rebinder.allows(wanted, places(old, new))
    assert made == [(one.order, other.order), (one.trace, other.trace)]
    rebinder.bind(made)
    third = Agent(3)
    assert rebinder.allows(wanted, places(old, third.third(third.order))) is None


def test_a_value_that_was_said_before_is_not_fresh() -> None:
    one, other = Agent(1), Agent(2)
    old, new = one.third(one.order), other.third(other.order)
    rebinder = Rebinder()
    rebinder.observe(live=b'"cancel\\n' + other.order.encode() + b'"')
    assert rebinder.allows(asked(new, Masks()), places(old, new)) is None


def test_an_answer_says_the_live_value_and_chunks_end_where_they_did() -> None:
    rebinder = Rebinder()
    rebinder.bind([("call_recorded1", "call_l1")])
    body, ends = rebinder.live(b'{"id":"call_recorded1"}{"x":1}', [23, 30])
    assert body == b'{"id":"call_l1"}{"x":1}'
    assert ends == [16, 23]
