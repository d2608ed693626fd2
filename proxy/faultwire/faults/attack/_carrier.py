"""Planting a text inside of another without breaking what carries it.

What a tool returns is JSON, YAML, a Python literal, HTML, Markdown or prose. A planted text is encoded
for its carrier: afterwards the carrier parses as before, with one string longer, and every byte around
that string is as it was.
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns below are fixed and linear
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from faultwire import _core
from faultwire.faults.attack import _literal, _yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

Carrier = Literal["json", "yaml", "python", "html", "markdown", "plain"]
Position = Literal["start", "middle", "end", "field"]
Disguise = Literal["plain", "comment", "metadata", "instruction", "system_note"]

_FENCED = re.compile(r"\A(\s*```[a-z]*\r?\n)(.*)(\r?\n```\s*)\Z", re.DOTALL)
_HTML = re.compile(r"<(!doctype html|html|head|body|div|p|table|ul|span|article|section)\b", re.IGNORECASE)
_BODY = re.compile(r"<body\b[^<>]{0,2000}>", re.IGNORECASE)
_END = re.compile(r"</body\s*>", re.IGNORECASE)
_MARKDOWN = re.compile(r"^(#{1,6} |[-*] |[0-9]{1,3}\. |```|> |\|.{1,500}\|)", re.MULTILINE)


def carrier_of(text: str) -> Carrier:
    """What a text is, as strictly as its own parser would say."""
    if _json_value(text) is not None:
        return "json"
    if _literal.strings(text):
        return "python"
    if _HTML.search(text):
        return "html"
    if _yaml.scalars(text):
        return "yaml"
    return "markdown" if _MARKDOWN.search(text) else "plain"


def fenced(text: str) -> tuple[str, str, str] | None:
    """A text that is one fenced block of data: its opening, what is in it, and its end."""
    found = _FENCED.match(text)
    if found is None or carrier_of(found[2]) not in ("json", "yaml", "python"):
        return None
    return found[1], found[2], found[3]


def planted(text: str, payload: str, position: Position = "end", disguise: Disguise = "plain") -> str:
    """The text with the payload planted in it."""
    block = fenced(text)
    if block is not None:
        return block[0] + planted(block[1], payload, position, disguise) + block[2]
    carrier = carrier_of(text)
    disguised_payload = disguised(payload, disguise, carrier)
    if carrier == "json":
        return _in_json(text, disguised_payload, position)
    if carrier == "yaml":
        return _yaml.planted(text, disguised_payload, lambda places: chosen(places, position))
    if carrier == "python":
        return _literal.planted(text, disguised_payload, lambda places: chosen(places, position))
    if carrier == "html":
        return _in_html(text, disguised_payload, position, comment=disguise == "comment")
    return _in_prose(text, disguised_payload, position, markdown=carrier == "markdown")


def disguised(payload: str, disguise: Disguise, carrier: Carrier) -> str:
    """The payload as something that is rarely questioned."""
    match disguise:
        case "comment":
            # a comment must not end where its text says so
            safe = payload.replace("--", "- -").replace("*/", "* /")
            return f"<!-- {safe} -->" if carrier in ("html", "markdown") else f"/* {safe} */"
        case "metadata":
            return f"[metadata] {payload}"
        case "instruction":
            return f"IMPORTANT INSTRUCTION: {payload}"
        case "system_note":
            return f"[SYSTEM NOTE] {payload}"
    return payload


def chosen(lengths: Sequence[int], position: Position) -> int:
    """Which of several strings is taken, by their lengths: `field` is the longest."""
    if position == "field":
        return max(range(len(lengths)), key=lambda at: lengths[at])
    return {"start": 0, "middle": len(lengths) // 2, "end": len(lengths) - 1}[position]


# ---------------------------------------------------------------- JSON


def _json_value(text: str) -> dict[str, Any] | list[Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _in_json(text: str, payload: str, position: Position) -> str:
    try:
        data = text.encode()
        leaves = _strings(data, ())
        encoded = json.dumps(payload).encode()
        if leaves:
            start, end = leaves[chosen([end - start for start, end in leaves], position)]
            gap = b" " if end - start > 2 else b""
            at, made = (
                (start + 1, encoded[1:-1] + gap) if position == "start" else (end - 1, gap + encoded[1:-1])
            )
        else:
            at, made = _new_leaf(data, encoded)
        return _core.json_splice(data, [(at, at, made)]).decode()
    except ValueError:
        return _in_prose(text, payload, position)  # JSON that only Python reads


def _strings(data: bytes, path: tuple[str | int, ...]) -> list[tuple[int, int]]:
    """The spans of all strings that are values, in order."""
    found: list[tuple[int, int]] = []
    for key, start, end in _core.json_children(data, list(path)):
        opening = data[start : start + 1]
        if opening == b'"':
            found.append((start, end))
        elif opening in (b"{", b"["):
            found += _strings(data, (*path, key))
    return found


def _new_leaf(data: bytes, encoded: bytes) -> tuple[int, bytes]:
    """Where nothing is a string, a member or an element is added behind the last one."""
    children = _core.json_children(data, [])
    opening = len(data) - len(data.lstrip())
    at = children[-1][2] if children else opening + 1
    name = b'"note": ' if data[opening : opening + 1] == b"{" else b""
    return at, (b", " if children else b"") + name + encoded


# ---------------------------------------------------------------- HTML, Markdown, prose


def _in_html(text: str, payload: str, position: Position, *, comment: bool) -> str:
    made = payload if comment else f"<p>{escape(payload)}</p>"
    body, end = _BODY.search(text), _END.search(text)
    first, last = body.end() if body else 0, end.start() if end else len(text)
    at = first if position == "start" else last
    return text[:at] + made + text[at:]


def _in_prose(text: str, payload: str, position: Position, *, markdown: bool = False) -> str:
    """A paragraph of its own; in Markdown never inside of a block of code."""
    gap = "\n\n" if markdown or "\n\n" in text else "\n"
    if not text:
        return payload
    borders = [found.end() for found in re.finditer(r"\n\n+", text)]
    if markdown:
        payload = payload if payload.startswith("<!--") else payload.replace("\n", " ")
        borders = [at for at in borders if text[:at].count("```") % 2 == 0]
    if position == "start" or (markdown and text.count("```") % 2):
        return f"{payload}{gap}{text}"
    if position == "middle" and borders:
        at = borders[len(borders) // 2]
        return f"{text[:at]}{payload}{gap}{text[at:]}"
    return f"{text}{gap}{payload}"
