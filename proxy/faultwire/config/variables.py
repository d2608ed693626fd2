"""Variables in the strings of a configuration: `${NAME}`, `${NAME:-default}`, and `$${` for `${` itself.

Where Flakestorm reads `$NAME` (the agent's endpoint, header and query values), so do we; `$$` is a `$`
there. What a variable holds is never shown: a message shows its name.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from faultwire.profile.yaml import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.config.reading import Reading

MAX_FILLED = 4_000_000
"""Characters that variables may bring into one configuration."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BRACED = re.compile(rf"\$(?P<escape>\$)?\{{(?:(?P<name>{_NAME})(?::-(?P<default>[^}}]*))?\}})?")
_BARE = re.compile(
    rf"\$(?P<escape>\$)|\$\{{(?:(?P<name>{_NAME})(?::-(?P<default>[^}}]*))?\}})?|\$(?P<bare>{_NAME})"
)
_WHOLE = re.compile(rf"\$\{{{_NAME}(?::-[^}}]*)?\}}")

_DOLLAR = ("endpoint", "headers", "query_params")
"""Below `agent`, where `$NAME` is a variable too."""

Path = tuple[str, ...]


class Filler:
    """Fills in the variables of one configuration."""

    def __init__(self, environ: Mapping[str, str], reading: Reading, unused: Callable[[Path], bool]) -> None:
        self._environ = environ
        self._reading = reading
        self._unused = unused
        self._room = MAX_FILLED

    def fill(self, node: Node, path: Path = ()) -> Node:
        """The same tree with every string filled in; problems are noted."""
        if isinstance(node.value, dict):
            inner = {key: self.fill(value, (*path, key)) for key, value in node.value.items()}
            return Node(inner, node.line, node.column, node.key)
        if isinstance(node.value, list):
            return Node([self.fill(value, path) for value in node.value], node.line, node.column, node.key)
        if not isinstance(node.value, str) or "$" not in node.value:
            return node
        return self._text(node, node.value, path)

    def _text(self, node: Node, text: str, path: Path) -> Node:
        dollar = path[:1] == ("agent",) and path[1:2] != () and path[1] in _DOLLAR
        missing: list[str] = []

        def one(match: re.Match[str]) -> str:
            if match["escape"]:
                return match[0][1:] if not dollar else "$"
            bare = match.groupdict().get("bare")
            name = match["name"] or bare
            if name is None:
                missing.append("")
                return match[0]
            value = self._value(name, match.groupdict().get("default"))
            if value is None:
                missing.append(name)
                return match[0]
            self._reading.hide(value, name)
            self._room -= len(value)
            return value if self._room >= 0 else ""

        filled = (_BARE if dollar else _BRACED).sub(one, text)
        made = Node(filled, node.line, node.column, node.key)
        if _WHOLE.fullmatch(text):
            self._reading.filled.add(id(made))
        if missing and self._unused(path):
            made.value = None
        elif missing:
            for name in dict.fromkeys(missing):
                self._refuse(node, name, dollar)
        elif self._room < 0:
            self._reading.add(node, "bad_value", f"found more than {MAX_FILLED} characters in variables")
        return made

    def _value(self, name: str, default: str | None) -> str | None:
        """What a variable holds; an empty one gives way to a default, as in a shell."""
        value = self._environ.get(name)
        if default is not None and not value:
            return default
        return value

    def _refuse(self, node: Node, name: str, dollar: bool) -> None:
        escape = "`$$` for a `$`" if dollar else "`$${` for `${`"
        if not name:
            message = "found `${` without a variable's name, expected `${NAME}` or `${NAME:-default}`"
            self._reading.add(node, "variable", message, f"write {escape} itself")
            return
        message = f"found no variable `{name}`, expected it in the environment or in `.env` beside this file"
        hint = f"set it, or write `${{{name}:-default}}`; {escape} itself"
        self._reading.add(node, "variable", message, hint)
