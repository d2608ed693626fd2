"""What a request's head and body say about its protocol, for the protocols to share.

Paths are matched by suffix after any gateway's prefix, on any host and port; the query says nothing
(reference: the providers' own SDKs, and the servers that imitate them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.wire import _json

if TYPE_CHECKING:
    from faultwire.events import Request

HOSTS: tuple[tuple[str, str], ...] = (
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("anthropic.com", "anthropic"),
    ("claude.googleapis.com", "anthropic"),
    ("generativelanguage.googleapis.com", "google"),
    ("aiplatform.googleapis.com", "google"),
    ("-aiplatform.googleapis.com", "google"),
    ("amazonaws.com", "aws"),
    ("api.aws", "aws"),
    ("api.groq.com", "groq"),
    ("mistral.ai", "mistral"),
    ("api.cohere.com", "cohere"),
    ("api.cohere.ai", "cohere"),
    ("ollama.com", "ollama"),
    ("openrouter.ai", "openrouter"),
    ("api.together.xyz", "together"),
    ("api.fireworks.ai", "fireworks"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "xai"),
    ("api.cerebras.ai", "cerebras"),
    ("api.perplexity.ai", "perplexity"),
)
"""Domains (the name or any subdomain of it) and the provider that runs them. One that begins with `-` is
the end of a name: regions stand before it."""

_SETTLED = (
    "/chat/completions",
    "/completions",
    "/messages",
    "/count_tokens",
    "/input_tokens",
    "/tokenize",
    "/detokenize",
    "/apply-template",
    "/embeddings",
    "/moderations",
    "/responses",
    "/responses/compact",
    "/batches",
    "/files",
    "/feedback",
    "/ingest",
    "/ingestion",
    "/traces",
    "/logs",
    "/metrics",
    "/events",
    "/capture",
    "/track",
    "/multipart",
    "/batch",
    "/runs",
    "/api/chat",
    "/api/generate",
    "/api/embed",
    "/v2/chat",
    "/v1/chat",
    "/converse",
    "/converse-stream",
    "/invoke",
    "/invoke-with-response-stream",
    "/interactions",
)
"""Paths that say by themselves what they are, so that a body like a conversation proves nothing."""


def bare_path(request: Request) -> str:
    """The path without query and trailing slash."""
    return request.path.partition("?")[0].rstrip("/")


def provider_of(host: str) -> str | None:
    """The provider that runs a host, None where it is nobody's that we know."""
    name = host.lower().rstrip(".")
    for domain, provider in HOSTS:
        if name.endswith(domain) and (domain[0] == "-" or name[: -len(domain)][-1:] in ("", ".")):
            return provider
    return None


def is_settled(path: str) -> bool:
    """Does the path alone say what the request is?"""
    return path.endswith(_SETTLED) or ":" in path.rpartition("/")[2]


def document(body: bytes | None) -> _json.Object | None:
    """The body, parsed, where it is a JSON object; else None."""
    if body is None:
        return None
    try:
        return _json.load_object(body)
    except WireError:
        return None


def conversation(body: bytes | None) -> _json.Object | None:
    """The body, parsed, where it holds `messages` with roles; else None."""
    if body is None or b'"messages"' not in body:
        return None
    found = document(body)
    messages = _json.member(found, "messages")
    if not isinstance(messages, list) or not messages:
        return None
    with_roles = all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages)
    return found if with_roles else None


def speaks_anthropic(asked: _json.Object) -> bool:
    """Does a conversation hold what only Anthropic's protocol has?"""
    if "max_tokens" not in asked:
        return False
    return "system" in asked or any(
        block.get("type") in ("tool_use", "tool_result")
        for _, message in _json.objects(asked.get("messages"))
        for _, block in _json.objects(_content(message))
    )


def _content(message: _json.Object) -> Any:
    return message.get("content")
