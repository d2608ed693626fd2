"""Other arguments of a tool call, of the types that its schema asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.faults._values import altered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.dice import FaultDice

_SCHEMAS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "schema",
    "json",
)
"""Members that hold a tool's JSON schema, or lead to it, in the requests of the protocols."""
_DEEPEST = 12


def properties(request: bytes | None, tool: str) -> dict[str, Any]:
    """What a request declares of a tool's arguments, by name; empty where it declares nothing."""
    if not request or wire.is_heavy(request):
        return {}
    try:
        document = json.loads(request)
    except (ValueError, RecursionError):
        return {}
    for declared in _declarations(document.get("tools") if isinstance(document, dict) else None, 0):
        if declared.get("name") == tool:
            return _properties(declared, 0)
    return {}


def _declarations(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        yield value
    if depth < _DEEPEST:
        for member in members:
            yield from _declarations(member, depth + 1)


def _properties(declared: dict[str, Any], depth: int) -> dict[str, Any]:
    found = declared.get("properties")
    if isinstance(found, dict):
        return found
    inner = (declared[key] for key in _SCHEMAS if isinstance(declared.get(key), dict))
    return next((there for one in inner if depth < 3 and (there := _properties(one, depth + 1))), {})


def other_values(arguments: str, dice: FaultDice, declared: dict[str, Any]) -> str:
    """Arguments that hold other values of the same types: one of an enumeration by another of it, numbers,
    dates and known names by others; where there are none, the first argument that can be changed. The same
    text where nothing can.
    """
    try:
        given = json.loads(arguments)
        text = altered(arguments, dice)
        made = json.loads(text)
    except (ValueError, RecursionError):
        return altered(arguments, dice)
    if not isinstance(given, dict) or not isinstance(made, dict):
        return text
    enumerated = dict(_enumerated(given, declared, dice))
    if made == given and not enumerated:
        enumerated = _first_changed(given)
    return json.dumps({**made, **enumerated}, ensure_ascii=False) if enumerated else text


def _enumerated(
    given: dict[str, Any], declared: dict[str, Any], dice: FaultDice
) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        schema = declared.get(name)
        allowed = schema.get("enum") if isinstance(schema, dict) else None
        others = [one for one in allowed if one != value] if isinstance(allowed, list) else []
        if others:
            yield name, dice.choice(others, f"enum {name}")


def _first_changed(given: dict[str, Any]) -> dict[str, Any]:
    texts = [name for name, value in given.items() if isinstance(value, str)]
    if len(texts) > 1 and given[texts[0]] != given[texts[1]]:  # mixed up
        return {texts[0]: given[texts[1]], texts[1]: given[texts[0]]}
    return next(({name: new} for name, value in given.items() if (new := _other(value)) != value), {})


def _other(value: Any) -> Any:
    """Another value of that type; the same of null and of what is empty."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            first, _, last = value.strip().rpartition(" ")
            return first if first and last else f"{value}-2" if value else value
        case [_, _, *_]:
            return value[:-1]
        case [one]:
            return [_other(one)]
        case dict():
            return {**value, **_first_changed(value)}
        case _:
            return value
