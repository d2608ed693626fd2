"""What each provider's SDK shows for each fault, with its own default settings.

Sources: the SDKs as they behaved when run through the proxy.
"""

from __future__ import annotations

from typing import NamedTuple


class Sdk(NamedTuple):
    """A provider's SDK: its environment, its agent's name, and what its user sees."""

    lock: str
    protocol: str
    provider: str
    status: str
    rate_limit: str
    reset: frozenset[str]
    cut: frozenset[str]
    finish: str
    finish_cut: str
    tries: tuple[int, int] = (1, 1)
    """How often a whole call and a stream are tried before the user hears of a status."""
    reset_tries: int = 1
    signed: bool = False


PLAIN = frozenset(("RemoteProtocolError", "ReadError"))
AWS_RESET = frozenset(("ProxyConnectionError", "ConnectionClosedError"))
AWS = ("ServiceUnavailableException", "ThrottlingException", AWS_RESET, frozenset(("ProtocolError",)))
STAINLESS = ("InternalServerError", "RateLimitError", frozenset(("APIConnectionError",)))

SDKS = {
    "google-genai": Sdk(
        "google-genai-3", "gemini", "google", "ServerError", "ClientError", PLAIN, PLAIN, "STOP", "MAX_TOKENS"
    ),
    "google-interactions": Sdk(
        "google-genai-3",
        "interactions",
        "google",
        *STAINLESS,
        frozenset(("APIConnectionError",)),
        "completed",
        "incomplete",
        (5, 5),
    ),
    "ollama": Sdk(
        "ollama-0", "ollama", "ollama", "ResponseError", "ResponseError", PLAIN, PLAIN, "stop", "length"
    ),
    "groq": Sdk("groq-1", "openai_chat", "groq", *STAINLESS, PLAIN, "stop", "length", (3, 3), 3),
    "mistralai": Sdk(
        "mistralai-3", "openai_chat", "mistral", "SDKError", "SDKError", PLAIN, PLAIN, "stop", "length"
    ),
    "cohere": Sdk(
        "cohere-7",
        "cohere",
        "cohere",
        "ServiceUnavailableError",
        "TooManyRequestsError",
        PLAIN,
        PLAIN,
        "COMPLETE",
        "MAX_TOKENS",
        (3, 1),
    ),
    "bedrock": Sdk("boto3-1", "bedrock", "aws", *AWS, "end_turn", "max_tokens", (3, 3), 3, signed=True),
    "bedrock-invoke": Sdk(
        "boto3-1", "bedrock_invoke", "aws", *AWS, "end_turn", "max_tokens", (3, 3), 3, signed=True
    ),
    "openai-responses": Sdk(
        "openai-3",
        "openai_responses",
        "openai",
        *STAINLESS,
        frozenset(("APIConnectionError",)),
        "completed",
        "max_output_tokens",
        (3, 3),
        3,
    ),
}
