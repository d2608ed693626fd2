"""Replacing a span of a text by another without breaking what carries both.

A span is looked for in what the carrier's parser reads, not in its bytes: a canary that YAML folded over
two lines is found, and a payload is escaped, quoted or folded as its carrier wants it. Where a known writer
made the text (`json.dumps`, `yaml.safe_dump`, `repr`), it is written by the same one again, so that it is
what that program would have written. Otherwise only the strings that hold the span are written anew.
Afterwards the text is parsed, and refused if it does not read as meant.
"""

from __future__ import annotations

import ast
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.faults.attack import _carrier, _literal, _markup, _table, _yaml
from faultwire.faults.attack._carried import CannotCarry as CannotCarry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Change = Callable[[str], str]

DEEPEST = 3
"""Carriers inside of one another that are looked into: JSON in a string of JSON, say."""
MOST = 200_000
"""Characters of a Python or YAML text that is parsed."""
_PLAIN_YAML = "'\"\\ \t\r\n"
"""What YAML may put between the characters of a string: quotes, escapes, and the space where it folds."""
_STYLES: tuple[Mapping[str, Any], ...] = (
    {},
    {"sort_keys": False},
    {"allow_unicode": True},
    {"sort_keys": False, "allow_unicode": True},
)
"""How programs call `yaml.safe_dump`."""


def replaced(text: str, spans: Mapping[str, str]) -> str | None:
    """The text with each span replaced by its payload; None where it holds none of them.

    Raises CannotCarry where a span is there and a payload cannot stand in its place.
    """
    return _replaced(text, spans, 0)


def _replaced(text: str, spans: Mapping[str, str], depth: int) -> str | None:
    if not any(_may_hold(text, span) for span in spans):
        return None
    change = partial(_in_value, spans=spans, depth=depth)
    fenced = _carrier.fenced(text)
    if fenced is not None:
        inner = _replaced(fenced[1], spans, depth)
        return None if inner is None else fenced[0] + _markup.in_fence(inner) + fenced[2]
    for way in (_in_json, _in_python, _in_yaml):
        made = way(text, change)
        if made is not None:
            return made if made != text else None
    if _carrier.carrier_of(text) == "html":
        made = _markup.in_html(text, spans)
    elif (delimiter := _table.delimiter(text)) is not None:
        made = _table.replaced(text, delimiter, change)
    elif _carrier.carrier_of(text) == "markdown":
        made = _markup.in_markdown(text, spans)
    else:
        made = change(text, depth=DEEPEST)
    return made if made != text else None


def _may_hold(text: str, span: str) -> bool:
    """Could it be there, however it is escaped? Cheap: most results hold none."""
    if span in text or not span.isascii():
        return True
    return _bare(span) in _bare(text)


def _bare(text: str) -> str:
    return text.translate(_BARE)


_BARE = str.maketrans("", "", _PLAIN_YAML)


def _in_value(text: str, spans: Mapping[str, str], depth: int) -> str:
    """A string that a carrier holds, which may be a carrier itself."""
    if depth < DEEPEST and text.lstrip()[:1] in ("{", "["):
        inner = _replaced(text, spans, depth + 1)
        if inner is not None:
            return inner
    return swapped(text, spans)


def swapped(text: str, spans: Mapping[str, str]) -> str:
    """Each span by its payload, the longest first; a payload is not looked into again."""
    ordered = sorted(spans, key=len, reverse=True)
    made, at = [], 0
    while at < len(text):
        nearest = min(
            ((found, -len(span), span) for span in ordered if (found := text.find(span, at)) >= 0),
            default=None,
        )
        if nearest is None:
            break
        found, _, span = nearest
        made += [text[at:found], spans[span]]
        at = found + len(span)
    return "".join([*made, text[at:]])


def in_strings(value: Any, change: Change) -> Any:
    """A value of JSON, YAML or Python with each string that is no key changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: in_strings(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        made = [in_strings(one, change) for one in value]
        return tuple(made) if isinstance(value, tuple) else made
    return value


# ---------------------------------------------------------------- JSON


def _in_json(text: str, change: Change) -> str | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
        data = text.encode()
        leaves = list(_strings(data, ()))
    except (ValueError, RecursionError):
        return None
    ascii_only = text.isascii()
    edits = []
    for start, end in leaves:
        old = json.loads(data[start:end])
        new = change(old)
        if new != old:
            edits.append((start, end, json.dumps(new, ensure_ascii=ascii_only).encode("utf-8", "replace")))
    made = _core.json_splice(data, edits).decode() if edits else text
    return _checked(made, json.loads(made), in_strings(value, change), "JSON")


def _strings(data: bytes, path: tuple[str | int, ...]) -> Iterator[tuple[int, int]]:
    """The spans of all strings that are values."""
    for key, start, end in _core.json_children(data, list(path)):
        if data[start : start + 1] == b'"':
            yield start, end
        elif data[start : start + 1] in (b"{", b"["):
            yield from _strings(data, (*path, key))


# ---------------------------------------------------------------- Python


def _in_python(text: str, change: Change) -> str | None:
    if text.lstrip()[:1] not in ("{", "[", "(") or len(text) > MOST:
        return None
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(value, dict | list | tuple):
        return None
    wanted = in_strings(value, change)
    made = repr(wanted) if repr(value) == text else _literal.rewritten(text, change)
    return _checked(made, ast.literal_eval(made.strip()), wanted, "a Python literal")


# ---------------------------------------------------------------- YAML


def _in_yaml(text: str, change: Change) -> str | None:
    if len(text) > MOST or ("\n" not in text.strip() and ": " not in text and not text.startswith("- ")):
        return None
    value = _yaml.document(text)
    if value is None:
        return None
    wanted = in_strings(value, change)
    written = _yaml.writer(text, value, _STYLES)
    if written is not None:
        return _checked(made := written(wanted), _yaml.document(made), wanted, "YAML")
    if not _yaml.scalars(text):
        return None  # prose that YAML happens to read
    made = _yaml.rewritten(text, change)
    return _checked(made, _yaml.document(made), wanted, "YAML")


def _checked(made: str, read: Any, wanted: Any, carrier: str) -> str:
    if read != wanted:
        raise CannotCarry(f"the payload cannot be written into {carrier} so that it reads as it was meant")
    return made
