from __future__ import annotations

import json

import pytest

from faultwire.faults._arguments import other_values, properties
from faultwire.faults.model.wrong_tool_arguments import WrongToolArguments, wrong

GIVEN = '{"city": "Paris", "days": 5, "deep": {"a": 1}}'


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("types", {"city": ["Paris"], "days": "5", "deep": "{'a': 1}"}),
        ("missing", {"days": 5, "deep": {"a": 1}}),
        ("extra", {"city": "Paris", "days": 5, "deep": {"a": 1}, "force": True}),
    ],
)
def test_valid_and_wrong(dice, how, expected):
    assert json.loads(wrong(GIVEN, how)) == expected


def test_other_values_of_the_same_form(dice):
    made = json.loads(other_values(GIVEN, dice(), {}))
    assert list(made) == ["city", "days", "deep"]
    assert made["city"] != "Paris"
    assert made["days"] != 5
    assert isinstance(made["days"], int)


@pytest.mark.parametrize("arguments", ["", "{}", "no json", "[1]"])
def test_nothing_to_change(dice, arguments):
    assert wrong(arguments, "missing") == arguments


def test_whole_and_streamed(model, calling, tool_stream):
    for told in (calling, tool_stream):
        view, effect, _ = model(WrongToolArguments(how="extra"), told)
        assert json.loads(view.tool_calls[0].arguments)["force"] is True
        assert effect == "tool arguments changed"


SCHEMA = {"unit": {"enum": ["celsius", "fahrenheit"]}, "level": {"enum": [1, 2]}}
CALLS = [
    ({"q": "rivers"}, {"q": "rivers-2"}),
    ({"q": "rivers of Asia"}, {"q": "rivers of"}),
    ({"path": "/tmp/a.txt"}, {"path": "/tmp/a.txt-2"}),
    ({"from": "anna", "to": "ben"}, {"from": "ben", "to": "anna"}),
    ({"from": "anna", "to": "anna"}, {"from": "anna-2", "to": "anna"}),
    ({"unit": "celsius"}, {"unit": "fahrenheit"}),
    ({"level": 1}, {"level": 2}),
    ({"force": True}, {"force": False}),
    ({"id": 7}, {"id": 8}),
    ({"tags": ["a", "b"]}, {"tags": ["a"]}),
    ({"tags": ["a"]}, {"tags": ["a-2"]}),
    ({"deep": {"flag": False}}, {"deep": {"flag": True}}),
    ({"empty": "", "none": None, "flag": True}, {"empty": "", "none": None, "flag": False}),
]


@pytest.mark.parametrize(("given", "expected"), CALLS)
def test_an_argument_of_any_type_gets_another_value_of_that_type(dice, given, expected):
    assert json.loads(other_values(json.dumps(given), dice(), SCHEMA)) == expected


@pytest.mark.parametrize("arguments", ["{}", '{"a": null}', '{"a": ""}', '{"a": []}', "", "no json", "[]"])
def test_where_nothing_can_be_changed_the_text_stays(dice, arguments):
    assert other_values(arguments, dice(), SCHEMA) == arguments


UNIT = {"type": "object", "properties": SCHEMA}
TOOLS = [
    {"type": "function", "function": {"name": "f", "parameters": UNIT}},
    {"type": "function", "name": "f", "parameters": UNIT},
    {"name": "f", "input_schema": UNIT},
    {"functionDeclarations": [{"name": "g"}, {"name": "f", "parameters": UNIT}]},
    {"functionDeclarations": [{"name": "f", "parametersJsonSchema": UNIT}]},
    {"toolSpec": {"name": "f", "inputSchema": {"json": UNIT}}},
]


@pytest.mark.parametrize("tool", TOOLS)
def test_the_schema_is_found_as_each_protocol_declares_it(tool):
    request = json.dumps({"messages": [{"name": "f"}], "tools": [tool]}).encode()
    assert properties(request, "f") == SCHEMA
    assert properties(request, "h") == {}


@pytest.mark.parametrize("request_body", [None, b"", b"no json", b"[]", b"[" * 100_000, b'{"tools": 5}'])
def test_a_request_that_declares_nothing_has_no_schema(request_body):
    assert properties(request_body, "f") == {}
