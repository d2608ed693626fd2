"""What stands in the heads of answers of OpenAI, and of those who speak its protocols under other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mock import _shared
from faultwire.mock._api import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Headers
    from faultwire.mock._api import Conversation

_LIMITS: Headers = (
    ("x-ratelimit-limit-requests", "500"),
    ("x-ratelimit-limit-tokens", "30000"),
    ("x-ratelimit-remaining-requests", "499"),
    ("x-ratelimit-remaining-tokens", "29000"),
    ("x-ratelimit-reset-requests", "120ms"),
    ("x-ratelimit-reset-tokens", "6ms"),
)


class OpenAIFamily(Dialect):
    """A dialect whose answers have these heads."""

    def headers(self, conversation: Conversation) -> Headers:
        """As OpenAI sends them."""
        return (
            ("openai-organization", "org-mock"),
            ("openai-processing-ms", "12"),
            ("openai-version", "2020-10-01"),
            ("x-request-id", _shared.made_id("req_", conversation, length=32)),
            *_LIMITS,
        )

    def headers_by(self, provider: str, conversation: Conversation) -> Headers:
        """As that provider sends them."""
        own = _ELSEWHERE.get(provider)
        return self.headers(conversation) if own is None else own(conversation)


def _azure(conversation: Conversation) -> Headers:
    """Two ids, which are the same where the client asked for none of its own."""
    made = _shared.made_uuid(conversation)
    return (
        ("apim-request-id", made),
        ("x-request-id", made),
        ("x-ms-region", "East US"),
        ("x-ratelimit-remaining-requests", "499"),
        ("x-ratelimit-remaining-tokens", "29000"),
    )


def _groq(conversation: Conversation) -> Headers:
    return (("x-request-id", _shared.made_id("req_", conversation, length=26)), *_LIMITS)


def _mistral(conversation: Conversation) -> Headers:
    return (("mistral-correlation-id", _shared.made_uuid(conversation)),)


_ELSEWHERE: dict[str, Callable[[Conversation], Headers]] = {
    "azure": _azure,
    "groq": _groq,
    "mistral": _mistral,
}
"""Providers whose heads are known to differ."""
