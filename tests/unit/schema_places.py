"""Where a stock validator of JSON Schema finds a file wrong, as an editor marks it."""

from __future__ import annotations

from typing import Any

from jsonschema.exceptions import ValidationError

from faultwire.profile.yaml import Node

NAMES = ("const", "enum")
"""What says of an entry which of several forms it has."""


def place(validator: Any, node: Node) -> int | None:
    """The line of the first problem; None where there is none."""
    found = [_deepest(one) for one in validator.iter_errors(node.plain())]
    return min((_line(one, node) for one in found), default=None)


def _deepest(error: ValidationError) -> ValidationError:
    """Of an entry that has none of several forms: what is wrong in the form that fits best."""
    while error.context:
        forms: dict[Any, list[ValidationError]] = {}
        for one in error.context:
            forms.setdefault(one.schema_path[0], []).append(one)
        error = min((_worst(form) for form in forms.values()), key=_distance)
    return error


def _worst(form: list[ValidationError]) -> ValidationError:
    return max(form, key=_distance)


def _distance(error: ValidationError) -> tuple[int, int, int]:
    """How far a form is from what stands there: another type, or another name for what it is, is farthest."""
    depth = len(error.relative_path)
    named = error.validator in NAMES and list(error.relative_path)[-1:] == ["type"]
    wrong_type = error.validator in ("type", *NAMES) and not depth
    other = error.validator in ("required", "additionalProperties") and not depth
    return (3 if named or wrong_type else 2 if other else 0, len(_extra(error)), -depth)


def _extra(error: ValidationError) -> list[str]:
    if error.validator != "additionalProperties" or not isinstance(error.instance, dict):
        return []
    return [name for name in error.instance if name not in error.schema.get("properties", {})]


def _line(error: ValidationError, node: Node) -> int:
    here = node.at(tuple(error.absolute_path))
    for name in _extra(error):
        key = here.at((name,)).key
        if key is not None:
            return key[0]
    return here.line
