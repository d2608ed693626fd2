"""Attacks on conversations: the same seed delivers the same bytes, however requests interleave.

Random agents share beginnings, fork, and call in parallel, through real pipelines that share a session. The
model's answer depends on the bytes that it was delivered, so one wrong byte changes all that follows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from faultwire.dice import Dice
from faultwire.events import FaultFired, Request, Response
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse
from faultwire.profile.model import Profile
from faultwire.tape.read.fault_ledger import ledger_hash

ATTACKS = parse(
    """
faults:
  - memory_poisoning: {role: system, canary: true}
    trigger: {probability: 0.3}
  - memory_poisoning: {role: user, strategy: append}
    on: {model: gpt-4o}
    trigger: {probability: 0.4}
  - conflicting_context: {}
    trigger: {probability: 0.4}
  - injection_via_context: {}
    on: {turn: [2, 3]}
    trigger: {probability: 0.5}
  - overflow: {inject_tokens: 5}
    trigger: {probability: 0.2}
""",
    "attacks.yaml",
)
FIRST_COME = parse(
    "faults: [{memory_poisoning: {role: user}, trigger: {max_times: 1}}]",
    "first.yaml",
)
HEAD = Request(
    "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (("content-type", "application/json"),)
)
OK = Response(200, "OK", (("content-type", "application/json"),))


@dataclass
class Step:
    """What an agent says next, and what it says after the answer, in parallel."""

    text: str
    after: list[Step] = field(default_factory=list)


@dataclass
class Agent:
    model: str
    system: str
    steps: list[Step]


@dataclass
class Call:
    """One call that is ready: its name is its way through the agent's tree."""

    name: tuple[int, ...]
    model: str
    messages: list[dict[str, str]]
    step: Step


words = st.sampled_from(["go on", "why?", "find it"])
steps = st.recursive(
    st.builds(Step, words),
    lambda below: st.builds(Step, words, st.lists(below, min_size=1, max_size=3)),
    max_leaves=6,
)
agents = st.builds(
    Agent,
    st.sampled_from(["gpt-4o", "gpt-4o-mini"]),
    st.sampled_from(["be brief", "be wordy"]),
    st.lists(steps, min_size=1, max_size=3),
)


class World:
    """Agents that run through one session, at most `concurrency` calls at once."""

    def __init__(self, seed: int, profile: Profile = ATTACKS) -> None:
        self.session = SessionContext("s", profile, Dice(seed, "s"), SessionState())
        self.delivered: dict[tuple[int, ...], bytes] = {}
        self.lines: list[FaultFired] = []

    def run(self, every: list[Agent], concurrency: int, chance: Random) -> World:
        ready = [call for at, agent in enumerate(every) for call in self._calls(at, agent)]
        flying: list[tuple[Call, ExchangePipeline]] = []
        while ready or flying:
            if ready and len(flying) < concurrency and (not flying or chance.random() < 0.6):
                call = ready.pop(chance.randrange(len(ready)))
                flying.append((call, self._begin(call)))
            else:
                ready.extend(self._end(*flying.pop(chance.randrange(len(flying)))))
        return self

    def _calls(self, at: int, agent: Agent) -> Iterator[Call]:
        for n, step in enumerate(agent.steps):
            said = [{"role": "system", "content": agent.system}, {"role": "user", "content": step.text}]
            yield Call((at, n), agent.model, said, step)

    def _begin(self, call: Call) -> ExchangePipeline:
        pipeline = ExchangePipeline(self.session, HEAD)
        body = json.dumps({"model": call.model, "messages": call.messages}).encode()
        self.delivered[call.name] = pipeline.request(body).request.body or b""
        return pipeline

    def _end(self, call: Call, pipeline: ExchangePipeline) -> Iterator[Call]:
        pipeline.head(OK)
        answer = hashlib.sha256(self.delivered[call.name]).hexdigest()[:8]
        list(pipeline.finish())
        self.lines.extend(pipeline.over())
        for n, step in enumerate(call.step.after):
            said = [{"role": "assistant", "content": answer}, {"role": "user", "content": step.text}]
            yield Call((*call.name, n), call.model, [*call.messages, *said], step)

    @property
    def told(self) -> list[str]:
        """The ledger without order and without what names the order."""
        return sorted(repr(replace(line, reason="")) for line in self.lines)

    @property
    def ledger_hash(self) -> str:
        return ledger_hash(("s", line) for line in self.lines)


@given(
    every=st.lists(agents, min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
    concurrency=st.integers(1, 32),
    chance=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_the_same_seed_delivers_the_same_bytes_at_any_interleaving(every, seed, concurrency, chance):
    alone = World(seed).run(every, 1, Random(0))
    mixed = World(seed).run(every, concurrency, chance)
    assert mixed.delivered == alone.delivered
    assert mixed.told == alone.told
    assert ledger_hash(("s", line) for line in mixed.lines) == ledger_hash(
        ("s", line) for line in alone.lines
    )


@given(every=st.lists(agents, min_size=1, max_size=4), seed=st.integers(0, 2**32))
@settings(deadline=None)
def test_every_changed_request_has_its_line_and_no_other_has(every, seed):
    world = World(seed)
    for call in (call for at, agent in enumerate(every) for call in world._calls(at, agent)):
        waiting = [call]
        while waiting:
            one = waiting.pop()
            sent = json.dumps({"model": one.model, "messages": one.messages}).encode()
            pipeline = world._begin(one)
            waiting.extend(world._end(one, pipeline))
            changed = any(line.outcome in ("fired", "reapplied") for line in pipeline.ledger())
            assert changed == (world.delivered[one.name] != sent)


def fan(count: int) -> list[Agent]:
    return [Agent("gpt-4o", "be brief", [Step(f"job {at}", [Step("go on")])]) for at in range(count)]


@pytest.mark.parametrize("concurrency", [1, 2, 8, 32])
def test_some_conversations_are_attacked_and_some_are_not(concurrency):
    """The control of the property: something is at stake in it."""
    worlds = [World(7).run(fan(32), concurrency, Random(order)) for order in range(10)]
    assert all(world.delivered == worlds[0].delivered for world in worlds)
    hits = [b"administrator" in body for body in worlds[0].delivered.values()]
    assert 5 < sum(hits) < len(hits) - 5


def test_a_trigger_that_counts_goes_by_the_order_of_arrival():
    """The limit that the documentation states, and the control that the worlds can differ."""
    found = {
        tuple(sorted(name for name, body in world.delivered.items() if b"administrator" in body))
        for world in (World(7, FIRST_COME).run(fan(4), 4, Random(order)) for order in range(20))
    }
    assert len(found) > 1
    assert all(len(names) == 2 for names in found), "one conversation, and what continues it"
