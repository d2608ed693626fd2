"""Values that satisfy a JSON Schema, made from what was asked.

Covers what tools are described with: types, `enum`, `const`, `default`, bounds, lengths, formats,
`anyOf`/`oneOf`/`allOf`, local `$ref`. The same schema and question always give the same value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faultwire.mock.question import Question

Schema = dict[str, Any]
_DEEPEST = 8
_LONGEST = 4096
_MOST = 10_000
"""Values made for one schema: references that multiply end here."""
_UNSET = object()
_FIXED: dict[str, Any] = {"boolean": True, "null": None}
_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def arguments(schema: Schema, question: Question) -> dict[str, Any]:
    """The arguments of a tool call."""
    value = _Maker(schema, question).value(schema, "", 0)
    return value if isinstance(value, dict) else {}


def instance(schema: Schema, question: Question) -> Any:
    """Any value that the schema allows."""
    return _Maker(schema, question).value(schema, "", 0)


class _Maker:
    def __init__(self, root: Schema, question: Question) -> None:
        self._root = root
        self._question = question
        self._left = _MOST

    def value(self, schema: Any, name: str, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            return None
        schema = self._resolved(schema)
        fixed = next((schema[key] for key in ("const", "default") if key in schema), _UNSET)
        if fixed is not _UNSET:
            return fixed
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._question.pick(schema["enum"])
        kind = _type(schema)
        if kind in _FIXED:
            return _FIXED[kind]
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        return self._text(schema, name)

    def _resolved(self, schema: Any) -> Schema:
        """Follow references and choices until a plain schema is left."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {}
            if isinstance(schema.get("$ref"), str):
                schema = self._target(schema["$ref"])
                continue
            options = next((schema[key] for key in ("anyOf", "oneOf") if schema.get(key)), None)
            if isinstance(options, list):
                real = [option for option in options if _type(option) != "null"]
                schema = {**_without(schema, "anyOf", "oneOf"), **_dict((real or options)[0])}
                continue
            if isinstance(schema.get("allOf"), list):
                parts = [self._resolved(part) for part in schema["allOf"]]
                schema = _merged(_without(schema, "allOf"), parts)
                continue
            return schema
        return {}

    def _target(self, reference: str) -> Any:
        found: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        """The required members; where none are, the first one."""
        members = _dict(schema.get("properties"))
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        if not names:
            names = list(members)[:1] if depth == 0 else []
        if depth >= _DEEPEST:
            return {}
        return {name: self.value(members.get(name, {}), name, depth + 1) for name in names}

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        """As many elements as there must be, at least one where their schema is given."""
        least = schema.get("minItems")
        size = least if isinstance(least, int) and 0 < least <= _LONGEST else int("items" in schema)
        if depth >= _DEEPEST:
            return []
        return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(size)]

    def _number(self, schema: Schema, *, whole: bool) -> int | float:
        low, high = _bounds(schema, whole=whole)
        step = schema.get("multipleOf")
        asked = self._question.number()
        value: float = 1 if asked is None else asked
        if low is not None and value < low:
            value = low
        if high is not None and value > high:
            value = high
        if isinstance(step, int | float) and step > 0:
            value = -(-value // step) * step
            value = value - step if high is not None and value > high else value
        return int(value) if whole or value == int(value) else value

    def _text(self, schema: Schema, name: str) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        text = self._question.text_for(name, str(schema.get("description") or ""))
        least, most = schema.get("minLength"), schema.get("maxLength")
        if isinstance(least, int) and len(text) < least <= _LONGEST:
            text = text.ljust(least, "x")
        return text[:most] if isinstance(most, int) and most >= 0 else text


def _type(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    if isinstance(schema, dict) and "properties" in schema:
        return "object"
    return "array" if isinstance(schema, dict) and "items" in schema else "string"


def _bounds(schema: Schema, *, whole: bool) -> tuple[float | None, float | None]:
    """Inclusive bounds; an exclusive one is moved by one, or by a little."""
    margin = 1 if whole else 0.5
    low, high = schema.get("minimum"), schema.get("maximum")
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(over, int | float) and not isinstance(over, bool):
        low = over + margin
    if isinstance(under, int | float) and not isinstance(under, bool):
        high = under - margin
    return (
        low if isinstance(low, int | float) else None,
        high if isinstance(high, int | float) else None,
    )


def _merged(schema: Schema, parts: list[Schema]) -> Schema:
    merged = dict(schema)
    for part in parts:
        members = {**_dict(merged.get("properties")), **_dict(part.get("properties"))}
        required = [*(merged.get("required") or []), *(part.get("required") or [])]
        merged = {**merged, **part}
        if members:
            merged |= {"properties": members, "required": required}
    return merged


def _without(schema: Schema, *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
