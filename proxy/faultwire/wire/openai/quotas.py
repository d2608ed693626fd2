"""How providers that share OpenAI's protocol tell their quotas: header fields, each in its own words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire.wire.editing import answers as http_answers
from faultwire.wire.openai import errors as openai_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from faultwire.events import Headers
    from faultwire.wire.editing.api import Quota


def _limits(quota: Quota) -> Iterator[tuple[str, int, int]]:
    limits = (("requests", quota.requests, quota.requests_left), ("tokens", quota.tokens, quota.tokens_left))
    for name, limit, left in limits:
        if limit is not None:
            yield name, limit, left


def openai(quota: Quota) -> Headers:
    """Limit, rest and reset of requests and of tokens; resets are durations."""
    return _named(quota, openai_errors.duration(quota.reset_s))


def _azure(quota: Quota) -> Headers:
    """OpenAI's names; resets are whole seconds there."""
    return _named(quota, http_answers.whole_seconds(quota.reset_s))


def _named(quota: Quota, reset: str) -> Headers:
    return tuple(
        pair
        for name, limit, left in _limits(quota)
        for pair in (
            (f"x-ratelimit-limit-{name}", str(limit)),
            (f"x-ratelimit-remaining-{name}", str(left)),
            (f"x-ratelimit-reset-{name}", reset),
        )
    )


_PER_MINUTE = {"requests": "req", "tokens": "tokens"}


def _mistral(quota: Quota) -> Headers:
    """Per minute, whatever the window; the reset time is not stated."""
    return tuple(
        pair
        for name, limit, left in _limits(quota)
        for pair in (
            (f"x-ratelimit-limit-{_PER_MINUTE[name]}-minute", str(limit)),
            (f"x-ratelimit-remaining-{_PER_MINUTE[name]}-minute", str(left)),
        )
    )


def cohere(quota: Quota) -> Headers:
    """Calls of a trial key; tokens are not stated."""
    if quota.requests is None:
        return ()
    return (
        ("x-trial-endpoint-call-limit", str(quota.requests)),
        ("x-trial-endpoint-call-remaining", str(quota.requests_left)),
    )


BY_PROVIDER: Mapping[str, Callable[[Quota], Headers]] = MappingProxyType(
    {"azure": _azure, "mistral": _mistral}
)
"""Groq and most others send OpenAI's own fields. Google tells the time to wait in the body alone
(RetryInfo), AWS in `x-amz-retry-after`, Ollama nowhere."""
