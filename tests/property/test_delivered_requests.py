"""What models were delivered, on tapes: two runs that differ there have other hashes and a difference.

Random agents with tools share beginnings, fork and call in parallel, through real pipelines into real tapes.
The model's answer depends on the bytes that it was delivered.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from faultwire.dice import Dice
from faultwire.events import FaultFired, Request, Response
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse
from faultwire.replay.compare import compare
from faultwire.replay.match import Index
from faultwire.replay.reader import index
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

PROFILE = parse(
    """
faults:
  - tool_error: {message: out of order}
    trigger: {probability: 0.3}
  - indirect_injection: {canary: true}
    on: {tool: search}
    trigger: {probability: 0.4}
  - tool_wrong_values: {}
    on: {tool: calc, model: gpt-4o}
    trigger: {probability: 0.4}
  - memory_poisoning: {role: system}
    trigger: {probability: 0.3}
  - conflicting_context: {}
    on: {model: gpt-4o-mini}
    trigger: {probability: 0.4}
""",
    "tools.yaml",
)
HEAD = Request(
    "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (("content-type", "application/json"),)
)
ACTED = ("fired", "reapplied")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Tapes wait for the disk at each commit: one in memory shows the same."""


@dataclass
class Step:
    """What an agent says or which tool it has called, and what it does after the answer, in parallel."""

    text: str
    tool: str | None = None
    after: list[Step] = field(default_factory=list)


@dataclass
class Agent:
    model: str
    system: str
    steps: list[Step]


class Call(NamedTuple):
    name: tuple[int, ...]
    model: str
    messages: tuple[dict[str, Any], ...]
    step: Step


words = st.sampled_from(["go on", "why?", "find it"])
tools = st.sampled_from([None, "search", "calc"])
steps = st.recursive(
    st.builds(Step, words, tools),
    lambda below: st.builds(Step, words, tools, st.lists(below, min_size=1, max_size=3)),
    max_leaves=6,
)
agents = st.builds(
    Agent,
    st.sampled_from(["gpt-4o", "gpt-4o-mini"]),
    st.sampled_from(["be brief", "be wordy"]),
    st.lists(steps, min_size=1, max_size=3),
)


class Run:
    """Agents that run through one session onto a tape, at most `concurrency` calls at once."""

    def __init__(self, seed: int, folder: str, name: str) -> None:
        self.session = SessionContext("s", PROFILE, Dice(seed, "s"), SessionState())
        self.path = Path(folder) / f"{name}.tape"
        self.writer = TapeWriter.create(self.path, origin="p/t", settings={}, key=b"k" * 32)
        self.writer.open_session("s", profile="", profile_digest="", seed=seed, agent="")
        self.sent: dict[tuple[int, ...], bytes] = {}
        self.delivered: dict[tuple[int, ...], bytes] = {}
        self.lines: dict[tuple[int, ...], tuple[FaultFired, ...]] = {}

    def play(self, every: list[Agent], concurrency: int, chance: Random) -> Run:
        ready = [call for at, agent in enumerate(every) for call in _first(at, agent)]
        flying: list[tuple[Call, ExchangePipeline, Any]] = []
        while ready or flying:
            if ready and len(flying) < concurrency and (not flying or chance.random() < 0.6):
                flying.append(self._begin(ready.pop(chance.randrange(len(ready)))))
            else:
                ready.extend(self._end(*flying.pop(chance.randrange(len(flying)))))
        self.writer.close_session("s")
        self.writer.close()
        return self

    def _begin(self, call: Call) -> tuple[Call, ExchangePipeline, Any]:
        pipeline = ExchangePipeline(self.session, HEAD)
        body = json.dumps({"model": call.model, "messages": call.messages}).encode()
        out = pipeline.request(body).request
        recording = self.writer.record(pipeline.exchange)
        recording.request(pipeline.exchange.request)
        if out.body != body:
            recording.forwarded(out)
        self.sent[call.name], self.delivered[call.name] = body, out.body or b""
        return call, pipeline, recording

    def _end(self, call: Call, pipeline: ExchangePipeline, recording: Any) -> Iterator[Call]:
        said = hashlib.sha256(self.delivered[call.name]).hexdigest()[:8]
        message = {"role": "assistant", "content": said}
        answer = json.dumps({"model": call.model, "choices": [{"index": 0, "message": message}]}).encode()
        response = Response(200, "OK", (("content-type", "application/json"),), answer)
        pipeline.head(response)
        list(pipeline.finish())
        recording.upstream_head(response)
        self.lines[call.name] = pipeline.over()
        recording.end("complete", None, self.lines[call.name])
        for n, step in enumerate(call.step.after):
            said_next = (message, *_messages(step, (*call.name, n)))
            yield Call((*call.name, n), call.model, (*call.messages, *said_next), step)

    @property
    def ledger(self) -> str:
        with TapeReader.open(self.path) as tape:
            return tape.ledger_hash()


def _first(at: int, agent: Agent) -> Iterator[Call]:
    """No request goes beyond another one without having waited for its answer: such a one takes over what
    was changed in the other only if that came first."""
    system = {"role": "system", "content": agent.system}
    for n, step in enumerate(agent.steps):
        asked = {"role": "user", "content": f"{step.text} {step.tool or ''}"}
        tool = _messages(step, (at, n)) if step.tool else ()
        yield Call((at, n), agent.model, (system, asked, *tool), step)


def _messages(step: Step, name: tuple[int, ...]) -> tuple[dict[str, Any], ...]:
    """What the step adds. A tool is asked by every call for something of its own: what equal calls of tools
    promise is only how many of them are changed."""
    if step.tool is None:
        return ({"role": "user", "content": step.text},)
    ident = "call_" + "_".join(map(str, name))
    function = {"name": step.tool, "arguments": json.dumps({"for": ident})}
    called = {"role": "assistant", "tool_calls": [{"id": ident, "type": "function", "function": function}]}
    return (called, {"role": "tool", "tool_call_id": ident, "content": '{"price": 42, "note": "ok"}'})


def difference(one: Run, other: Run) -> bool:
    """Does `tape diff` find one?"""
    with TapeReader.open(one.path) as first, TapeReader.open(other.path) as second:
        entries: Index = index(first, (), strict_order=False)
        sent_on = (first.all_forwarded(), second.all_forwarded())
        return compare(entries, second.exchanges(), sent_on).divergence is not None


several = st.lists(agents, min_size=1, max_size=4)


@given(
    every=several,
    seed=st.integers(0, 2**32),
    concurrency=st.integers(1, 32),
    chance=st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=40)
def test_the_same_seed_delivers_the_same_and_has_one_hash(
    every: list[Agent], seed: int, concurrency: int, chance: Random
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        alone = Run(seed, folder, "alone").play(every, 1, Random(0))
        mixed = Run(seed, folder, "mixed").play(every, concurrency, chance)
        assert mixed.delivered == alone.delivered
        assert mixed.ledger == alone.ledger
        assert not difference(alone, mixed)


@given(every=several, seeds=st.tuples(st.integers(0, 2**16), st.integers(0, 2**16)))
@settings(deadline=None, max_examples=40)
def test_runs_that_delivered_something_else_differ_in_hash_and_diff(
    every: list[Agent], seeds: tuple[int, int]
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        one, other = (
            Run(seed, folder, f"run{at}").play(every, 4, Random(at)) for at, seed in enumerate(seeds)
        )
        if sorted(one.delivered.values()) == sorted(other.delivered.values()):
            assert not difference(one, other)
        else:
            assert one.ledger != other.ledger
            assert difference(one, other)


@given(every=several, seed=st.integers(0, 2**32), concurrency=st.integers(1, 32))
@settings(deadline=None, max_examples=40)
def test_every_changed_request_has_its_line_and_no_other_has(
    every: list[Agent], seed: int, concurrency: int
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        run = Run(seed, folder, "run").play(every, concurrency, Random(seed))
        for name, sent in run.sent.items():
            acted = [line for line in run.lines[name] if line.outcome in ACTED]
            assert bool(acted) == (run.delivered[name] != sent), (name, acted)


def test_something_is_at_stake() -> None:
    """The control: in some conversations a result is changed, in some a text, and in some nothing is."""
    loop = [Step("find it", "search", [Step("go on", "calc", [Step("why?")])]) for _ in range(40)]
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        run = Run(7, folder, "run").play([Agent("gpt-4o", "be brief", loop)], 8, Random(1))
        changed = [name for name, sent in run.sent.items() if run.delivered[name] != sent]
        outcomes = {(line.site, line.outcome) for lines in run.lines.values() for line in lines}
    assert 10 < len(changed) < len(run.sent) - 10
    assert outcomes >= {(site, outcome) for site in ("result", "request") for outcome in ACTED}


@pytest.mark.parametrize("again", [True, False])
def test_a_result_that_is_replaced_again_has_its_line(again: bool) -> None:
    """Without the line on what is changed again, a later request would be changed without a word."""
    step = Step("find it", "search", [Step("why?")] if again else [])
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for seed in range(50):
            run = Run(seed, folder, f"run{seed}").play([Agent("gpt-4o", "be brief", [step])], 1, Random(0))
            first = [line.outcome for line in run.lines[0, 0] if line.site == "result"]
            if "fired" in first:
                break
        later = [line.outcome for line in run.lines.get((0, 0, 0), ()) if line.site == "result"]
    assert "fired" in first
    assert later == (["reapplied"] if again else [])
