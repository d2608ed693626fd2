"""Tool calls that an agent's framework refused to execute, because their arguments were no JSON.

The framework answers such a call itself, so that the model can correct it. As frameworks write it
(2026-11-23): pydantic-ai 2 `{"error":[{"type":"json_invalid", …`, AI SDK 6 `Invalid input for tool search:
JSON parsing failed: …`, openai-agents 0.24 `An error occurred while parsing tool arguments. …`, LangGraph 1
`Error invoking tool 'search' …`.
"""

from __future__ import annotations

import json

from faultwire.checks._once import compiled

_TEXTS = (
    r"(?i)\A\s*(\{\"error\": ?\[\{\"type\": ?\"json_invalid\"|"
    r"(error: )?(invalid (json|input for tool|arguments? for|tool (arguments?|input))\b|"
    r"an error occurred while parsing tool arguments\b|error invoking tool '|"
    r"(failed|unable|could not|cannot) (to )?(parse|decode) (the )?"
    r"(tool |function )?(json|arguments?|input)\b))"
)
"""Only at the beginning: what a tool found may say such things further on."""


def refused(made: str, result: str) -> bool:
    """Was a call with the arguments `made`, as the model sent them, answered by the framework in place of the
    tool? Only of arguments that are no JSON: of others a tool may say such things itself."""
    return not is_json(made) and compiled(_TEXTS).search(result) is not None


def is_json(text: str) -> bool:
    """Is a text one whole JSON value?"""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
