"""A line-by-line diff of two texts."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

CONTEXT = 2
"""Equal lines that are shown around a difference."""
LINES = 160
"""Lines of a difference that are shown."""
COMPARED = 400
"""Lines of either side, without their common beginning and end, that are compared one by one."""
WIDE = 240
"""Characters of a line that are shown, around the first that is different."""
Line = tuple[str, str]
"""`-` only before, `+` only after, ` ` both, `…` what is left out; and the text."""


def lines(before: str, after: str) -> list[Line]:
    """The difference of two texts, empty where there is none."""
    if before == after:
        return []
    old, new = before.split("\n"), after.split("\n")
    head, tail = _common(old, new)
    middle = _middle(old[head : len(old) - tail], new[head : len(new) - tail])
    shown = [
        *_left_out(max(0, head - CONTEXT)),
        *((" ", text) for text in old[max(0, head - CONTEXT) : head]),
        *middle,
        *((" ", text) for text in old[len(old) - tail :][:CONTEXT]),
        *_left_out(max(0, tail - CONTEXT)),
    ]
    more = len(shown) - LINES
    return [*shown[:LINES], *(_left_out(more) if more > 0 else [])]


def exchange(part: dict[str, Any]) -> dict[str, list[Line]]:
    """The differences of one exchange: `sent` of the request, `said` of the response. A response of which
    the agent only got the beginning is shown by its stream, not here."""
    found: dict[str, list[Line]] = {"sent": [], "said": []}
    if part["sent"]:
        found["sent"] = lines(_request(part["request"]), _request(part["sent"]))
    if part["upstream"] and part["delivered"] and not (part["stream"] and part["stream"]["withheld"]):
        found["said"] = lines(_response(part["upstream"]), _response(part["delivered"]))
    return found


def _request(part: dict[str, Any]) -> str:
    return f"{part['method']} {part['url']}\n{_rest(part)}"


def _response(part: dict[str, Any]) -> str:
    return f"{part['status']} {part['reason']}\n{_rest(part)}"


def _rest(part: dict[str, Any]) -> str:
    fields = "\n".join(f"{name}: {value}" for name, value in part["headers"])
    return f"{fields}\n\n{part['body']['text']}"


def _common(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines both begin and end with."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    return head, tail


def _middle(old: list[str], new: list[str]) -> list[Line]:
    if len(old) > COMPARED or len(new) > COMPARED:
        return [*(("-", _cut(text)) for text in old[:LINES]), *(("+", _cut(text)) for text in new[:LINES])]
    found: list[Line] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            found += _equal(old[a:b])
        else:
            found += _changed(old[a:b], new[c:d])
    return found


def _equal(texts: list[str]) -> list[Line]:
    if len(texts) <= 2 * CONTEXT:
        return [(" ", _cut(text)) for text in texts]
    ends = [*texts[:CONTEXT], *texts[-CONTEXT:]]
    shown = [(" ", _cut(text)) for text in ends]
    return [*shown[:CONTEXT], *_left_out(len(texts) - 2 * CONTEXT), *shown[CONTEXT:]]


def _changed(old: list[str], new: list[str]) -> list[Line]:
    if len(old) == len(new) == 1:
        at = next((i for i, (a, b) in enumerate(zip(old[0], new[0], strict=False)) if a != b), 0)
        return [("-", _cut(old[0], at)), ("+", _cut(new[0], at))]
    return [*(("-", _cut(text)) for text in old), *(("+", _cut(text)) for text in new)]


def _cut(text: str, at: int = 0) -> str:
    """A part of a long line that holds the character `at`."""
    if len(text) <= WIDE:
        return text
    start = max(0, min(at - WIDE // 3, len(text) - WIDE))
    end = start + WIDE
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _left_out(count: int) -> list[Line]:
    return [("…", f"{count} line{'s' * (count != 1)}")] if count > 0 else []
