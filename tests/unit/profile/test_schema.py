"""The schema and the loader agree, on every profile of ours and on every fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from faultwire.faults._describe import describe
from faultwire.faults._registry import BUILTIN
from faultwire.profile.find import builtin
from faultwire.profile.load import parse
from faultwire.profile.schema import schema
from faultwire.profile.yaml import read

SCHEMA = schema()
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def fits(value: Any, schema: Any) -> bool:
    """JSON Schema 2020-12, as far as our schemas use it."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return (
        (not kinds or any(of_type(value, kind) for kind in kinds))
        and ("enum" not in schema or value in schema["enum"])
        and ("const" not in schema or value == schema["const"])
        and ("anyOf" not in schema or any(fits(value, option) for option in schema["anyOf"]))
        and ("oneOf" not in schema or sum(fits(value, option) for option in schema["oneOf"]) == 1)
        and (not isinstance(value, dict) or fits_object(value, schema))
        and (not isinstance(value, list) or all(fits(item, schema.get("items", {})) for item in value))
        and (not isinstance(value, int | float) or fits_number(value, schema))
        and (not isinstance(value, str) or re.search(schema.get("pattern", ""), value) is not None)
    )


def of_type(value: Any, kind: str) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def fits_number(value: float, schema: Any) -> bool:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    return low <= value <= high and value > schema.get("exclusiveMinimum", value - 1)


def fits_object(value: dict[str, Any], schema: Any) -> bool:
    known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    if any(name not in value for name in schema.get("required", ())):
        return False
    for name, item in value.items():
        if name in known:
            if not fits(item, known[name]):
                return False
        elif more is False or (isinstance(more, dict) and not fits(item, more)):
            return False
    return True


def accepted(text: str) -> bool:
    return fits(read(text, "p.yaml").plain(), SCHEMA)


def test_it_is_a_schema() -> None:
    json.dumps(SCHEMA)
    refs = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert refs <= set(SCHEMA["$defs"])


@pytest.mark.parametrize("path", sorted(builtin().glob("*.yaml")), ids=lambda path: path.stem)
def test_every_profile_of_ours_fits(path: Path) -> None:
    assert accepted(path.read_text("utf-8"))


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_every_example_fits_and_loads(fault: Any) -> None:
    example = describe(fault).sections["Example"]
    assert parse(example, "example.yaml").entries[0].fault.name == fault.name
    assert accepted(example)


@pytest.mark.parametrize(
    "text",
    [
        "faults: [{latncy: {ms: 1}}]",
        "faults: [{latency: {}}]",
        "faults: [latency]",
        "faults: [{latency: {ms: -1}}]",
        "faults: [{latency: {ms: 1}, triger: {}}]",
        "faults: [{latency: {ms: 1}, trigger: {probability: 2}}]",
        "faults: [{latency: {ms: 1}, reset: {}}]",
        "name: x",
        "faults: []\nchaos: {}",
        "chaos: {tool_fault: []}",
    ],
)
def test_what_does_not_load_does_not_fit(text: str) -> None:
    assert not accepted(text)
    with pytest.raises(Exception, match="profile"):
        parse(text, "bad.yaml")
