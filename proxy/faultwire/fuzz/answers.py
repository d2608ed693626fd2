"""Answers of models as servers have sent them: one that was seen, in other shapes, to be damaged further.

The shapes follow the answers of OpenAI (Chat Completions, Responses), Anthropic (Messages) and Gemini
(generateContent): the list that holds what was said is empty, `null` or not there, a call names no tool or
has arguments that are no object, the answer ended for another reason. An error in place of an answer, with
status 200, is what gateways send.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from faultwire.fuzz.values import at, places, with_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.fuzz.values import Place

LISTS = ("choices", "output", "content", "candidates")
"""The member that holds what was said, by API."""
ENDS = {
    "finish_reason": ("length", "content_filter"),
    "stop_reason": ("max_tokens", "refusal"),
    "finishReason": ("MAX_TOKENS", "SAFETY"),
    "status": ("incomplete",),
}
"""The member that tells why it ended, and other reasons."""
TEXTS = ("arguments",)
"""Members that hold arguments as the text of a JSON document."""
VALUES = ("input", "args")
"""Members that hold arguments as a document."""
NO_ARGUMENTS = ("", "{", "null", "[]", '"text"', "{}", "7")
WORDS = ("content", "text", "output_text")
ERROR = {"error": {"message": "Internal error", "type": "server_error", "code": None}}


def shapes(text: str) -> dict[str, str]:
    """Other shapes of an answer that is a JSON document, by what they are; none of another text."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    found = dict(_shapes(document))
    return {name: json.dumps(one, ensure_ascii=False) for name, one in found.items() if one != document}


def _shapes(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "an error", ERROR
    for name in LISTS:
        if isinstance(document.get(name), list):
            yield f"empty {name}", {**document, name: []}
            yield f"{name} null", {**document, name: None}
            yield f"no {name}", {key: value for key, value in document.items() if key != name}
            yield f"twice the {name}", {**document, name: [*document[name], *document[name]]}
    for place in list(places(document)):
        yield from _at(document, place)


def _at(document: Any, place: Place) -> Iterator[tuple[str, Any]]:
    """The shapes that differ in one member."""
    name, value = (place[-1], at(document, place)) if place else ("", None)
    if name in ENDS and isinstance(value, str):
        for reason in ENDS[str(name)]:
            yield f"{name} {reason}", with_value(document, place, reason)
    elif name in TEXTS and isinstance(value, str):
        for other in NO_ARGUMENTS:
            yield f"arguments {other or 'empty'}", with_value(document, place, other)
        if isinstance(at(document, place[:-1]).get("name"), str):
            yield "an unknown tool", with_value(document, (*place[:-1], "name"), "no_such_tool")
    elif name in VALUES and isinstance(value, dict):
        items: tuple[Any, ...] = (None, [], {}, "text")
        for item in items:
            yield f"arguments {json.dumps(item)}", with_value(document, place, item)
    elif name in WORDS and isinstance(value, str):
        yield "nothing said", with_value(document, place, None)
        yield "parts in place of a text", with_value(document, place, [{"type": "text", "text": value}])


# ---------------------------------------------------------------- streams


def is_stream(text: str) -> bool:
    """Is a text a stream of events?"""
    return text.lstrip().startswith(("data:", "event:"))


def documents(text: str) -> list[tuple[int, str]]:
    """The JSON documents in a stream of events, each with the number of its line."""
    lines = text.split("\n")
    return [
        (at_, line[5:].strip())
        for at_, line in enumerate(lines)
        if line.startswith("data:") and line[5:].lstrip()[:1] in ("{", "[") and "[DONE]" not in line
    ]


def with_document(text: str, at_: int, document: str) -> str:
    """The stream with another document on that line; it stays one line."""
    lines = text.split("\n")
    lines[at_] = "data: " + document.replace("\r", " ").replace("\n", " ")
    return "\n".join(lines)
