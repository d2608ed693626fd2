import json
from dataclasses import replace

import pytest
from tests.unit.checks.conftest import call, result, said, talk, user

from faultwire.events import History
from faultwire.report.broken_arguments import broken_arguments

HALF = '{"query": "How high i'


def found(*exchanges):
    return broken_arguments(History("exec", exchanges))


def asked(arguments=HALF, at="c1"):
    return talk(1, answer="", calls=[call("search", arguments, at)])


def answered(text="330 m", arguments=HALF):
    return talk(2, [user(), said("", call("search", arguments)), result(text)])


def test_a_result_for_arguments_that_are_no_json():
    seen = found(asked(), answered())
    assert seen.exchanges == (1, 2)
    assert seen.words == (
        f"the agent answered the call of `search` from exchange 1 with a result in exchange 2, and its "
        f"arguments `{HALF}` are no JSON"
    )


def test_arguments_that_the_model_did_not_send():
    assert found(asked(), answered(arguments="{}")).words.endswith("no JSON; it sent `{}` in their place")


@pytest.mark.parametrize("text", ["ERROR", "error: the arguments are no JSON; call again", "Exception: x"])
def test_a_model_that_gets_an_error_needs_nothing_more(text):
    assert found(asked(), answered(text)) is None
    assert found(asked(), answered(f"330 m. {text}")) is not None


@pytest.mark.parametrize(
    "exchanges",
    [
        (asked('{"query": "x"}'), answered(arguments='{"query": "x"}')),
        (asked(""), answered(arguments="{}")),
        (asked("*** Begin Patch"), answered(arguments="*** Begin Patch")),
        (asked(), answered("Invalid JSON: unterminated string")),
        (asked(), answered("ERROR: the call arrived incomplete and was NOT executed")),
        (asked(), talk(2)),
        (asked(at="c0"), answered()),
    ],
    ids=["JSON", "none", "custom tool", "refused", "declined", "asked again", "another call"],
)
def test_arguments_that_were_none_or_a_call_that_was_refused(exchanges):
    assert found(*exchanges) is None


def test_an_answer_at_its_limit_has_a_rule_of_its_own():
    cut = asked()
    told = json.loads(cut.delivered.body)
    told["choices"][0]["finish_reason"] = "length"
    body = replace(cut.delivered, body=json.dumps(told).encode())
    assert found(replace(cut, delivered=body, upstream=body), answered()) is None


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        ([{"type": "custom", "custom": {"name": "search"}}], False),
        ([{"type": "custom", "name": "search"}], False),
        ([{"type": "custom", "name": "another"}], True),
        ([{"type": "function", "function": {"name": "search"}}], True),
        ([4, {"type": "custom", "custom": 4}], True),
        (4, True),
    ],
)
def test_the_input_of_a_custom_tool_is_any_text(offered, said):
    made = asked("{ let x = 1; }")
    body = json.dumps({**json.loads(made.request.body), "tools": offered}).encode()
    made = replace(made, request=replace(made.request, body=body))
    assert (found(made, answered(arguments="{ let x = 1; }")) is not None) == said
