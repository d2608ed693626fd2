"""Token limits that the request itself set, so low that the end at the limit was wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultwire.checks._traffic import altered

if TYPE_CHECKING:
    from faultwire.events import Recorded

FEW = 16
"""Tokens; who asks for no more wants a word or a label, and no text that could be cut."""
_KEYS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
_INSIDE = ("generationConfig", "generation_config", "options", "inferenceConfig")
"""Objects in which some protocols keep it."""


def wanted(exchange: Recorded) -> bool:
    """Did the request ask for at most a handful of tokens, and the server itself end the answer there?"""
    if altered(exchange):
        return False
    try:
        asked = json.loads(exchange.request.body or b"")
    except (ValueError, RecursionError):
        return False
    if not isinstance(asked, dict):
        return False
    places = [asked, *(asked[name] for name in _INSIDE if isinstance(asked.get(name), dict))]
    limits = [place[key] for place in places for key in (*_KEYS, "maxTokens") if key in place]
    return any(isinstance(one, int) and 0 < one <= FEW for one in limits)
