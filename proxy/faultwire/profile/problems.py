"""Everything that is wrong with a file, reported at once, each with its place."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from faultwire.errors import Location, UsageError, did_you_mean, nearest, printable
from faultwire.faults._api import Fault
from faultwire.faults._describe import inside, settings
from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.yaml import Node, shown
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)
Place = tuple[int, int]
_ITEM_OF_UNION = 3
"""Steps to an item of a list that is one of several types: field, type and index."""


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
        reported: set[str] = set()
        for error in errors:
            name = str(error["loc"][0]) if error["loc"] else ""
            if name in reported:
                continue  # a value that may be one of several types failed as each of them
            reported.add(name)
            place = node.at(error["loc"][:1])
            item = _bad_item(place, (one for one in errors if one["loc"][:1] == error["loc"][:1]))
            if item is not None:
                self._value(place, item, f"`{what}.{name}`", expected[name])
                continue
            if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
                astray = _astray(name, expected) if issubclass(model, Fault) and name != what else None
                if astray is None:
                    self.unknown(place, name, f"`{what}`", list(expected))
                else:
                    found = f"found key {shown(name)}, expected a key of `{what}`"
                    self.add(place.key or place, "unknown_key", found, astray)
            elif error["type"] == "missing" and len(error["loc"]) == 1:
                self.add(node, "bad_value", f"found no `{name}` in `{what}`, expected {expected[name]}")
            elif error["type"] == "value_error":
                self.add(place, "bad_value", f"in `{what}`: {safe(str(error['ctx']['error']))}")
            else:
                self._inside(place, error, f"`{what}.{name}`", expected[name], model)

    def _inside(
        self, field: Node, error: ErrorDetails, name: str, expected: str, model: type[BaseModel]
    ) -> None:
        """Note what is wrong with a value, or with what it holds."""
        *holder, last = error["loc"]
        inner = field.at(error["loc"][1:])
        around, here = inside(model, holder), inside(model, error["loc"])
        own_keys = around is not None and around.keys if holder and isinstance(last, str) else ()
        if own_keys and error["type"] == "extra_forbidden":
            self.unknown(inner, str(last), name, list(own_keys))
        elif own_keys and error["type"] == "missing" and here is not None:
            self.add(inner, "bad_value", f"found no `{last}` in {name}, expected {here.expected}")
        else:
            known = here if inner is not field else None
            self._value(field, error, name, known.expected if known is not None else expected)

    def _value(self, field: Node, error: ErrorDetails, name: str, expected: str) -> None:
        inner = field.at(error["loc"][1:])
        joint = "for" if inner is field else "in"
        close = None
        if error["type"] == "literal_error" and isinstance(inner.value, str):
            close = nearest(inner.value, expected.split("`")[1::2])
        hint = f"did you mean `{close}`?" if close else None
        self.add(inner, "bad_value", f"found {shown(inner.value)} {joint} {name}, expected {expected}", hint)


def _bad_item(place: Node, errors: Iterable[ErrorDetails]) -> ErrorDetails | None:
    """Where a list stands for a value that may be one or several: what is wrong with one of its items. Its
    place then is the item's index alone; the type that failed is left out."""
    if isinstance(place.value, list):
        for error in errors:
            if len(error["loc"]) == _ITEM_OF_UNION and isinstance(error["loc"][1], str):
                return {**error, "loc": (error["loc"][0], error["loc"][2])}
    return None


def _astray(name: str, own: Iterable[str]) -> str | None:
    """A hint for a key of `trigger` or `on` that stands among a fault's settings, None for any other."""
    if get_close_matches(name, list(own), n=1, cutoff=0.8):
        return None
    for holder, model in (("trigger", Trigger), ("on", On)):
        close = get_close_matches(name, list(model.model_fields), n=1, cutoff=0.8)
        if close:
            return f"did you mean `{close[0]}`, a key of `{holder}`?"
    return None


def _line(error: UsageError) -> tuple[int, int]:
    return (error.where.line or 0, error.where.column or 0) if error.where else (0, 0)
