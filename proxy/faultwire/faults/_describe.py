"""What a fault says about itself: the sections of its docstring, and its settings with their bounds."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import BaseModel

    from faultwire.faults._api import Fault

SECTIONS = ("What it does", "Why agents break", "Real-world source", "Example")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: `default` is None where it must be given, else as YAML would write it."""

    name: str
    expected: str
    default: str | None
    description: str


@dataclass(frozen=True, slots=True)
class Description:
    """A fault in words; `sections` has a text for each of `SECTIONS`."""

    name: str
    site: str
    summary: str
    sections: Mapping[str, str]
    settings: tuple[Setting, ...]
    module: str


def describe(fault: type[Fault]) -> Description:
    """Everything that there is to say about a fault."""
    return Description(
        name=fault.name,
        site=fault.site,
        summary=(inspect.getdoc(fault) or "").partition("\n")[0],
        sections=sections(fault),
        settings=settings(fault),
        module=fault.__module__,
    )


def sections(documented: type, titles: Sequence[str] = SECTIONS) -> dict[str, str]:
    """The texts under the headings (`What it does:` and so on) of a docstring, unindented."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (inspect.getdoc(documented) or "").splitlines():
        title = line.removesuffix(":")
        if line.endswith(":") and title in titles:
            current = found.setdefault(title, [])
        else:
            current.append(line)
    return {title: inspect.cleandoc("\n" + "\n".join(lines)).strip("\n") for title, lines in found.items()}


@cache
def settings(model: type[BaseModel]) -> tuple[Setting, ...]:
    """The settings of any model, in order."""
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    return tuple(
        Setting(
            name=name,
            expected=_expected(field, schema.get("$defs", {})),
            default=None if name in required else json.dumps(field.get("default")),
            description=field.get("description", ""),
        )
        for name, field in schema.get("properties", {}).items()
    )


@dataclass(frozen=True, slots=True)
class Inside:
    """What a model holds at one place: in words, and its keys where it is a mapping with keys of its own."""

    expected: str
    keys: tuple[str, ...]


def inside(model: type[BaseModel], path: Sequence[str | int]) -> Inside | None:
    """What belongs at the end of a path of keys and indexes, None where there is no such place or where
    several types may stand."""
    schema = model.model_json_schema()
    defs = schema.get("$defs", {})
    found: Mapping[str, Any] | None = schema
    for step in path:
        found = None if found is None else _step(found, step)
        found = None if found is None else _alone(found, defs)
    return None if found is None else Inside(_expected(found, defs), tuple(found.get("properties", ())))


def _alone(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A schema that is the only one it can be, apart from nothing."""
    given = [option for option in schema.get("anyOf", (schema,)) if option.get("type") != "null"]
    one: Mapping[str, Any] = given[0]
    if len(given) > 1:
        return None
    return defs[one["$ref"].rpartition("/")[2]] if "$ref" in one else one


def _step(schema: Mapping[str, Any], step: str | int) -> Mapping[str, Any] | None:
    if isinstance(step, int):
        places = schema.get("prefixItems", ())
        found = places[step] if step < len(places) else schema.get("items")
    else:
        found = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None


def _expected(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """A type with its bounds, in words: `an integer from 1 to 5`."""
    options = _options(schema, defs)
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"


def _options(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> list[str]:
    if "$ref" in schema:
        return _options(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        given = [option for option in schema["anyOf"] if option.get("type") != "null"]
        several = [option for option in given if option.get("items") in given]
        words = [one for option in given if option not in several for one in _options(option, defs)]
        many = ("a list of them" if "enum" in one["items"] else _expected(one, defs) for one in several)
        return [*words, *many]
    if "enum" in schema or "const" in schema:
        return [f"`{value}`" for value in schema.get("enum", [schema.get("const")])]
    return [_one(schema, defs)]


def _one(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    kind = str(schema.get("type"))
    if kind == "object" and "properties" in schema:
        fields = (f"{name}: {_expected(field, defs)}" for name, field in schema["properties"].items())
        return "{" + ", ".join(fields) + "}"
    if kind == "array" and "prefixItems" in schema:
        places = schema["prefixItems"]
        return f"a list of {len(places)} {_MANY.get(places[0].get('type'), 'values')}"
    if kind == "array":
        return f"a list of {_MANY.get(schema.get('items', {}).get('type'), 'values')}"
    return _WORDS.get(kind, "a value") + _bounds(schema)


_WORDS = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "`true` or `false`",
    "string": "text",
    "object": "a mapping of names to text",
}
_MANY = {"integer": "integers", "number": "numbers", "string": "texts"}


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if schema.get("type") == "integer" and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    elif "exclusiveMinimum" in schema:
        above = f" above {_number(schema['exclusiveMinimum'])}"
        return above if high is None else f"{above}, up to {_number(high)}"
    if "maxLength" in schema:
        return f" of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    if low is not None and high is not None:
        return f" from {_number(low)} to {_number(high)}"
    return "" if low is None else f" from {_number(low)} up"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
