"""Keys for an agent that needs none: where nothing reaches a provider, its SDK still refuses to start
without one. Pure: a mapping in, a new one out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACEHOLDER = "faultwire-needs-no-key"
KEYS = (
    ("OPENAI_API_KEY",),
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ("GOOGLE_API_KEY", "GEMINI_API_KEY"),  # with both of them Google's SDKs print a warning
    ("GROQ_API_KEY",),
    ("MISTRAL_API_KEY",),
    ("CO_API_KEY", "COHERE_API_KEY"),
    ("DEEPSEEK_API_KEY",),
    ("TOGETHER_API_KEY",),
    ("FIREWORKS_API_KEY",),
    ("CEREBRAS_API_KEY",),
    ("XAI_API_KEY",),
    ("OPENROUTER_API_KEY",),
    ("PERPLEXITY_API_KEY",),
)
"""The variables from which providers' SDKs read their keys; those of a group stand for the same key."""


def keyless(base: Mapping[str, str]) -> dict[str, str]:
    """`base` with a placeholder for every key that it lacks; a key that is there stays."""
    missing = {group[0]: PLACEHOLDER for group in KEYS if not any(base.get(name) for name in group)}
    return {**base, **missing}
