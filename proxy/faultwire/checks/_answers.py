"""Reading an answer as something else than prose."""

from __future__ import annotations

FENCE = "```"


def unfenced(answer: str) -> str:
    """The inside of a Markdown fence where the answer is nothing else than one, else the answer."""
    text = answer.strip()
    if len(text) < 2 * len(FENCE) + 1 or not (text.startswith(FENCE) and text.endswith(FENCE)):
        return answer
    first, newline, rest = text.partition("\n")
    inside = rest[: -len(FENCE)]
    if not newline or FENCE in inside or " " in first.strip():
        return answer
    return inside
