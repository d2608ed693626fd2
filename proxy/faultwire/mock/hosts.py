"""Host names that the mock stands in for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PROVIDER_HOSTS = (
    "api.openai.com",
    "us.api.openai.com",
    "eu.api.openai.com",
    "api.anthropic.com",
    "api.groq.com",
    "api.mistral.ai",
    "api.deepseek.com",
    "api.together.xyz",
    "api.fireworks.ai",
    "api.cerebras.ai",
    "api.x.ai",
    "openrouter.ai",
    "api.perplexity.ai",
    "api.cohere.com",
    "api.cohere.ai",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "claude.googleapis.com",
    "ollama.com",
)
"""Providers whose own hosts speak a protocol of the mock."""

SERVER_HOSTS = ("mcp.mock.test",)
"""Servers of the mock's own that no provider has; `.test` is nobody's (RFC 2606)."""

PROVIDER_PATTERNS = (
    "*.api.openai.com",
    "*.openai.azure.com",
    "*.services.ai.azure.com",
    "*.cognitiveservices.azure.com",
    "*-aiplatform.googleapis.com",
    "bedrock-runtime.*.amazonaws.com",
    "bedrock-runtime-fips.*.amazonaws.com",
    "bedrock-mantle.*.api.aws",
    "api.*.mistral.ai",
)
"""Hosts that have a region, or a customer's own name, in theirs."""


def routes(port: int) -> Mapping[str, str]:
    """Where each provider's traffic goes instead: a plain-HTTP mock on this machine."""
    return dict.fromkeys((*PROVIDER_HOSTS, *SERVER_HOSTS, *PROVIDER_PATTERNS), f"http://127.0.0.1:{port}")
