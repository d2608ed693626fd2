import pytest
from pydantic import ValidationError

from faultwire.checks.only_agent_may_call import OnlyAgentMayCall

CHECK = OnlyAgentMayCall(tool="refund", agent="billing", instructions="You are billing*")
BY_HEADER = OnlyAgentMayCall(tool="refund", agent="billing", caller={"x-agent": "billing"})
BILLING, PLANNER = "You are billing. Be careful.", "You are the planner. Delegate to: You are billing."


def asks(wire, number, system=BILLING, tool="refund"):
    messages = [{"role": "system", "content": system}, wire.user()] if system else [wire.user()]
    return wire.talk(number, messages, calls=[wire.call(tool)], answer=None)


def test_by_the_instructions_of_the_model_that_asked(verdict, wire):
    found = verdict(CHECK, [asks(wire, 1), asks(wire, 2, PLANNER, "search")])
    assert (found.verdict, found.exchanges) == ("pass", (1,))
    assert found.explanation == "each call of `refund` bears the marks of `billing`"
    found = verdict(CHECK, [asks(wire, 1), asks(wire, 2, PLANNER)])
    assert (found.verdict, found.exchanges) == ("fail", (2,))
    assert found.explanation == "`refund` was called by another sender than `billing` in 1 exchange"
    assert verdict(CHECK.model_copy(update={"negate": True}), [asks(wire, 1)]).verdict == "fail"


def test_a_model_without_instructions_is_another_sender(verdict, wire):
    assert verdict(CHECK, [asks(wire, 1, None)]).verdict == "fail"


def test_by_header_fields_of_the_tools_own_requests(verdict, wire):
    marked = wire.used(2, "refund", headers=(("X-Agent", "billing"),))
    assert verdict(BY_HEADER, [asks(wire, 1, PLANNER), marked]).verdict == "pass", "the tool's own say who"
    assert verdict(BY_HEADER, [marked, wire.used(3, "refund")]).exchanges == (3,)
    assert verdict(BY_HEADER, [asks(wire, 1)]).verdict == "fail", "without any, those to the model"


def test_both_marks_are_wanted_where_both_are_given(verdict, wire):
    both = OnlyAgentMayCall(
        tool="refund", agent="billing", instructions="You are billing*", caller={"x-agent": "billing"}
    )
    marked = wire.used(2, "refund", headers=(("x-agent", "billing"),))
    assert verdict(both, [asks(wire, 1), marked]).verdict == "pass"
    assert verdict(both, [asks(wire, 1, PLANNER), marked]).exchanges == (1,)
    assert verdict(both, [asks(wire, 1), wire.used(2, "refund")]).exchanges == (2,)


def test_a_request_that_no_model_asked_for_has_an_unknown_sender(verdict, wire):
    assert verdict(CHECK, [asks(wire, 1), wire.used(2, "refund")]).verdict == "pass"
    for exchanges in (
        [wire.used(1, "refund")],
        [asks(wire, 1), wire.used(2, "refund"), wire.used(3, "refund")],
    ):
        found = verdict(CHECK, exchanges)
        assert found.explanation == "who called `refund` is unknown: no model was seen to ask for it"


def test_a_tool_that_nobody_called(verdict, wire):
    found = verdict(CHECK, [wire.talk(1)])
    assert (found.verdict, found.explanation) == ("pass", "`refund` was called by nobody")
    found = verdict(CHECK)
    assert (found.verdict, found.explanation) == (
        "unknown",
        "no exchange with a model or a tool could be read",
    )


def test_an_agent_needs_marks():
    with pytest.raises(ValidationError, match="found no marks of the agent"):
        OnlyAgentMayCall(tool="x", agent="a")
