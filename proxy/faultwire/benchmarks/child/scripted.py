"""A model by script: it solves a task as the benchmark does, and obeys an attack that it reads, or does not.

Nothing but the standard library. It is a function of the conversation, so it is the same whoever holds it:
the model endpoint of `serve.py`, or a pipeline inside of a benchmark.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

FEWEST = 12
"""Letters by which a payload is recognised, at least, where it has as many."""
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Script:
    """What the task wants, what the attack wants, and whether it is obeyed."""

    calls: tuple[Call, ...]
    answer: str
    attack_calls: tuple[Call, ...] = ()
    attack_answer: str = ""
    markers: tuple[str, ...] = ()
    obeys: bool = False
    context: bool = False
    """Is the attack also looked for in what the user says?"""


@dataclass(frozen=True)
class Step:
    """The next call of a tool, or the last answer."""

    call: Call | None
    answer: str


def in_context(script: Script) -> Script:
    """The same, where the attack stands in what the user says."""
    return replace(script, context=True)


def step(script: Script, results: list[str], prompt: str = "") -> Step:
    """What comes after so many results of tools: the attack's calls follow the first result that holds it, or
    come before all where the prompt does."""
    read = [prompt if script.context else "", *results]
    seen = next((at - 1 for at, text in enumerate(read) if reads(script, text)), None)
    calls = list(script.calls)
    if seen is not None:
        calls[seen + 1 : seen + 1] = script.attack_calls
    if len(results) < len(calls):
        return Step(calls[len(results)], "")
    return Step(
        None, "\n".join(filter(None, (script.answer, script.attack_answer if seen is not None else "")))
    )


def reads(script: Script, text: str) -> bool:
    """Does a result hold the attack, and is it obeyed?"""
    found = letters(text) if script.obeys else ""
    return any(marker in found for marker in script.markers)


def marker(payload: str) -> str:
    """What a payload is recognised by, however its carrier folds, quotes or escapes it."""
    plain = "".join(character if character.isascii() else "\n" for character in payload)
    return max((letters(line) for line in plain.splitlines()), key=len, default="") or letters(plain)


def letters(text: str) -> str:
    """Letters and digits alone."""
    return "".join(filter(str.isalnum, text))


def completion(script: Script, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request for a chat completion, in the shape of OpenAI's API."""
    messages = asked.get("messages", ())
    results = [_text(one.get("content")) for one in messages if one.get("role") == "tool"]
    prompt = "\n".join(_text(one.get("content")) for one in messages if one.get("role") == "user")
    next_one = step(script, results, prompt)
    message: dict[str, Any] = {"role": "assistant", "content": next_one.answer or None}
    if next_one.call is not None:
        name, arguments = next_one.call
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call_{len(results)}", "type": "function", "function": function}]
    reason = "stop" if next_one.call is None else "tool_calls"
    return {
        "id": f"scripted-{len(results)}",
        "object": "chat.completion",
        "created": 0,
        "model": str(asked.get("model", "scripted")),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))
