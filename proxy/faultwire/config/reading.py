"""One configuration while it is read: what is wrong with it, what means nothing in it, what is secret."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from faultwire.config.hidden import Hidden
from faultwire.errors import ConfigError, Location, nearest, printable
from faultwire.patterns import secret_spans
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from faultwire.errors import UsageError
    from faultwire.profile.problems import Place

M = TypeVar("M", bound=BaseModel)
_DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


@cache
def described(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of each field of a model; made once, since a file may ask for it thousands of times."""
    found: dict[str, Any] = model.model_json_schema().get("properties", {})
    return found


class Reading(Problems):
    """Gathers problems and warnings; both in the order of the file.

    `filled` are the nodes whose whole text came from a variable: where a number is wanted, they are read
    as one. In the `lenient` parts an unknown key is a warning. `first` are warnings of `.env` beside it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), ConfigError)
        self.where = path
        self.folder = path.absolute().parent
        self.filled: set[int] = set()
        self.lenient = False
        self.first: tuple[str, ...] = ()
        self._hidden = Hidden()
        self._warned: dict[Place, str] = {}
        self._astray: list[tuple[Node, str, str, str]] = []
        self._reported: set[Place] = set()

    def hide(self, value: str, name: str) -> None:
        """Never show this value: it is what the variable `name` holds."""
        self._hidden.hide(value, name)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What means nothing, each with its place."""
        found = sorted(self._warned.items())
        return (*self.first, *(f"{Location(self._path, *place)}: {text}" for place, text in found))

    def settle(self) -> None:
        """Raise what was found, if anything was. Nobody reads warnings beside errors, and what is missing may
        be a key that was misspelt, so those that are close to a known key are reported, too."""
        if len(self):
            for node, key, what, close in self._astray:
                super().unknown(node, key, what, [close])
        super().settle()

    def warn(self, node: Node | Place, message: str) -> None:
        """Note what means nothing; of several at one place the first."""
        place = (node.key or (node.line, node.column)) if isinstance(node, Node) else node
        self._warned.setdefault(place, self._safe(message))

    def add(self, place: Node | Place, code: str, message: str, hint: str | None = None) -> None:
        """Note a problem. What follows from one at the same place is not reported again."""
        if isinstance(place, Node):
            at = (place.line, place.column)
            if at in self._reported and not (code == "variable" or isinstance(place.value, dict | list)):
                return
            if code in ("variable", "literal_key"):
                self._reported.add(at)
        elif code == "literal_key":
            self._reported.add(place)
        super().add(place, code, self._safe(message), self._safe(hint) if hint else None)

    def within(self, node: Node, what: str, error: UsageError) -> None:
        """Note the errors of another file that this one names."""
        for one in (error, *error.also):
            place = f"in {what}: {one.where}: " if one.where else ""
            self.add(node, one.code.partition(".")[2], f"{place}{one.message}", one.hint)

    def unknown(self, node: Node, key: str, what: str, known: list[str]) -> None:
        """Note a key that `what` does not have."""
        if not self.lenient:
            super().unknown(node, key, what, known)
            return
        self.strays({key: node}, known, what)

    def strays(
        self, fields: Mapping[str, Node], known: Sequence[str], what: str, elsewhere: Collection[str] = ()
    ) -> None:
        """Warn of every key that is none of `known`; it may mean one of those that stand `elsewhere`."""
        for key, node in fields.items():
            if key not in known:
                close = nearest(key, [*known, *elsewhere])
                if close:
                    self._astray.append((node, key, what, close))
                hint = f"did you mean `{close}`?" if close else f"known: {', '.join(sorted(known))}"
                self.warn(node, f"{shown(key)} is not a key of {what} and is ignored; {hint}")

    def flakestorm(
        self,
        model: type[M],
        node: Node,
        what: str,
        *,
        elsewhere: Collection[str] = (),
        notes: Mapping[str, str] | None = None,
    ) -> M | None:
        """A model from a section that Flakestorm has, too: an unknown key is a warning, and nothing is as
        if the key were not there. `elsewhere` are keys that mean something, but not here; `notes` says for
        single keys what to write instead."""
        fields = self.mapping(node, f"`{what}`")
        if fields is None:
            return None
        known = list(model.model_fields)
        kept: dict[str, Node] = {}
        for key, value in fields.items():
            if key in known:
                if value.value is not None:
                    kept[key] = value
            elif key in (notes or {}):
                self.warn(value, f"`{key}` is ignored in `{what}`: {(notes or {})[key]}")
            elif key in elsewhere:
                self.warn(value, f"`{key}` is ignored by {what}")
            else:
                self.strays({key: value}, known, f"`{what}`", elsewhere)
        return self.build(model, Node(kept, node.line, node.column, node.key), what)

    def build(self, model: type[M], node: Node, what: str) -> M | None:
        """A model made from a mapping; numbers that came from variables are read as such."""
        if isinstance(node.value, dict) and any(id(value) in self.filled for value in node.value.values()):
            wanted = described(model)
            inner = {key: self._number(value, wanted.get(key, {})) for key, value in node.value.items()}
            node = Node(inner, node.line, node.column, node.key)
        return super().build(model, node, what)

    def _value(self, field: Node, error: ErrorDetails, name: str, expected: str) -> None:
        inner = field.at(error["loc"][1:])
        text = inner.value if isinstance(inner.value, str) and _DIGITS.fullmatch(inner.value) else ""
        if text and id(inner) not in self.filled and expected.startswith(("an integer", "a number")):
            message = f"found the text {shown(text)} for {name}, expected {expected}"
            # A longer number is a text without any quotes.
            self.add(inner, "bad_value", message, "take the quotes off" if len(text) <= 18 else None)
            return
        super()._value(field, error, name, expected)

    def _number(self, node: Node, wanted: Mapping[str, Any]) -> Node:
        kinds = {wanted.get("type"), *(one.get("type") for one in wanted.get("anyOf", ()))}
        if id(node) not in self.filled or "string" in kinds or not isinstance(node.value, str):
            return node
        value: int | float | bool | str = node.value
        try:
            if kinds & {"integer"}:
                value = int(node.value)
            elif kinds & {"number"}:
                value = float(node.value)
            elif kinds & {"boolean"}:
                value = _WORDS.get(node.value.lower(), node.value)
        except ValueError:
            return node
        return Node(value, node.line, node.column, node.key)

    def _safe(self, message: str) -> str:
        message = self._hidden.mask(message)
        data = message.encode()
        for start, end, _ in reversed(secret_spans(data)):
            data = data[:start] + b"[secret]" + data[end:]
        return data.decode("utf-8", "replace")


def text(node: Node | None, what: str, reading: Reading, *, default: str = "") -> str:
    """A text, or the default where there is none; something else is noted."""
    if node is None or node.value is None:
        return default
    if isinstance(node.value, str) and node.value:
        return node.value
    found = shown(node.value) if node.value != "" else "an empty text"
    hint = "put it in quotes" if isinstance(node.value, int | float) else None
    reading.add(node, "bad_value", f"found {found} for `{what}`, expected text", hint)
    return default


def texts(node: Node | None, what: str, reading: Reading) -> tuple[str, ...]:
    """A list of texts, or one text by itself."""
    if node is None or node.value is None:
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    found = [text(item, what, reading) for item in items]
    return tuple(one for one in found if one)


def listed(node: Node | None, what: str, reading: Reading) -> list[Node]:
    """The items of a list; something else is noted."""
    if node is None or node.value is None:
        return []
    if isinstance(node.value, list):
        return node.value
    hint = "start each entry with `-`"
    reading.add(node, "bad_value", f"found {shown(node.value)} for `{what}`, expected a list", hint)
    return []


__all__ = ["Reading", "listed", "printable", "text", "texts"]
