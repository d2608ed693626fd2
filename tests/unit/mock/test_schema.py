from __future__ import annotations

from typing import Any

import pytest

from faultwire.mock.question import Question
from faultwire.mock.schema import arguments, instance

ASKED = Question("Book 3 seats in Paris, in economy")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, ASKED.text),
        ({"type": "integer"}, 3),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "maximum": 2}, 2),
        ({"type": "integer", "exclusiveMinimum": 3}, 4),
        ({"type": "number", "exclusiveMaximum": 3}, 2.5),
        ({"type": "integer", "multipleOf": 2}, 4),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 3),
        ({"enum": ["first", "economy"]}, "economy"),
        ({"const": 7}, 7),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "string", "maxLength": 4}, "Book"),
        ({"type": "array", "items": {"type": "integer"}}, [3]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [3, 3]),
        ({"type": "array"}, []),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 3),
        ({"oneOf": [{"type": "boolean"}], "title": "x"}, True),
        ({"$ref": "#/nowhere"}, ASKED.text),
        ({}, ASKED.text),
        (True, ASKED.text),
        ({"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}, {"a": 3}),
        ({"properties": {"a": {"type": "integer"}, "b": {}}}, {"a": 3}),
        ({"type": "object"}, {}),
    ],
)
def test_values(schema: Any, value: Any) -> None:
    assert instance(schema, ASKED) == value


def test_min_length_is_padded() -> None:
    assert instance({"type": "string", "minLength": 40}, Question("short")) == "short".ljust(40, "x")


def test_references_and_parts() -> None:
    schema = {
        "$defs": {
            "place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        },
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/place"},
            "both": {
                "allOf": [
                    {"$ref": "#/$defs/place"},
                    {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
                ]
            },
        },
        "required": ["where", "both"],
    }
    assert arguments(schema, ASKED) == {"where": {"city": "Paris"}, "both": {"city": "Paris", "n": 3}}


def test_schemas_that_never_end_do() -> None:
    loop: dict[str, Any] = {"$ref": "#"}
    assert isinstance(arguments(loop, ASKED), dict)
    tree = {
        "type": "object",
        "properties": {f"p{i}": {"$ref": "#"} for i in range(30)},
        "required": [f"p{i}" for i in range(30)],
    }
    assert set(arguments(tree, ASKED)) == set(tree["required"])
    assert instance({"type": "array", "minItems": 10**9, "items": {}}, ASKED) == [ASKED.text]


def test_arguments_are_always_an_object() -> None:
    assert arguments({"type": "string"}, ASKED) == {}
