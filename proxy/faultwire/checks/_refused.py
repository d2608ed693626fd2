"""Tool calls that an agent's framework refused to execute, because their arguments were no JSON.

The framework answers such a call itself, so that the model can correct it. As frameworks write it
(2026-11-23): pydantic-ai 2 `{"error":[{"type":"json_invalid", …`, AI SDK 6 `Invalid input for tool search:
JSON parsing failed: …`, openai-agents 0.24 `An error occurred while parsing tool arguments. …`, LangGraph 1
`Error invoking tool 'search' …`. Loops of one's own send the words of their JSON parser (`_PARSERS`).
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
_PARSERS = (
    r"(?i)(unexpected end of json input|invalid character '.{1,8}' (in|after|looking for|into)\b|"  # Go, V8
    r"jsontext: unexpected eof|json: cannot unmarshal|"
    r"unterminated string (in json|starting at|at (line|position))\b|"  # V8, Python, Gson
    r"(expecting|expected) (value|property name|double-quoted property name|'.{1,8}'|`.{1,8}`)"
    r"[^\n]{0,50} (line \d+ column \d+|in json at position \d+|after property value in json)|"
    r"expecting (value|property name|'.{1,8}' delimiter)|eof while parsing an? \w+|"  # Python, serde
    r"unexpected end[- ]of[- ](input|data|file)\b|end of input at line \d+|"  # Jackson, orjson, Gson
    r"unexpected token .{0,20}(\bin json\b|json at position)|json parse error\b|json\.parse:|"
    r"expected (depth to be zero at the end of the json payload|end of string, but instead reached))"
)
"""What JSON parsers say of half a text (2026-11): those of Go, V8, JavaScriptCore, SpiderMonkey, Python,
orjson, serde, Jackson, Gson and .NET."""
_LEAD = (
    r"(?i)\A\W*(\d+ validation errors? for \S+\s|"
    r".*(error|exception|fail|invalid|unable|could not|argument|pars|json|unmarshal|decod))"
)
_STOP = r"\.\s"
_ABOUT_ARGUMENTS = (
    r"(?i)\A[\W_]*(error|failed|failure|exception|invalid|malformed|bad|incomplete|truncated)\b[^.\n]{0,80}"
    r"\b(arguments?|json)\b"
)
_UNDERSCORE = str.maketrans("_", " ")
"""What loops of one's own say of arguments that they cannot read, `invalid_arguments` among it."""
LEAD = 160
"""Characters of words that announce an error."""


def refused(made: str, result: str) -> bool:
    """Was a call with the arguments `made`, as the model sent them, answered by the framework in place of the
    tool? Only of arguments that are no JSON: of others a tool may say such things itself."""
    if is_json(made):
        return False
    lead = result[: 2 * LEAD]
    is_about_arguments = compiled(_ABOUT_ARGUMENTS).search(lead.translate(_UNDERSCORE))
    return compiled(_TEXTS).search(result) is not None or is_about_arguments is not None or _unparsed(lead)


def _unparsed(result: str) -> bool:
    """Are these the words of a JSON parser, at the beginning or behind words that announce an error?"""
    found = compiled(_PARSERS).search(result)
    if found is None or found[0] > LEAD:
        return False
    lead = result[: found[0]]
    announced = not lead.strip('{"[ ') or compiled(_LEAD).search(lead) is not None
    return announced and compiled(_STOP).search(lead) is None


def is_json(text: str) -> bool:
    """Is a text one whole JSON value?"""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
