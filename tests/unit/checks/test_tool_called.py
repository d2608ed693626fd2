from dataclasses import replace

import pytest

from faultwire.checks._tools import asked, uses
from faultwire.checks.tool_called import ToolCalled


@pytest.fixture
def loop(wire):
    """A tool inside of the agent, its result sent twice because the first attempt failed."""
    call = wire.call("search", '{"q": "x"}')
    told = [wire.user(), wire.said("", call), wire.result("391")]
    return [
        wire.talk(1, calls=[call], answer=None),
        wire.talk(2, told, status=503),
        wire.talk(3, told, attempt=1),
        wire.talk(4, [*told, wire.said("It is 391."), wire.user("Sure?")]),
    ]


def test_a_result_that_is_sent_again_and_again_is_one_use(verdict, loop):
    found = verdict(ToolCalled(tool="search"), loop)
    assert (found.verdict, found.value, found.exchanges) == ("pass", 1, (2,))


def uses_of(verdict, exchanges):
    return verdict(ToolCalled(tool="search"), exchanges).value


@pytest.mark.parametrize("arguments", ['{"q": "x"}', '{"q":"x"}'], ids=["as made", "written otherwise"])
def test_the_same_call_made_again_is_a_second_use(verdict, wire, loop, arguments):
    call = wire.call("search", arguments)
    told = [wire.user(), wire.said("", call), wire.result("391")]
    again = [wire.talk(5, told, calls=[wire.call("search", '{"q": "x"}')], answer=None)]
    twice = wire.talk(6, [*told, wire.said("", call), wire.result("391")])
    assert verdict(ToolCalled(tool="search", max=1), [*loop, *again, twice]).verdict == "fail"
    assert uses_of(verdict, [*loop, *again, twice]) == 2
    assert uses_of(verdict, [*loop, *again, replace(twice, number=7), wire.talk(8, told)]) == 2


@pytest.mark.parametrize(("other", "expected"), [("391", 1), ("392", 2)])
def test_a_result_that_a_conversation_repeats_is_one_use(verdict, wire, loop, other, expected):
    call = wire.call("search", '{"q": "x"}')
    answered = [wire.user(), wire.said("", call), wire.result("391"), wire.result(other)]
    assert uses_of(verdict, [*loop, wire.talk(5, answered)]) == expected
    doubled = [wire.user(), wire.said("", call), wire.result("391"), wire.said("", call), wire.result(other)]
    assert uses_of(verdict, [*loop, wire.talk(5, doubled), wire.talk(6, doubled)]) == expected
    alone = [wire.user(), wire.said("", call), wire.result("391"), wire.result(other)]
    assert uses_of(verdict, [wire.talk(1, alone)]) == expected, "a call of before the recording"


def test_an_agent_that_begins_anew_executes_again_though_the_ids_are_the_same(verdict, wire, loop):
    call = wire.call("search", '{"q": "x"}')
    told = [wire.user(), wire.said("", call), wire.result("391")]
    anew = [wire.talk(5, calls=[call], answer=None), wire.talk(6, told), wire.talk(7, told)]
    assert uses_of(verdict, [*loop, *anew]) == 2
    asked_twice = [
        wire.talk(1, calls=[call], answer=None),
        *[replace(one, number=one.number + 1) for one in loop],
    ]
    assert uses_of(verdict, asked_twice) == 1, "the first answer was not used"


def test_a_tool_at_its_own_exchange_counts_once(verdict, wire, loop):
    exchanges = [loop[0], wire.used(9), *loop[1:]]
    assert verdict(ToolCalled(tool="search", max=1), exchanges).value == 1


def test_attempts_of_one_call_are_one_use(verdict, wire):
    exchanges = [wire.used(1, status=503), wire.used(2, attempt=1)]
    assert verdict(ToolCalled(tool="search"), exchanges).value == 1


@pytest.mark.parametrize(("settings", "expected"), [({}, "fail"), ({"negate": True}, "pass")])
def test_a_call_without_a_result_is_none(verdict, wire, settings, expected):
    found = verdict(
        ToolCalled(tool="search", **settings), [wire.talk(1, calls=[wire.call("search")], answer=None)]
    )
    assert found.verdict == expected


def test_without_readable_traffic_nothing_is_known(verdict, wire):
    assert verdict(ToolCalled(tool="search")).verdict == "unknown"
    broken = wire.talk(1, kind="other", protocol=None)
    assert verdict(ToolCalled(tool="search"), [broken]).verdict == "unknown"


def test_what_the_parts_say(history, loop):
    told = history("done", *loop)
    assert [(use.name, use.values, use.result) for use in uses(told)] == [("search", {"q": "x"}, "391")]
    assert [(number, call.name) for number, call in asked(told)] == [(1, "search")]


def test_hostile_bodies_are_no_uses(verdict, wire):
    deep = wire.used(1, arguments=None)
    hostile = type(deep.request)("POST", "http", "t", 80, "/x?" + "a=1&" * 9000, (), b"[" * 9000 + b"\xff")
    found = verdict(ToolCalled(tool="search"), [wire.used(1, request=hostile)])
    assert (found.verdict, found.value) == ("pass", 1)
