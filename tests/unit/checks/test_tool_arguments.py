import pytest

from faultwire.checks.tool_arguments import ToolArguments

SMALL = {"properties": {"amount": {"maximum": 100}}}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"arguments": {"order": "A-17"}}, "pass"),
        ({"arguments": {"order": "A-18"}}, "fail"),
        ({"arguments": {"paid": True}}, "fail"),
        ({"schema": SMALL}, "fail"),
        ({"schema": SMALL, "which": "any"}, "pass"),
        ({"schema": SMALL, "which": "first"}, "pass"),
        ({"schema": SMALL, "which": "last"}, "fail"),
        ({"schema": SMALL, "which": "last", "negate": True}, "pass"),
        ({"schema": {"$ref": "https://example.invalid/"}}, "unknown"),
    ],
)
def test_two_refunds(verdict, wire, settings, expected):
    exchanges = [
        wire.used(1, "refund", {"order": "A-17", "amount": 50, "paid": 1}),
        wire.used(2, "refund", {"order": "A-17", "amount": 500, "paid": 1}),
    ]
    assert verdict(ToolArguments(tool="refund", **settings), exchanges).verdict == expected


def test_it_says_whether_the_arguments_are_those_of_the_models_call_or_of_the_tools_own_request(
    verdict, wire
):
    check = ToolArguments(tool="refund", arguments={"query": "x"})
    own = verdict(check, [wire.used(1, "refund", {"q": "x"})])
    assert own.explanation == (
        '`refund` was called in a request of its own with `{"q":"x"}`: there is no `query`'
    )
    call = wire.call("refund", '{"q": "x"}')
    inside = verdict(check, [wire.talk(1, [wire.user(), wire.said("", call), wire.result("ok")])])
    assert inside.explanation == '`refund` was called with `{"q": "x"}`: there is no `query`'


def test_a_tool_that_was_not_used_is_unknown(verdict, wire):
    assert verdict(ToolArguments(tool="refund", arguments={"a": 1}), [wire.used(1)]).verdict == "unknown"


def test_arguments_that_are_no_object_fail(verdict, wire):
    call = wire.call("refund", '{"a": ')
    exchanges = [wire.talk(1, [wire.user(), wire.said("", call), wire.result("ok")])]
    found = verdict(ToolArguments(tool="refund", arguments={"a": 1}), exchanges)
    assert (found.verdict, "not a JSON object" in found.explanation) == ("fail", True)


def test_asking_nothing_is_refused():
    with pytest.raises(ValueError, match="has no effect without"):
        ToolArguments(tool="refund")
