import pytest

from faultwire.checks._answers import unfenced
from faultwire.checks.valid_json import ValidJson


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({}, ' {"a": [1, 2.5e3, null]}\n', "pass"),
        ({}, "391", "pass"),
        ({}, '{"a": 1', "fail"),
        ({}, "Sure! {}", "fail"),
        ({}, "{}{}", "fail"),
        ({}, "NaN", "fail"),
        ({}, "[" * 100_000, "fail"),
        ({}, '"\ud800"', "fail"),
        ({}, "```json\n{}\n```", "fail"),
        ({"fenced": True}, "```json\n{}\n```", "pass"),
        ({"fenced": True}, "```json\n{\n```", "fail"),
        ({"negate": True}, "prose", "pass"),
    ],
)
def test_verdicts(verdict, settings, answer, expected):
    assert verdict(ValidJson(**settings), answer=answer).verdict == expected


@pytest.mark.parametrize("text", ["", "```", "``````", "```a b\nx\n```", "```\nx\n```\ny\n```", "x"])
def test_what_is_not_one_fence_stays(text):
    assert unfenced(text) == text
