"""What each SDK shows for each fault, with its own default settings.

Sources: the SDKs' exception hierarchies as they behaved when run; the names differ between
generations of one SDK, which is why each is listed.
"""

from __future__ import annotations

FAULTS = {
    "latency": "latency: {ms: 400}",
    "status": "status: {code: 503}",
    "rate_limit": "rate_limit: {retry_after_s: 1}",
    "reset": "reset: {at: before_headers}",
    "cut_stream": "cut_stream: {after_events: 3}",
    "slow_tokens": "slow_tokens: {ms: 60}",
    "truncate_response": "truncate_response: {max_tokens: 3}",
    "tool_error": "tool_error: {message: the calculator is on fire}",
}

RAISED = {
    # fault: {SDK: names that its user sees}
    "status": {
        "openai-3": {"InternalServerError"},
        "openai-2": {"InternalServerError"},
        "anthropic-2": {"ServiceUnavailableError"},
        "anthropic-0": {"InternalServerError", "ServiceUnavailableError"},
        "node-openai": {"InternalServerError"},
        "node-anthropic": {"InternalServerError", "ServiceUnavailableError"},
    },
    "rate_limit": {
        sdk: {"RateLimitError"}
        for sdk in ("openai-3", "openai-2", "anthropic-2", "anthropic-0", "node-openai", "node-anthropic")
    },
    "reset": {
        sdk: {"APIConnectionError"}
        for sdk in ("openai-3", "openai-2", "anthropic-2", "anthropic-0", "node-openai", "node-anthropic")
    },
    "cut_stream": {
        "openai-3": {"APIConnectionError"},
        "openai-2": {"RemoteProtocolError", "ReadError"},
        "anthropic-2": {"RemoteProtocolError", "ReadError"},
        "anthropic-0": {"RemoteProtocolError", "ReadError"},
        "node-openai": {"TypeError"},
        "node-anthropic": {"TypeError"},
    },
}

TRIES = 3
"""Each of these SDKs tries a call three times before its user hears of a failure."""
STATUS = {"status": 503, "rate_limit": 429}
CUT = {"openai": "length", "anthropic": "max_tokens"}
"""The finish reason of an answer that reached its token limit."""
