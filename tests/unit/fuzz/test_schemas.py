"""Generators by schema: valid as claimed, invalid as claimed, and no claim where none can be made."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from faultwire.dice import Dice
from faultwire.fuzz.schemas import generated, validity

SCHEMAS = [
    {"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 9}}, "required": ["a"]},
    {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2, "maxItems": 4},
    {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 30}]},
    {
        "$ref": "#/$defs/p",
        "$defs": {
            "p": {"type": "object", "properties": {"q": {"$ref": "#/$defs/r"}}},
            "r": {"type": "boolean"},
        },
    },
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"type": "integer", "multipleOf": 5, "minimum": 5, "maximum": 50},
    {"const": {"a": 1}},
    {"type": ["string", "null"], "maxLength": 2},
    {"required": ["other"], "properties": {"deep": {"properties": {"n": {"type": "number"}}}}},
]


def dice(n):
    return Dice(1, "test").held("x", "y", n)


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_what_is_generated_is_valid(schema):
    texts = [generated(schema, dice(n)) for n in range(40)]
    valid = [one for one in texts if one is not None]
    assert len(valid) == 40
    for one in valid:
        Draft202012Validator(schema).validate(json.loads(one))
        assert validity(schema, one) == "valid"


@pytest.mark.parametrize(
    "schema", [{"type": "string", "pattern": "^z{9}$"}, {"$ref": "https://x.test/s"}, {"not": {}}]
)
def test_where_no_value_can_be_made_there_is_none(schema):
    assert all(generated(schema, dice(n)) is None for n in range(10))


def test_validity_is_that_of_the_validator():
    schema = SCHEMAS[0]
    assert validity(schema, '{"a": 4}') == "valid"
    assert validity(schema, '{"a": "4"}') == "invalid"
    assert validity(schema, "{") == "invalid"
    assert validity(None, "{}") == "unknown"
    assert validity({"type": 7}, "{}") == "unknown"
