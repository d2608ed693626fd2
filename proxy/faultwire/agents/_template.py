"""Requests as users write them: text with `{prompt}` and other names in it.

A value never breaks out of its place. In a JSON template it is encoded as JSON: escaped where the name
stands inside a text, a whole value where it stands alone. In a form it is percent-encoded; in any other
text it stands as it is.
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - fixed, linear patterns
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote_plus

from faultwire.errors import AgentError
from faultwire.mutations._fielded import lacks
from faultwire.mutations._lines import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping

Shape = Literal["json", "form", "text"]
PROMPT, TURNS, SESSION = "prompt", "turns", "session"
PLACES = frozenset({PROMPT, TURNS, SESSION})
"""The names that every prompt fills; any other one is that of a line."""
FORM = "application/x-www-form-urlencoded"
_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Template:
    """A text with places. `shape` says how values are encoded; JSON is recognised by the text itself.

    Raises ValueError for a `{turns}` that is no value of a JSON template.
    """

    def __init__(self, text: str, *, form: bool = False, plain: bool = False) -> None:
        self.text = text
        self._parts = _divided(text)
        self.shape: Shape = "form" if form else "text"
        if not (form or plain) and self._is_json():
            self.shape = "json"
        if any(name == TURNS and (quoted or self.shape != "json") for _, name, quoted in self._parts):
            raise ValueError("found `{turns}` inside a text, expected it in place of a JSON list")

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(name for _, name, _ in self._parts if name)

    def filled(self, values: Mapping[str, str | tuple[str, ...]]) -> str:
        """The text with a value at each place. Raises AgentError where one is missing."""
        done = []
        for literal, name, quoted in self._parts:
            done.append(literal)
            if name:
                done.append(self._encoded(_value(name, values), quoted))
        return "".join(done)

    def _encoded(self, value: str | tuple[str, ...], quoted: bool) -> str:
        if self.shape == "json":
            text = json.dumps(value)
            return text[1:-1] if quoted else text
        value_text = value if isinstance(value, str) else json.dumps(value)
        return quote_plus(value_text.encode("utf-8", "surrogatepass")) if self.shape == "form" else value_text

    def _is_json(self) -> bool:
        filled = "".join(
            part + ("x" if quoted else '"x"' if name else "") for part, name, quoted in self._parts
        )
        try:
            json.loads(filled)
        except (ValueError, RecursionError):
            return False
        return True


def _divided(text: str) -> list[tuple[str, str, bool]]:
    """Literal text, the name behind it (empty at the end), and whether that stands in a JSON text."""
    parts: list[tuple[str, str, bool]] = []
    at, quoted = 0, False
    for found in _NAME.finditer(text):
        literal = text[at : found.start()]
        quoted = _ends_quoted(literal, quoted)
        parts.append((literal, found[1], quoted))
        at = found.end()
    parts.append((text[at:], "", False))
    return parts


def _ends_quoted(literal: str, quoted: bool) -> bool:
    """Is a JSON text open at the end of this piece?"""
    escaped = False
    for char in literal:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = quoted
        elif char == '"':
            quoted = not quoted
    return quoted


def _value(name: str, values: Mapping[str, str | tuple[str, ...]]) -> str | tuple[str, ...]:
    if name in values:
        return values[name]
    found = values.get(normalised(name))
    if found is None:
        raise AgentError(
            lacks(name),
            code="agent.template",
            hint="a structured prompt has lines like `Product name: …`; `{productName}` and "
            "`{product_name}` both mean that line",
        )
    return found
