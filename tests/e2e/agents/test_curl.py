"""curl: bytes and exit codes without any SDK in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness import Run, curl, execute

NIGHTLY = pytest.mark.nightly
URL = "https://api.openai.com/v1/chat/completions"
BODY = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Tell me about rivers."}]}
PARTIAL, RESET, HTTP2_STREAM = 18, 56, 92
"""Exit codes of curl. Over HTTP/2 a broken answer ends its stream, not the connection (RFC 9113 §5.4.2)."""


def command(*, stream: bool = False) -> list[str]:
    body = json.dumps(BODY | ({"stream": True} if stream else {}))
    return [
        curl(), "--silent", "--show-error", "--max-time", "30", "--write-out", "\n%{http_code}",
        "-H", "content-type: application/json", "-H", "authorization: Bearer sk-test-key-of-nobody",
        "-d", body, URL,
    ]  # fmt: skip


def run(work: Path, *options: str, stream: bool = False, http: str = "--http2") -> Run:
    program, *rest = command(stream=stream)
    return execute(work, [program, http, *rest], "--mock", *options)


def test_calm_delivers_what_upstream_said(tmp_path: Path) -> None:
    for stream in (False, True):
        done = run(tmp_path, stream=stream)
        body, _, status = done.stdout.rpartition("\n")
        assert (done.code, status) == (0, "200")
        (exchange,) = done.exchanges
        assert exchange.upstream is not None
        assert exchange.upstream.body.decode() == body


@pytest.mark.by_day("cut_stream")
@pytest.mark.parametrize(
    ("fault", "stream", "codes", "status"),
    [
        pytest.param("latency: {ms: 200}", False, {0}, "200", marks=NIGHTLY),
        pytest.param("status: {code: 503}", False, {0}, "503", marks=NIGHTLY),
        pytest.param("rate_limit: {retry_after_s: 1}", False, {0}, "429", marks=NIGHTLY),
        ("reset: {at: before_headers}", False, {HTTP2_STREAM}, "000"),
        ("cut_stream: {after_events: 2}", True, {HTTP2_STREAM}, "200"),
        pytest.param("slow_tokens: {ms: 10}", True, {0}, "200", marks=NIGHTLY),
        pytest.param("truncate_response: {max_tokens: 2}", False, {0}, "200", marks=NIGHTLY),
        pytest.param("truncate_response: {max_tokens: 2}", True, {0}, "200", marks=NIGHTLY),
    ],
)
def test_under_a_fault(fault: str, stream: bool, codes: set[int], status: str, tmp_path: Path) -> None:
    done = run(tmp_path, "--fault", fault, stream=stream)
    assert done.code in codes, done.stderr
    assert done.stdout.rpartition("\n")[2] == status
    assert [f.fault for f in done.fired] == [fault.split(":")[0]]
    if "cut_stream" in fault:
        assert "[DONE]" not in done.stdout
        assert done.stdout.count("data: ") == 2


@pytest.mark.parametrize(
    ("fault", "stream", "codes"),
    [
        ("reset: {at: before_headers}", False, {RESET}),
        ("cut_stream: {after_events: 2}", True, {PARTIAL, RESET}),
    ],
)
def test_a_client_that_offers_only_http_1_1_loses_its_connection(
    fault: str, stream: bool, codes: set[int], tmp_path: Path
) -> None:
    done = run(tmp_path, "--fault", fault, stream=stream, http="--http1.1")
    assert done.code in codes, done.stderr
    assert [f.fault for f in done.fired] == [fault.split(":")[0]]


@pytest.mark.nightly
def test_a_tool_result_is_replaced_in_the_request(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "What is 6*7?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "calc", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "42"},
    ]  # fmt: skip
    call = command()
    call[call.index("-d") + 1] = json.dumps(BODY | {"messages": history})
    done = execute(tmp_path, call, "--mock", "--fault", "tool_error: {message: out of order}")
    assert "out of order" in done.stdout
    assert [(f.fault, f.subject) for f in done.fired] == [("tool_error", "calc")]
