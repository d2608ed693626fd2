"""JSON Schemas that users write, held against what hostile peers say.

Nothing is fetched for a `$ref`, and patterns run on the linear-time engine: neither a schema nor a
document can hang the judge.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from faultwire.checks._once import compiled, once

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST = 200
"""Characters of a complaint that are shown."""


def checked(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, where it is one. Raises ValueError."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        raise ValueError(f"it is not a JSON Schema: {_line(error)}") from None
    for pattern in _patterns(schema, 0):
        compiled(pattern)
    return schema


def problem(schema: Mapping[str, Any], value: Any) -> str | None:
    """The first way in which a value breaks a schema, with its place, or None. Raises ValueError where
    the schema cannot be applied."""
    try:
        errors = _validator(schema).iter_errors(value)
        first = next(errors, None)
        if first is None:
            return None
        found = _best(chain((first,), errors))
    except _cannot() as error:
        raise ValueError(f"the schema cannot be applied: {type(error).__name__}") from None
    at = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found.absolute_path)
    return f"at `${at[:LONGEST]}`: {_line(found)}"


@cache
def _cannot() -> tuple[type[Exception], ...]:
    from referencing.exceptions import Unresolvable

    return Unresolvable, RecursionError


def _best(errors: Iterator[Any]) -> Any:
    from jsonschema.exceptions import best_match

    return best_match(errors)


@once
def _validator(schema: Mapping[str, Any]) -> Any:
    from referencing import Registry

    return _linear()(dict(schema), registry=Registry())


@cache
def _linear() -> Any:
    from jsonschema import Draft202012Validator, validators

    extend: Any = validators.extend
    return extend(Draft202012Validator, {"pattern": _pattern, "patternProperties": _pattern_properties})


def _pattern(validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(value, "string") and not compiled(pattern).is_match(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, _schema: Any
) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for pattern, inner in patterns.items():
        engine = compiled(pattern)
        for key, member in value.items():
            if engine.is_match(key):
                yield from validator.descend(member, inner, path=key, schema_path=pattern)


def _patterns(schema: Any, depth: int) -> Iterator[str]:
    """Every pattern in a schema, so that one that is not regular is refused before the run."""
    if depth > 64:
        raise ValueError("it has more than 64 levels")
    if isinstance(schema, list):
        for one in schema:
            yield from _patterns(one, depth + 1)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    if isinstance(schema.get("patternProperties"), dict):
        yield from schema["patternProperties"]
    for inner in schema.values():
        yield from _patterns(inner, depth + 1)


def _line(error: Any) -> str:
    text = " ".join(str(getattr(error, "message", None) or type(error).__name__).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
