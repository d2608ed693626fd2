"""Agents on the other providers' official SDKs, each in its own environment, calm and under faults."""

from __future__ import annotations

from pathlib import Path

import environments
import pytest
from harness import Run, execute
from provider_table import SDKS
from table import FAULTS, STATUS

from faultwire import wire

AGENT = Path(__file__).parent / "provider_agent.py"
WAYS = ("whole", "stream")
ALL = tuple(SDKS)


def run(tmp_path: Path, name: str, fault: str | None, *ways: str) -> Run:
    command = [str(environments.python(SDKS[name].lock)), str(AGENT), name, *(ways or WAYS)]
    options = ["--fault", FAULTS[fault]] if fault else []
    done = execute(tmp_path, command, "--mock", *options)
    assert done.code == 0, done.stderr
    assert done.met, done.stderr
    return done


@pytest.mark.by_day("openai-responses", "google-genai")
@pytest.mark.parametrize("name", ALL)
def test_calm(name: str, tmp_path: Path) -> None:
    done, sdk = run(tmp_path, name, None, *WAYS, "tools"), SDKS[name]
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert seen["text"], way
    assert [done.met[way]["finish"] for way in WAYS] == [sdk.finish] * 2
    assert done.met["stream"]["events"] > 3, "words came one by one"
    assert done.met["tools"]["results"] == ["42"], "the agent called its tool"
    assert "42" in done.met["tools"]["text"], "the model read the tool's result"
    for exchange in done.exchanges[:2]:
        assert (exchange.kind, exchange.protocol, exchange.provider) == ("llm", sdk.protocol, sdk.provider)
        assert exchange.ending == "complete"
        assert exchange.upstream == exchange.delivered
        told = wire.transcript_of(exchange)
        assert told is not None
        assert told.request
        assert told.answer
        assert told.answer.text == done.met[WAYS[exchange.number - 1]]["text"]
        assert told.answer.usage
        assert told.request.stream is (exchange.number == 2 or name == "ollama") or name == "ollama"


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["status", "rate_limit", "reset", "cut_stream"])
@pytest.mark.parametrize("name", ALL)
def test_failures_look_like_the_provider_s_own(name: str, fault: str, tmp_path: Path) -> None:
    done, sdk = run(tmp_path, name, fault), SDKS[name]
    raised = {
        "status": {sdk.status},
        "rate_limit": {sdk.rate_limit},
        "reset": sdk.reset,
        "cut_stream": sdk.cut,
    }[fault]
    hit = ("stream",) if fault == "cut_stream" else WAYS
    for way, seen in done.met.items():
        assert (seen.get("error") in raised) if way in hit else ("error" not in seen), (way, seen)
        if fault in STATUS:
            assert seen["status"] == STATUS[fault]
    tries = {"reset": 2 * sdk.reset_tries, "cut_stream": 1}.get(fault, sum(sdk.tries))
    assert len(done.fired) == tries, "every attempt met the fault, and nothing else did"
    if fault == "cut_stream":
        assert done.met["stream"]["events"] == 3
        assert done.met["stream"]["finish"] is None


@pytest.mark.nightly
@pytest.mark.parametrize("name", ALL)
def test_truncate_response(name: str, tmp_path: Path) -> None:
    done, sdk = run(tmp_path, name, "truncate_response"), SDKS[name]
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert (seen["finish"], seen["text"]) == (sdk.finish_cut, "I am a"), way
    assert len(done.fired) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["latency", "slow_tokens"])
@pytest.mark.parametrize("name", ALL)
def test_slowness_changes_no_word(name: str, fault: str, tmp_path: Path) -> None:
    done = run(tmp_path, name, fault)
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert seen["text"].endswith(f"({way}).")
    assert len(done.fired) == (2 if fault == "latency" else 1)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ALL)
def test_tool_error_reaches_the_model_or_the_ledger_states_why_not(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, name, "tool_error", "tools")
    seen = done.met["tools"]
    assert "error" not in seen
    assert seen["results"] == ["42"], "the tool itself ran in the agent's process"
    for exchange in done.exchanges:
        assert exchange.upstream
        assert exchange.delivered
        assert exchange.upstream.body == exchange.delivered.body, "answers were listened to, not touched"
        assert exchange.upstream.headers == exchange.delivered.headers
    if SDKS[name].signed:
        assert "42" in seen["text"]
        (line,) = [line for e in done.exchanges for line in e.faults]
        assert (line.outcome, "signed" in line.reason) == ("inapplicable", True)
        assert done.fired == ()
    else:
        assert "on fire" in seen["text"], "the model answered from the replaced result"
        assert "42" not in seen["text"]
        assert len(done.fired) == 1


@pytest.mark.nightly
def test_with_a_bearer_token_bedrock_s_requests_can_be_changed(tmp_path: Path) -> None:
    command = [str(environments.python("boto3-1")), str(AGENT), "bedrock", "tools"]
    fault = ["--fault", FAULTS["tool_error"]]
    done = execute(tmp_path, command, "--mock", *fault, keys={"AWS_BEARER_TOKEN_BEDROCK": "token-of-nobody"})
    assert "on fire" in done.met["tools"]["text"], done.stderr
    assert len(done.fired) == 1
