"""Everything that is wrong with a file, told at once, each with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from faultwire.errors import Location, UsageError, did_you_mean, printable
from faultwire.faults._describe import settings
from faultwire.profile.yaml import Node, shown
from faultwire.text import safe

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)
Place = tuple[int, int]


class Problems:
    """Gathers what is wrong with one file; `settle` raises it, in the order of the file."""

    def __init__(self, path: str, error: type[UsageError]) -> None:
        self._path = printable(path)
        self._error = error
        self._found: list[UsageError] = []

    def add(self, place: Node | Place, code: str, message: str, hint: str | None = None) -> None:
        """Note a problem. `code` is the part after the class's word: `bad_value`."""
        if isinstance(place, Node):  # a value that is not there stands where its key does
            place = place.key if place.value is None and place.key else (place.line, place.column)
        line, column = place
        word = self._error.default_code.split(".")[0]
        where = Location(self._path, line, column)
        self._found.append(self._error(message, code=f"{word}.{code}", hint=hint, where=where))

    def __len__(self) -> int:
        return len(self._found)

    def settle(self) -> None:
        """Raise what was found, if anything was."""
        found = sorted(self._found, key=_line)
        if found:
            first = found[0]
            also = found[1:]
            raise self._error(first.message, code=first.code, hint=first.hint, where=first.where, also=also)

    def unknown(self, node: Node, key: str, what: str, known: list[str]) -> None:
        """Note a key that `what` does not have."""
        place = node.key or (node.line, node.column)
        found = f"found key {shown(key)}, expected a key of {what}"
        self.add(place, "unknown_key", found, did_you_mean(key, known) if known else None)

    def mapping(self, node: Node, what: str) -> dict[str, Node] | None:
        """The node as a mapping, where nothing means an empty one; None where it is none, which is noted."""
        if node.value is None:
            return {}
        if isinstance(node.value, dict):
            return node.value
        self.add(node, "bad_value", f"found {shown(node.value)} for {what}, expected a mapping")
        return None

    def build(self, model: type[M], node: Node, what: str) -> M | None:
        """A model made from a mapping, or None where that failed, which is noted.

        Nothing is converted: a quoted number is text, and `true` is no number.
        """
        fields = self.mapping(node, f"`{what}`")
        if fields is None:
            return None
        data = {name: field.plain() for name, field in fields.items()}
        try:
            return model.model_validate_json(json.dumps(data), strict=True)
        except ValidationError as error:
            self._translate(error.errors(include_url=False), model, node, what)
            return None

    def _translate(self, errors: list[ErrorDetails], model: type[BaseModel], node: Node, what: str) -> None:
        expected = {setting.name: setting.expected for setting in settings(model)}
        told: set[str] = set()
        for error in errors:
            name = str(error["loc"][0]) if error["loc"] else ""
            if name in told:
                continue  # a value that may be one of several types failed as each of them
            told.add(name)
            place = node.at(error["loc"][:1])
            if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
                self.unknown(place, name, f"`{what}`", list(expected))
            elif error["type"] == "missing" and len(error["loc"]) == 1:
                self.add(node, "bad_value", f"found no `{name}` in `{what}`, expected {expected[name]}")
            elif error["type"] == "value_error":
                self.add(place, "bad_value", f"in `{what}`: {safe(str(error['ctx']['error']))}")
            else:
                self._value(place, error, f"`{what}.{name}`", expected[name])

    def _value(self, field: Node, error: ErrorDetails, name: str, expected: str) -> None:
        inner = field.at(error["loc"][1:])
        joint = "for" if inner is field else "in"
        self.add(inner, "bad_value", f"found {shown(inner.value)} {joint} {name}, expected {expected}")


def _line(error: UsageError) -> tuple[int, int]:
    return (error.where.line or 0, error.where.column or 0) if error.where else (0, 0)
