"""No check crashes on what peers may send: broken bodies, odd statuses, lies about encodings."""

import pytest

from faultwire.checks._registry import BUILTIN, read
from faultwire.events import Delivery

NEEDED = {
    "contains": {"value": "x"}, "contains_any": {"values": ["x"]}, "regex": {"pattern": "x"},
    "excludes_pattern": {"patterns": ["x"]}, "latency": {"max_ms": 9},
    "json_schema": {"schema": {"const": 1}},
    "similarity": {"expected": "x"}, "tool_called": {"tool": "x"}, "tool_not_called": {"tool": "x"},
    "tool_sequence": {"tools": ["x"]}, "tool_arguments": {"tool": "search", "schema": {"const": 1}},
    "no_request_to": {"hosts": ["x/*"]}, "only_hosts": {"hosts": ["x/*"]}, "max_llm_calls": {"max": 1},
    "max_tokens": {"max": 1}, "max_cost": {"max_usd": 1}, "max_duration": {"max_s": 1},
    "recovers_within": {"max_s": 1}, "sometimes": {"check": {"type": "valid_history"}},
    "behavior_unchanged": {"baseline": "x"},
    "at_most_once": {"step": {"tool": "search"}, "same": ["q"]},
    "eventually": {"after": {"tool": "search"}, "then": [{"tool": "refund"}]},
    "only_agent_may_call": {"tool": "search", "agent": "a", "instructions": "You*"},
    "session_isolated": {"pattern": "[a-z]+"},
    "information_flow": {"canaries": ["city 1 of"], "may_learn": {"a": {"instructions": "You*"}}},
}  # fmt: skip
BODIES = (
    b"",
    b"\xff\xfe",
    b"null",
    b"[" * 3000,
    b'{"messages": null, "model": 7}',
    b'{"messages": [1, {}, [], null]}',
    b'{"messages": [{"role": "tool", "tool_call_id": null, "content": {"a": 1}}], "tools": 3}',
    b'{"messages": [{"role": "assistant", "tool_calls": [{"id": 3, "function": {"name": []}}]}]}',
    b'{"choices": [{"message": {"tool_calls": "x"}, "finish_reason": 3}], "usage": {"prompt_tokens": -1e99}}',
    b'data: {"choices": [{}]}\n\ndata: [DONE',
    b'{"choices": [], "usage": {"prompt_tokens": "many"}, "model": {}}',
)
KINDS = ("application/json", "text/event-stream", "text/html; charset=\u00ff", "")
ANSWERS = ("\ud800", "\x00\x1b[2J\u202e", "", "9" * 5000)


@pytest.fixture(scope="module")
def checks():
    return [read({"type": check.name} | NEEDED.get(check.name, {})) for check in BUILTIN]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_verdict_whatever_is_sent(checks, verdict, wire, kind, body):
    told = Delivery(
        200, "", (("content-type", kind), ("content-encoding", "gzip"), ("retry-after", "\u00b2")), body
    )
    plain = Delivery(429, "", (("content-type", kind), ("retry-after", "\u00b2")), body)
    asked = type(wire.talk(1).request)(
        "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body
    )
    exchanges = [
        wire.talk(1, request=asked, delivered=told),
        wire.talk(2, request=asked, delivered=plain, ending="cut"),
        wire.talk(3, delivered=None, upstream=None, ending="refused"),
        wire.used(
            4, delivered=told, ending="client_aborted", protocol="mcp", faults=(wire.line("tool_malicious"),)
        ),
        wire.used(5, request=asked, upstream=plain, started_ms=-5, duration_ms=-1.0),
    ]
    for check in checks:
        for answer in ANSWERS:
            found = verdict(check, exchanges, answer)
            assert "crashed" not in found.explanation, (check.name, found)
            assert "\n" not in found.explanation
