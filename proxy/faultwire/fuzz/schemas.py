"""Values of a JSON schema, and whether a text is valid by one.

What is generated is asked of `jsonschema` before it is claimed, so a keyword that the generator does not know
(a pattern, a format) makes no false claim: there is no value then.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from jsonschema import exceptions
from jsonschema.validators import validator_for
from referencing.exceptions import Unresolvable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.dice import FaultDice

Validity = Literal["valid", "invalid", "unknown"]
DEEPEST = 6
_WORDS = ("Paris", "ok", "order 7", "a", "2026-03-01", "https://shop.test/7")


def validity(schema: Mapping[str, Any] | None, text: str) -> Validity:
    """Is a text valid by a schema? Unknown without one, or where it is none."""
    if schema is None:
        return "unknown"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return "invalid"
    try:
        return "valid" if validator_for(schema)(schema).is_valid(document) else "invalid"
    except (
        exceptions.SchemaError,
        Unresolvable,
        TypeError,
        RecursionError,
        ValueError,
    ):
        return "unknown"


def generated(schema: Mapping[str, Any], dice: FaultDice) -> str | None:
    """A text that is valid by the schema; None where none could be made."""
    try:
        text = json.dumps(_value(schema, schema, dice, "$", 0), ensure_ascii=False)
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
    return text if validity(schema, text) == "valid" else None


def _value(schema: Any, root: Mapping[str, Any], dice: FaultDice, place: str, depth: int) -> Any:
    if not isinstance(schema, dict):
        return "text"
    if "$ref" in schema:
        return _value(_referred(root, str(schema["$ref"])), root, dice, place, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return dice.choice(schema["enum"], place)
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            options = [one for one in schema[key] if one.get("type") != "null"] or schema[key]
            chosen = options[0] if depth >= DEEPEST else dice.choice(options, f"{place} {key}")
            return _value({**schema, key: None, **chosen}, root, dice, place, depth + 1)
    return _typed(schema, root, dice, place, depth)


def _typed(schema: dict[str, Any], root: Mapping[str, Any], dice: FaultDice, place: str, depth: int) -> Any:
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else dice.choice(kinds, f"{place} type")
    if kind == "object":
        return _object(schema, root, dice, place, depth)
    if kind == "array":
        low = int(schema.get("minItems", 0))
        count = min(low + int(dice.unit(f"{place} count") * 3), int(schema.get("maxItems", low + 3)))
        count = low if depth >= DEEPEST else count
        return [_value(schema.get("items", {}), root, dice, f"{place}[{n}]", depth + 1) for n in range(count)]
    if kind in ("integer", "number"):
        return _number(schema, dice, place, whole=kind == "integer")
    if kind == "boolean":
        return dice.unit(place) < 0.5
    return None if kind == "null" else _text(schema, dice, place)


def _object(schema: dict[str, Any], root: Mapping[str, Any], dice: FaultDice, place: str, depth: int) -> Any:
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    kept = [
        name
        for name in properties
        if name in required or (depth < DEEPEST and dice.unit(f"{place}.{name}?") < 0.6)
    ]
    kept += [name for name in required if name not in properties]
    return {name: _value(properties.get(name, {}), root, dice, f"{place}.{name}", depth + 1) for name in kept}


def _number(schema: dict[str, Any], dice: FaultDice, place: str, *, whole: bool) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", schema.get("maximum", 100) - 100))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 200))
    step = schema.get("multipleOf", 1 if whole else None)
    found = low + dice.unit(place) * (high - low)
    found = step * round(found / step) if step else found
    if found <= low and "exclusiveMinimum" in schema:
        found += step or (high - low) / 2
    return int(found) if whole else float(found)


def _text(schema: dict[str, Any], dice: FaultDice, place: str) -> str:
    text = dice.choice(_WORDS, place)
    low, high = int(schema.get("minLength", 0)), int(schema.get("maxLength", 1 << 20))
    return (text + "x" * max(0, low - len(text)))[:high]


def _referred(root: Mapping[str, Any], reference: str) -> Any:
    """The part of a schema that a local reference means. Raises LookupError."""
    if not reference.startswith("#"):
        raise LookupError(reference)
    found: Any = root
    for part in filter(None, reference[1:].split("/")):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found
