"""google-generativeai over gRPC and REST, calm and under faults: the same faults, each in its own shape."""

from __future__ import annotations

from pathlib import Path

import environments
import pytest
from harness import Run, execute

from faultwire import wire

AGENT = Path(__file__).parent / "generativeai_agent.py"
PROTOCOL = {"grpc": "gemini_grpc", "rest": "gemini"}


def run(tmp_path: Path, transport: str, fault: str | None, *ways: str) -> Run:
    command = [str(environments.python("google-generativeai-0")), str(AGENT), transport, *ways]
    done = execute(tmp_path, command, "--mock", *(["--fault", fault] if fault else []))
    assert done.code == 0, done.stderr
    assert done.met, done.stderr
    return done


@pytest.mark.nightly
@pytest.mark.parametrize("transport", ["grpc", "rest"])
def test_calm(transport: str, tmp_path: Path) -> None:
    done = run(tmp_path, transport, None)
    assert [seen.get("error") for seen in done.met.values()] == [None] * 3, done.met
    assert [done.met[way]["finish"] for way in ("whole", "stream")] == ["STOP"] * 2
    assert done.met["stream"]["events"] > 3, "words came one by one"
    assert done.met["stream"]["text"].endswith("(stream).")
    assert done.met["tools"]["results"] == ["42"]
    assert "42" in done.met["tools"]["text"]
    assert [exchange.protocol for exchange in done.exchanges] == [PROTOCOL[transport]] * 4
    for exchange in done.exchanges:
        assert (exchange.kind, exchange.provider, exchange.ending) == ("llm", "google", "complete")
        told = wire.transcript_of(exchange)
        assert told is not None
        assert told.request is not None
        assert told.request.model == "gemini-2.5-flash"
    answers = [wire.transcript_of(exchange) for exchange in done.exchanges[:2]]
    texts = [told.answer.text for told in answers if told is not None and told.answer is not None]
    assert texts == [done.met["whole"]["text"], done.met["stream"]["text"]]


def test_an_error_inside_a_stream_is_in_the_trailers(tmp_path: Path) -> None:
    seen = run(tmp_path, "grpc", "stream_error: {after_events: 2}", "stream").met["stream"]
    assert (seen["error"], seen["code"], seen["events"]) == ("ServiceUnavailable", 503, 2)
    assert seen["message"] == "503 The model is overloaded. Please try again later."


RAISED = {
    # fault: what the user of each transport sees, whole and streamed
    "status: {code: 400}": {
        "grpc": ("InvalidArgument", "InvalidArgument"),
        "rest": ("BadRequest", "BadRequest"),
    },
    "status: {code: 403, call_upstream: true}": {
        "grpc": ("PermissionDenied", "PermissionDenied"),
        "rest": ("Forbidden", "Forbidden"),
    },
    "auth_error: {}": {
        "grpc": ("Unauthenticated", "Unauthenticated"),
        "rest": ("Unauthorized", "Unauthorized"),
    },
    "rate_limit: {retry_after_s: 1}": {
        "grpc": ("ResourceExhausted", "ResourceExhausted"),
        "rest": ("TooManyRequests", "TooManyRequests"),
    },
    "context_length: {}": {
        "grpc": ("InvalidArgument", "InvalidArgument"),
        "rest": ("BadRequest", "BadRequest"),
    },
    "cut_stream: {after_events: 3}": {
        "grpc": (None, "InternalServerError"),
        "rest": (None, "ChunkedEncodingError"),
    },
    "early_end: {}": {"grpc": (None, "Unknown"), "rest": (None, None)},
}


@pytest.mark.nightly
@pytest.mark.parametrize("transport", PROTOCOL)
@pytest.mark.parametrize("fault", RAISED)
def test_failures_look_like_google_s_own(fault: str, transport: str, tmp_path: Path) -> None:
    done = run(tmp_path, transport, fault, "whole", "stream")
    seen = (done.met["whole"].get("error"), done.met["stream"].get("error"))
    assert seen == RAISED[fault][transport], done.met
    # Over REST google-auth takes a 401 for a stale token, and tries twice more.
    tries = 3 if (fault, transport) == ("auth_error: {}", "rest") else 1
    assert len(done.fired) == (1 if seen[0] is None else 2 * tries)
    if transport == "grpc" and seen[0] is not None:
        assert all(
            "gRPC status" in (line.effect or "") or "429" in (line.effect or "") for line in done.fired
        )


@pytest.mark.nightly
@pytest.mark.parametrize("transport", PROTOCOL)
def test_an_overloaded_model_is_asked_again_without_a_word(transport: str, tmp_path: Path) -> None:
    done = run(tmp_path, transport, "{overloaded: {}, trigger: {attempts: 2}}", "whole")
    assert "error" not in done.met["whole"], "the SDK tried again by itself, for ten minutes if need be"
    assert [line.attempt for line in done.fired] == [0, 1]
    assert len(done.exchanges) == 3


@pytest.mark.nightly
@pytest.mark.parametrize("transport", PROTOCOL)
def test_answers_and_results_are_changed(transport: str, tmp_path: Path) -> None:
    cut = run(tmp_path, transport, "truncate_response: {max_tokens: 3}", "whole", "stream")
    for seen in cut.met.values():
        assert (seen["text"], seen["finish"]) == ("I am a", "MAX_TOKENS")
    done = run(tmp_path, transport, "tool_error: {message: the calculator is on fire}", "tools")
    assert done.met["tools"]["results"] == ["42"], "the tool itself ran in the agent's process"
    assert "on fire" in done.met["tools"]["text"]
    assert len(done.fired) == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    "fault", ["drop_event: {at: 3}", "duplicate_event: {at: 3}", "slow_tokens: {ms: 20}"]
)
def test_frames_are_events(fault: str, tmp_path: Path) -> None:
    words = run(tmp_path, "grpc", None, "stream").met["stream"]
    done = run(tmp_path, "grpc", fault, "stream")
    seen = done.met["stream"]
    more = {"drop_event": -1, "duplicate_event": 1}.get(fault.partition(":")[0], 0)
    assert seen["events"] == words["events"] + more
    assert ("error" in seen, len(done.fired)) == (False, 1)
