"""Agents on frameworks above the SDKs, and on SDKs that not every run tries, calm and under faults."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import environments
import pytest
from harness import Run, execute
from table import FAULTS

HERE = Path(__file__).parent
WAYS = ("whole", "stream", "tools")


class Framework(NamedTuple):
    """Its environment, and what its user sees: of a 503, of a 429, of a stream that is cut."""

    lock: str
    protocol: str
    status: str
    rate_limit: str
    cut: str
    tries: int = 3


FRAMEWORKS = {
    "litellm": Framework(
        "litellm-1", "openai_chat", "ServiceUnavailableError", "RateLimitError", "MidStreamFallbackError"
    ),
    "litellm-anthropic": Framework(
        "litellm-1", "anthropic", "ServiceUnavailableError", "RateLimitError", "MidStreamFallbackError", 1
    ),
    "langchain-openai": Framework(
        "langchain-1", "openai_chat", "OpenAIAPIError", "OpenAIRateLimitError", "OpenAIConnectionError"
    ),
    "langchain-anthropic": Framework(
        "langchain-1",
        "anthropic",
        "AnthropicAPIError",
        "AnthropicRateLimitError",
        "RemoteProtocolError",
    ),
    "langgraph": Framework(
        "langchain-1", "openai_chat", "OpenAIAPIError", "OpenAIRateLimitError", "OpenAIConnectionError"
    ),
    "pydantic-ai": Framework(
        "pydantic-ai-2",
        "openai_chat",
        "ModelOverloadedError",
        "ModelRateLimitError",
        "ModelConnectionError",
    ),
    "openai-agents": Framework(
        "openai-agents-0",
        "openai_responses",
        "InternalServerError",
        "RateLimitError",
        "APIConnectionError",
    ),
    "ai-chat": Framework("node_ai", "openai_chat", "AI_RetryError", "AI_RetryError", "AI_APICallError"),
    "ai-responses": Framework(
        "node_ai", "openai_responses", "AI_RetryError", "AI_RetryError", "AI_APICallError"
    ),
    "@google/genai": Framework("node_genai", "gemini", "ApiError", "ApiError", "TypeError", 1),
}


def command(name: str) -> list[str]:
    lock = FRAMEWORKS[name].lock
    if lock.startswith("node"):
        api = [name.removeprefix("ai-")] if name.startswith("ai-") else []
        return ["node", str(environments.node(lock) / "agent.mjs"), *api]
    return [str(environments.python(lock)), str(HERE / "framework_agent.py"), name]


def run(tmp_path: Path, name: str, fault: str | None, *ways: str) -> Run:
    options = ["--fault", FAULTS[fault]] if fault else []
    done = execute(tmp_path, [*command(name), *(ways or WAYS)], "--mock", *options)
    assert done.code == 0, done.stderr
    assert done.met, done.stderr
    return done


@pytest.mark.nightly
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_calm(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, name, None)
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert seen["text"], way
    assert done.met["tools"]["results"] == ["42"]
    assert "42" in done.met["tools"]["text"]
    told = [exchange for exchange in done.exchanges if exchange.kind == "llm"]
    assert {exchange.protocol for exchange in told} == {FRAMEWORKS[name].protocol}
    assert all(exchange.ending == "complete" for exchange in told)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["status", "rate_limit", "cut_stream", "tool_error"])
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_failures_reach_the_program(name: str, fault: str, tmp_path: Path) -> None:
    framework = FRAMEWORKS[name]
    if fault == "tool_error":
        seen = run(tmp_path, name, fault, "tools").met["tools"]
        assert seen["results"] == ["42"], "the tool itself ran in the agent's process"
        assert "on fire" in seen["text"], "the model answered from the replaced result"
        return
    done = run(tmp_path, name, fault, "whole", "stream")
    raised = {way: seen.get("error") for way, seen in done.met.items()}
    if fault == "cut_stream":
        assert raised["whole"] is None
        assert raised["stream"] == framework.cut, done.met
        assert len(done.fired) == 1
    else:
        wanted = framework.status if fault == "status" else framework.rate_limit
        assert set(raised.values()) == {wanted}, done.met
        assert len(done.fired) == 2 * framework.tries, "every attempt met the fault, and nothing else did"
