"""Every built-in fault, through a running engine: a plain client meets it, and the tape says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.faults._registry import BUILTIN
from faultwire.mitm.engine.client import Engine

PATH = "/v1/chat/completions"
STREAM = (Path(__file__).parents[2] / "data" / "golden_streams" / "openai_chat.sse").read_bytes()
USAGE = {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10}
FUNCTION = {"name": "get_weather", "arguments": '{"city": "Paris", "days": 5}'}
CALL = {"id": "call_0123456789ab", "type": "function", "function": FUNCTION}


def answer(text: str, *calls: Any) -> bytes:
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": USAGE}).encode()


TALK = [{"role": "user", "content": "find 42 things"}]
RESULT = '{"hits": 42, "first": "Paris", "all": ["Paris", "Rome"]}'
WITH_RESULT = [
    *TALK,
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": CALL["id"], "content": RESULT},
]

WHOLE, STREAMED, REQUEST, TWICE = "whole", "streamed", "request", "twice"

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "latency": (WHOLE, {"ms": 20}),
    "hang": (WHOLE, {"for_ms": 20}),
    "refuse": (WHOLE, {}),
    "reset": (WHOLE, {}),
    "close": (WHOLE, {"at": {"after_bytes": 5}}),
    "bandwidth": (WHOLE, {"bytes_per_s": 20_000}),
    "slow_close": (STREAMED, {"ms": 20}),
    "status": (WHOLE, {"code": 503}),
    "rate_limit": (WHOLE, {}),
    "overloaded": (WHOLE, {}),
    "auth_error": (WHOLE, {}),
    "quota_exceeded": (WHOLE, {}),
    "context_length": (WHOLE, {}),
    "content_filter": (WHOLE, {"stops": "answer"}),
    "empty_body": (WHOLE, {}),
    "truncate_body": (WHOLE, {"fraction": 0.5, "content_length": "kept"}),
    "malformed_body": (WHOLE, {}),
    "garbage_body": (WHOLE, {}),
    "wrong_content_type": (WHOLE, {}),
    "corrupt_encoding": (WHOLE, {}),
    "stale_response": (TWICE, {}),
    "timeout_after_commit": (WHOLE, {}),
    "truncate_response": (STREAMED, {"max_tokens": 2}),
    "empty_response": (STREAMED, {}),
    "refusal": (WHOLE, {}),
    "garbage": (STREAMED, {}),
    "wrong_finish_reason": (STREAMED, {}),
    "missing_usage": (STREAMED, {}),
    "drift": (WHOLE, {"type": "tone_shift"}),
    "wrong_values": (WHOLE, {}),
    "unknown_tool_call": (STREAMED, {}),
    "malformed_tool_arguments": (STREAMED, {}),
    "wrong_tool_arguments": (WHOLE, {}),
    "duplicate_tool_call": (STREAMED, {}),
    "dropped_tool_call": (STREAMED, {}),
    "model_answer": (WHOLE, {"body": '{"choices": []}'}),
    "slow_first_token": (STREAMED, {"ms": 20}),
    "slow_tokens": (STREAMED, {"ms": 5}),
    "stall": (STREAMED, {"after_events": 1, "for_ms": 20}),
    "cut_stream": (STREAMED, {"inside": "tool_arguments"}),
    "early_end": (STREAMED, {}),
    "stream_error": (STREAMED, {}),
    "malformed_event": (STREAMED, {"at": 2}),
    "drop_event": (STREAMED, {"at": 2}),
    "duplicate_event": (STREAMED, {"at": 2}),
    "reorder_events": (STREAMED, {"at": 2}),
    "split_events": (STREAMED, {"piece_bytes": 3}),
    "tool_error": (REQUEST, {}),
    "tool_timeout": (REQUEST, {"wait_ms": 20}),
    "tool_slow": (REQUEST, {"ms": 20}),
    "tool_empty": (REQUEST, {}),
    "tool_malformed": (REQUEST, {}),
    "tool_malicious": (REQUEST, {}),
    "tool_wrong_values": (REQUEST, {}),
    "tool_stale": (REQUEST, {}),
    "tool_schema_drift": (REQUEST, {}),
    "tool_no_op": (REQUEST, {}),
    "recorded_response": (REQUEST, {"responses": [{"response": "recorded"}]}),
    "tool_partial": (REQUEST, {}),
    "tool_wrong_units": (REQUEST, {}),
    "indirect_injection": (REQUEST, {}),
    "rag_poison": (REQUEST, {"match": "42"}),
    "memory_poisoning": (REQUEST, {}),
    "injection_via_context": (REQUEST, {}),
    "conflicting_context": (REQUEST, {}),
    "overflow": (REQUEST, {"inject_tokens": 50}),
    "replace": (REQUEST, {"find": "Paris", "payload": "obey"}),
    "replace_in_context": (REQUEST, {"find": "42 things", "payload": "obey"}),
    "history_truncated": (REQUEST, {}),
    "history_reordered": (REQUEST, {}),
}
ONLY_TIME = {
    "latency", "bandwidth", "slow_close", "slow_first_token", "slow_tokens", "stall", "split_events",
    "tool_slow",
}  # fmt: skip
"""What arrives is the same; only when and in which pieces differs."""
NEEDS_NEW_WORDS = {"injection_via_context", "conflicting_context"}
"""They add to what the user has just said."""


LONGER = {"history_truncated", "history_reordered"}
"""They leave older turns out, or move them."""
ELSEWHERE = (
    "conversation_",
    "mcp_",
    "agent_",
    "message_",
    "websocket_",
    "tls_",
    "dns_",
    "goaway",
    "rst_",
    "stall_window",
)
"""Families that need another kind of peer than a plain HTTP server or client."""


def test_every_fault_has_its_row() -> None:
    names = {fault.name for fault in BUILTIN if not fault.name.startswith(ELSEWHERE)}
    assert names == set(ROWS)


def said(word: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": word}, {"role": "assistant", "content": f"{word}!"}]


def serve(upstream: Any, tools: Any) -> None:
    def reply(asked: Any, connection: Any) -> None:
        if json.loads(asked.body)["stream"]:
            connection.sendall(tools.sse_head() + tools.chunk(STREAM) + b"0\r\n\r\n")
            return
        body = answer(f"I am sure: {len(upstream.asked)} of 120.", CALL)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        connection.sendall(head + body)

    upstream.handlers[PATH] = reply


def meet(
    tools: Any, engine: Engine, upstream: Any, name: str, trigger: dict[str, Any]
) -> tuple[Any, bytes, dict[str, int]]:
    """What a client saw of its last call, what upstream was asked last, and which faults fired."""
    way, settings = ROWS[name]
    entry = {"id": name, "fault": {"name": name, "settings": settings}, "trigger": trigger}
    session = engine.open_session(tools.fresh(name), tools.profile(entry), 1)
    upstream.asked.clear()
    serve(upstream, tools)
    seen: Any = None
    with_words = name in NEEDS_NEW_WORDS
    messages = WITH_RESULT if way == REQUEST and not with_words else TALK
    if name in LONGER:
        messages = [*(one for word in "ab" for one in said(word)), *TALK]
    if name == "tool_stale":
        older = {**CALL, "id": "call_older"}
        result = {"role": "tool", "tool_call_id": "call_older", "content": "none"}
        messages = [*TALK, {"role": "assistant", "tool_calls": [older, CALL]}, result, WITH_RESULT[2]]
    body = json.dumps({"model": "m", "stream": way == STREAMED, "messages": messages}).encode()
    for _ in range(2 if way == TWICE else 1):
        with tools.Client(engine, f"localhost:{upstream.port}", session=session) as client:
            client.post(PATH, body)
            try:
                seen = client.response()
            except (EOFError, OSError) as error:
                seen = type(error)
    summary = engine.close_session(session.name)
    assert summary.voids == ()
    return seen, upstream.asked[-1].body if upstream.asked else b"", dict(summary.fired)


@pytest.mark.parametrize("name", ROWS)
def test_a_client_gets_it_and_the_tape_records_it(
    tools: Any, engine: Engine, upstream: Any, name: str
) -> None:
    way, _ = ROWS[name]
    seen, asked, fired = meet(tools, engine, upstream, name, {})
    calm, unchanged, none = meet(tools, engine, upstream, name, {"probability": 0.0})
    assert none == {}, "a fault that is never due does not fire"
    assert name in fired
    if isinstance(seen, tuple) and isinstance(calm, tuple):
        seen, calm = told(seen), told(calm)
    if name in ONLY_TIME:
        assert (seen, asked) == (calm, unchanged)
    elif way == REQUEST:
        assert asked != unchanged
        assert json.loads(asked).keys() == json.loads(unchanged).keys()
        assert seen == calm
    else:
        assert seen != calm


def told(seen: tuple[int, dict[str, str], bytes]) -> tuple[int, str | None, str | None, bytes]:
    status, headers, body = seen
    return status, headers.get("content-type"), headers.get("content-encoding"), body
