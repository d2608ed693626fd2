from __future__ import annotations

import json

import pytest

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
    assert json.loads(wrong(GIVEN, how, dice())) == expected


def test_other_values_of_the_same_form(dice):
    made = json.loads(wrong(GIVEN, "values", dice()))
    assert list(made) == ["city", "days", "deep"]
    assert made["city"] != "Paris"
    assert made["days"] != 5
    assert isinstance(made["days"], int)


@pytest.mark.parametrize("arguments", ["", "{}", "no json", "[1]"])
def test_nothing_to_change(dice, arguments):
    assert wrong(arguments, "missing", dice()) == arguments


def test_whole_and_streamed(model, calling, tool_stream):
    for told in (calling, tool_stream):
        view, effect, _ = model(WrongToolArguments(how="extra"), told)
        assert json.loads(view.tool_calls[0].arguments)["force"] is True
        assert effect == "tool arguments changed"
