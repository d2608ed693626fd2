"""Strings inside of a Python literal, as agents print dicts and lists."""

from __future__ import annotations

import ast
import io
import re  # noqa: TID251 - the pattern below is fixed and linear
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 200_000
"""Characters of a literal that is looked into, at most."""
_PLAIN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
"""One string without a prefix, between single quotes or double ones."""


class Place(NamedTuple):
    """A string's span in the text, quotes included, and its quote."""

    start: int
    end: int
    quote: str


def strings(text: str) -> list[Place]:
    """The strings that are values in a literal dict, list or tuple; none where it is no such literal."""
    if len(text) > MOST or text.lstrip()[:1] not in ("{", "[", "("):
        return []
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [place for node in _values(tree) if (place := _place(node, text)) is not None]


def _values(node: ast.expr) -> list[ast.Constant]:
    if isinstance(node, ast.Constant):
        return [node]
    inner: Sequence[ast.expr] = ()
    if isinstance(node, ast.Dict):
        inner = node.values
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        inner = node.elts
    return [found for child in inner for found in _values(child)]


def _place(node: ast.Constant, text: str) -> Place | None:
    """The span of one constant; only strings that are plainly quoted, in one piece and on one line."""
    if node.end_lineno != node.lineno:
        return None
    # Python ends a line at no other characters: not at a form feed, nor at U+2028.
    lines = io.StringIO(text.strip(), newline="").readlines()
    before = sum(map(len, lines[: node.lineno - 1])) + len(text) - len(text.lstrip())
    line = lines[node.lineno - 1].encode()
    start = before + len(line[: node.col_offset].decode())
    end = before + len(line[: node.end_col_offset].decode())
    return Place(start, end, text[start]) if _PLAIN.fullmatch(text, start, end) else None


def planted(text: str, payload: str, choose: Callable[[Sequence[int]], int]) -> str:
    """The literal with a text added to the end of one of its strings."""
    places = strings(text)
    place = places[choose([place.end - place.start for place in places])]
    gap = " " if place.end - place.start > 2 else ""
    made = "".join(_escaped(character, place.quote) for character in gap + payload)
    return text[: place.end - 1] + made + text[place.end - 1 :]


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """The literal with its strings changed; one that is written in several pieces stays as it is."""
    made, at = [], 0
    for place in strings(text):
        old = ast.literal_eval(text[place.start : place.end])
        new = change(old)
        if new != old:
            inside = "".join(_escaped(character, place.quote) for character in new)
            made += [text[at : place.start], place.quote, inside, place.quote]
            at = place.end
    return "".join([*made, text[at:]])


def _escaped(character: str, quote: str) -> str:
    if character == quote:
        return "\\" + quote
    return repr(character)[1:-1]
