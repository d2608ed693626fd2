"""Unmodified agents on official SDKs, each in its own environment, calm and under every fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environments
import pytest
from harness import PYTHON_AGENTS, Run, execute
from table import CUT, FAULTS, RAISED, STATUS, TRIES

HERE = Path(__file__).parent
AGENTS = (*PYTHON_AGENTS, "node-openai", "node-anthropic")
BY_DAY = ("openai-3", "anthropic-2")
"""By day each fault meets the newest SDKs in Python."""
FAILURES_BY_DAY = {
    ("openai-3", "cut_stream"),
    ("openai-3", "reset"),
    ("anthropic-2", "rate_limit"),
    ("node-openai", "status"),
}
CALM = [
    one if one in (*BY_DAY, "node-openai") else pytest.param(one, marks=pytest.mark.nightly) for one in AGENTS
]
PYTHON = [one if one in BY_DAY else pytest.param(one, marks=pytest.mark.nightly) for one in AGENTS]
"""For what lies with the protocol: one SDK of each."""
ONE = [one if one == "openai-3" else pytest.param(one, marks=pytest.mark.nightly) for one in AGENTS]
"""For what lies with no SDK, only with the wire."""
WAYS = {"python": ("sync/whole", "sync/stream", "async/whole", "async/stream"), "node": ("whole", "stream")}


def provider(agent: str) -> str:
    return "anthropic" if "anthropic" in agent else "openai"


def ways(agent: str) -> tuple[str, ...]:
    return WAYS["node" if agent.startswith("node") else "python"]


def command(agent: str, *asked: str) -> list[str]:
    if agent.startswith("node"):
        return ["node", str(environments.node() / "agent.mjs"), provider(agent), *asked]
    return [str(environments.python(agent)), str(HERE / f"{provider(agent)}_agent.py"), *asked]


def streams(met: dict[str, Any]) -> dict[str, Any]:
    return {way: seen for way, seen in met.items() if "stream" in way}


def run(tmp_path: Path, agent: str, fault: str | None, *asked: str) -> Run:
    options = ["--fault", FAULTS[fault]] if fault else []
    done = execute(tmp_path, command(agent, *(asked or ways(agent))), "--mock", *options)
    assert done.code == 0, done.stderr
    fired_on = {f.fault for f in done.fired}
    assert fired_on == ({fault} if fault else set()), done.stderr
    return done


@pytest.mark.by_day("openai-3", "node-openai")
@pytest.mark.parametrize("agent", CALM)
def test_calm(agent: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, None, *ways(agent), "tools")
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert seen["text"], way
    assert done.met["tools"]["results"], "the agent called its tool"
    assert "42" in done.met["tools"]["text"], "the model read the tool's result"
    for exchange in done.exchanges:
        assert exchange.kind == "llm"
        assert exchange.ending == "complete"
        assert exchange.upstream == exchange.delivered
        if exchange.upstream and "stream" in str(exchange.request.body):
            assert len(exchange.upstream.chunks) >= 1


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        (agent, fault)
        if (agent, fault) in FAILURES_BY_DAY
        else pytest.param(agent, fault, marks=pytest.mark.nightly)
        for agent in AGENTS
        for fault in sorted(RAISED)
    ],
)
def test_failures_look_like_the_provider_s_own(agent: str, fault: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, fault)
    hit = streams(done.met) if fault == "cut_stream" else done.met
    for way, seen in hit.items():
        assert seen["error"] in RAISED[fault][agent], (way, seen)
        if fault in STATUS:
            assert seen["status"] == STATUS[fault]
    for way, seen in done.met.items():
        if way not in hit:
            assert "error" not in seen, (way, seen)
    tries = 1 if fault == "cut_stream" else TRIES
    assert len(done.fired) == tries * len(hit), "every attempt of every call met the fault, and no other"
    if fault == "cut_stream":
        for way, seen in hit.items():
            assert seen["events"] >= 1, way
            assert seen["finish"] is None


@pytest.mark.nightly
@pytest.mark.parametrize("agent", ONE)
def test_latency(agent: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, "latency")
    for way, seen in done.met.items():
        assert "error" not in seen
        assert seen["seconds"] >= 0.4, way
    assert len(done.fired) == len(done.met)


@pytest.mark.nightly
@pytest.mark.parametrize("agent", ONE)
def test_slow_tokens(agent: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, "slow_tokens")
    for way, seen in done.met.items():
        assert "error" not in seen
        if "stream" in way:
            assert seen["seconds"] >= 0.06 * (seen["events"] - 1), way
    assert len(done.fired) == len(streams(done.met))


@pytest.mark.nightly
@pytest.mark.parametrize("agent", PYTHON)
def test_truncate_response(agent: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, "truncate_response")
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert seen["finish"] == CUT[provider(agent)], way
        assert 1 <= len(seen["text"].split()) <= 4, seen["text"]
    assert len(done.fired) == len(done.met)


@pytest.mark.by_day("openai-3")
@pytest.mark.parametrize("agent", PYTHON)
def test_tool_error_reaches_the_model_and_stays(agent: str, tmp_path: Path) -> None:
    done = run(tmp_path, agent, "tool_error", "tools")
    seen = done.met["tools"]
    assert "error" not in seen
    assert seen["results"], "the tool itself ran and succeeded in the agent's process"
    assert "on fire" not in str(seen["results"])
    assert "on fire" in seen["text"], "the model answered from the replaced result"
    assert "42" not in seen["text"], "the model never saw the real one"
    assert len(done.fired) == 1
