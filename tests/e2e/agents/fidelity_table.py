"""What is injected into the SDKs of OpenAI and Anthropic for `docs/reference/fidelity.md`, and what they
show where a provider really fails so.

`REAL` is what they were seen to raise for servers that fail by themselves, without any proxy; what they
raise for the status that the provider documents; and an answer where nothing fails. A fault that is not in
it has no failure of a provider's to be held against.
"""

from __future__ import annotations

PY3, PY2, NODE = "openai 3 (Python)", "openai 2 (Python)", "openai 6 (Node)"
AN2, AN0, AN_NODE = "anthropic 2 (Python)", "anthropic 0 (Python)", "@anthropic-ai/sdk 1 (Node)"
OPENAI, ANTHROPIC = (PY3, PY2, NODE), (AN2, AN0, AN_NODE)
SDKS = (*OPENAI, *ANTHROPIC)
SAYS = {
    PY3: "OpenAI/Python 3.",
    PY2: "OpenAI/Python 2.",
    NODE: "OpenAI/JS 6.",
    AN2: "Anthropic/Python 2.",
    AN0: "Anthropic/Python 0.",
    AN_NODE: "Anthropic/JS 1.",
}
"""How each begins its `user-agent`."""

FAULTS = {
    "latency": "{ms: 20}",
    "hang": "{for_ms: 50}",
    "refuse": "{}",
    "reset": "{at: before_headers}",
    "close": "{at: before_headers}",
    "tls_failure": "{reason: untrusted}",
    "dns_failure": "{}",
    "bandwidth": "{bytes_per_s: 20000}",
    "slow_close": "{ms: 20}",
    "status": "{code: 503}",
    "rate_limit": "{retry_after_s: 0.1}",
    "overloaded": "{}",
    "auth_error": "{}",
    "quota_exceeded": "{}",
    "context_length": "{}",
    "content_filter": "{}",
    "empty_body": "{}",
    "truncate_body": "{fraction: 0.5, content_length: kept}",
    "malformed_body": "{}",
    "garbage_body": "{}",
    "wrong_content_type": "{}",
    "corrupt_encoding": "{}",
    "timeout_after_commit": "{}",
    "truncate_response": "{max_tokens: 2}",
    "empty_response": "{}",
    "refusal": "{}",
    "garbage": "{}",
    "wrong_finish_reason": "{}",
    "missing_usage": "{}",
    "drift": "{type: tone_shift}",
    "slow_first_token": "{ms: 20}",
    "slow_tokens": "{ms: 5}",
    "stall": "{after_events: 1, for_ms: 20}",
    "cut_stream": "{after_events: 3}",
    "early_end": "{}",
    "stream_error": "{after_events: 2}",
    "malformed_event": "{at: 2}",
    "drop_event": "{at: 2}",
    "duplicate_event": "{at: 2}",
    "reorder_events": "{at: 2}",
    "split_events": "{piece_bytes: 3}",
}
"""Faults of an answer, with their settings: a whole call and a stream meet each."""

IN_A_LOOP = {
    "stale_response": "{}",
    "wrong_values": "{}",
    "unknown_tool_call": "{}",
    "malformed_tool_arguments": "{}",
    "wrong_tool_arguments": "{}",
    "duplicate_tool_call": "{}",
    "dropped_tool_call": "{}",
}
"""Faults that need a tool call, a number or an earlier answer: a tool loop of two calls meets each."""

ELSEWHERE = frozenset(("goaway", "model_answer", "rst_stream", "stall_window", "websocket_close"))
"""Faults of answers that no plain HTTP/1.1 call meets, and one whose answer is what the user writes."""
FAMILIES = frozenset(("connection", "model", "response", "stream"))
"""The folders of faults of answers. Those of tools, MCP, agents, conversations and attacks change what a
model reads."""


def _all(name: str) -> dict[str, str]:
    return dict.fromkeys(SDKS, name)


_CONNECTION = _all("APIConnectionError")
_PYTHON = (PY3, PY2, AN2, AN0)
_NODE = (NODE, AN_NODE)
_503 = dict.fromkeys(OPENAI, "InternalServerError") | {
    AN2: "ServiceUnavailableError",
    AN0: "InternalServerError",
    AN_NODE: "ServiceUnavailableError",
}
_529 = dict.fromkeys(OPENAI, "InternalServerError") | {AN2: "OverloadedError", AN_NODE: "OverloadedError"}
_504 = dict.fromkeys(OPENAI, "InternalServerError") | {
    AN2: "GatewayTimeoutError",
    AN0: "InternalServerError",
    AN_NODE: "GatewayTimeoutError",
}
_BAD_JSON = dict.fromkeys(_PYTHON, "JSONDecodeError") | dict.fromkeys(_NODE, "SyntaxError")
_ANSWER = _all("an answer")

Real = tuple[dict[str, str], dict[str, str]]
"""By SDK: what a whole call and what a stream shows."""

REAL: dict[str, Real] = {
    **dict.fromkeys(("latency", "bandwidth", "slow_close"), (_ANSWER, _ANSWER)),
    **dict.fromkeys(("slow_first_token", "slow_tokens", "stall", "split_events"), ({}, _ANSWER)),
    **dict.fromkeys(
        ("hang", "refuse", "reset", "close", "tls_failure", "dns_failure"), (_CONNECTION, _CONNECTION)
    ),
    "status": (_503, _503),
    "rate_limit": (_all("RateLimitError"), _all("RateLimitError")),
    "overloaded": (_529, _529),
    "auth_error": (_all("AuthenticationError"), _all("AuthenticationError")),
    "quota_exceeded": (
        dict.fromkeys(OPENAI, "RateLimitError") | dict.fromkeys(ANTHROPIC, "BadRequestError"),
        dict.fromkeys(OPENAI, "RateLimitError") | dict.fromkeys(ANTHROPIC, "BadRequestError"),
    ),
    "context_length": (_all("BadRequestError"), _all("BadRequestError")),
    "content_filter": (
        dict.fromkeys(OPENAI, "BadRequestError") | dict.fromkeys(ANTHROPIC, "finish `refusal`"),
        dict.fromkeys(OPENAI, "BadRequestError") | dict.fromkeys(ANTHROPIC, "finish `refusal`"),
    ),
    "timeout_after_commit": (_504, _504),
    "truncate_body": (
        dict.fromkeys(_PYTHON, "APIConnectionError") | dict.fromkeys(_NODE, "TypeError"),
        {},
    ),
    "malformed_body": (_BAD_JSON, {}),
    "garbage_body": (dict.fromkeys(_PYTHON, "UnicodeDecodeError"), {}),
    "empty_response": (_all("no text"), _all("no text")),
    "truncate_response": (
        dict.fromkeys(OPENAI, "finish `length`") | dict.fromkeys(ANTHROPIC, "finish `max_tokens`"),
        dict.fromkeys(OPENAI, "finish `length`") | dict.fromkeys(ANTHROPIC, "finish `max_tokens`"),
    ),
    "cut_stream": (
        {},
        dict.fromkeys((PY2, AN2, AN0), "RemoteProtocolError")
        | dict.fromkeys(_NODE, "TypeError")
        | {PY3: "APIConnectionError"},
    ),
    "early_end": ({}, _ANSWER),
    "stream_error": (
        {},
        dict.fromkeys((*OPENAI, AN_NODE), "APIError") | dict.fromkeys((AN2, AN0), "APIStatusError"),
    ),
    "malformed_event": ({}, _BAD_JSON),
}

WHY: dict[str, str] = {
    "content_filter": "Anthropic's API refuses no prompt with an error: its filter ends an answer with "
    "`refusal`, as `content_filter: {stops: answer}` does. What is injected here is `stops: prompt`, the 400 "
    "that filters in front of a model give.",
}
"""Why a fault shows something else than the real failure, where it does."""

OWN: dict[str, str] = {
    "tls_failure, dns_failure": "The tunnel never opens: there is no request to count attempts of.",
    "early_end": "No SDK notices: a stream without its last events is an answer without a reason to stop.",
    "empty_body": "A stream without any event is an empty answer to every SDK.",
    "missing_usage": "OpenAI's streams count nothing unless they are asked to: there is nothing to leave "
    "out.",
    "stale_response": "The model asks for the calculator again and again; the program gives up after four "
    "rounds.",
    "malformed_tool_arguments": "OpenAI's SDKs hand arguments over as text: what is raised in Python is the "
    "program's own `json.loads`. Anthropic's give what they got; `TypeError` is the program's, which wants "
    "an object. The Node programs do not look into them.",
    "wrong_content_type": "The Node SDKs take what is not labelled JSON for text: `TypeError` is the "
    "program's own, which reads a member of it.",
    "garbage_body": "Node replaces bytes that are no UTF-8 and then finds no JSON.",
    "unknown_tool_call": "The programs have one tool and do not look at the name.",
}
"""What looks odd, and is the SDK's or the program's own."""
