"""Usage as OpenAI's APIs count it, with what of it was cached, reasoned and heard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from faultwire.events import Usage
from faultwire.wire import json_bytes


def chat_usage(usage: Any) -> Usage | None:
    """The `usage` of a chat completion; None where there is none. Imitators name cached tokens otherwise."""
    counted = _usage(usage, "prompt", "completion")
    if counted is None or counted.cache_read_tokens:
        return counted
    others = ("prompt_cache_hit_tokens", "cached_tokens")  # DeepSeek, Moonshot
    cached = next((n for name in others if (n := json_bytes.count(usage.get(name)))), 0)
    return replace(counted, cache_read_tokens=cached)


def responses_usage(usage: Any) -> Usage | None:
    """The `usage` of a response, of a Realtime one too; None where there is none."""
    return _usage(usage, "input", "output")


def _usage(usage: Any, read: str, written: str) -> Usage | None:
    """None where what was read or what was written is not counted: it is not nothing."""
    if not isinstance(usage, dict):
        return None
    if not all(isinstance(usage.get(f"{one}_tokens"), int) for one in (read, written)):
        return None
    # Realtime says `input_token_details`, all others `…_tokens_details`.
    into = usage.get(f"{read}_tokens_details") or usage.get(f"{read}_token_details")
    out = usage.get(f"{written}_tokens_details") or usage.get(f"{written}_token_details")

    def count(details: Any, name: str) -> int:
        return json_bytes.count(json_bytes.member(details, name))

    return Usage(
        json_bytes.count(usage.get(f"{read}_tokens")),
        json_bytes.count(usage.get(f"{written}_tokens")),
        cache_read_tokens=count(into, "cached_tokens"),
        cache_write_tokens=count(into, "cache_write_tokens") or count(into, "cache_creation_tokens"),
        reasoning_tokens=count(out, "reasoning_tokens"),
        audio_input_tokens=count(into, "audio_tokens"),
        audio_output_tokens=count(out, "audio_tokens"),
    )
