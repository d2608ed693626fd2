import json
from dataclasses import replace

import pytest

from faultwire.checks.no_duplicate_side_effect import NoDuplicateSideEffect


def test_the_same_deed_twice_fails(verdict, wire):
    found = verdict(NoDuplicateSideEffect(), [wire.used(1, "refund"), wire.used(2, "refund")])
    assert (found.verdict, found.exchanges) == ("fail", (1, 2))


def test_a_success_that_a_fault_hid_counts(verdict, wire):
    done = wire.used(1, "refund")
    hidden = wire.used(1, "refund", upstream=done.upstream, delivered=None, ending="cut")
    assert verdict(NoDuplicateSideEffect(), [hidden, wire.used(2, "refund", attempt=1)]).verdict == "fail"


@pytest.mark.parametrize(
    "second",
    [
        {"arguments": {"q": "other"}},
        {"status": 503},
        {"method": "GET"},
        {"upstream": None},
    ],
)
def test_other_deeds_and_failed_ones_are_no_repetition(verdict, wire, second):
    assert (
        verdict(NoDuplicateSideEffect(), [wire.used(1, "refund"), wire.used(2, "refund", **second)]).verdict
        == "pass"
    )


def test_one_key_is_one_deed(verdict, wire):
    keys = {"headers": (("Idempotency-Key", "k1"),)}
    assert verdict(NoDuplicateSideEffect(), [wire.used(1, **keys), wire.used(2, **keys)]).verdict == "pass"
    other = {"headers": (("Idempotency-Key", "k2"),)}
    assert verdict(NoDuplicateSideEffect(), [wire.used(1, **keys), wire.used(2, **other)]).verdict == "fail"


def test_tools_inside_of_the_agent_count_by_name(verdict, wire):
    one, two = wire.call("refund", '{"a": 1}'), wire.call("refund", '{"a":1}', at="c2")
    told = [
        wire.user(),
        wire.said("", one),
        wire.result("ok"),
        wire.said("", two),
        wire.result("ok", at="c2"),
    ]
    assert verdict(NoDuplicateSideEffect(tools=["refund"]), [wire.talk(1, told)]).verdict == "fail"
    assert verdict(NoDuplicateSideEffect(), [wire.talk(1, told)]).verdict == "unknown"


def test_hostile_bodies_are_compared_as_bytes(verdict, wire):
    request = wire.used(1).request
    hostile = type(request)("POST", "http", "t", 80, "/\ud800", (), b"[" * 5000)
    exchanges = [wire.used(1, request=hostile), wire.used(2, request=hostile)]
    assert verdict(NoDuplicateSideEffect(), exchanges).verdict == "fail"


def over_mcp(wire, number, failed):
    result = {"content": [{"type": "text", "text": "no seat is free"}], "isError": failed}
    text = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    exchange = wire.used(number, "book", text=text, protocol="mcp", path="/mcp")
    call = {"name": "book", "arguments": {"seat": "12A"}}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}).encode()
    return replace(exchange, request=replace(exchange.request, body=body))


@pytest.mark.parametrize(("failed", "expected"), [(False, "fail"), (True, "pass")])
def test_what_an_mcp_tool_says_it_did_not_do_was_not_done(verdict, wire, failed, expected):
    exchanges = [over_mcp(wire, 1, failed), over_mcp(wire, 2, False)]
    assert verdict(NoDuplicateSideEffect(), exchanges).verdict == expected


def anthropic_results(wire, *failed, faults=()):
    """A conversation with Anthropic in which `refund` was called so often, and failed so."""
    turns = [{"role": "user", "content": "Refund it."}]
    for at, error in enumerate(failed):
        call = {"type": "tool_use", "id": f"t{at}", "name": "refund", "input": {"order": 7}}
        told = {"type": "tool_result", "tool_use_id": f"t{at}", "content": "?", "is_error": error}
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [told]}]
    exchange = wire.talk(1, faults=faults)
    body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": turns}).encode()
    request = replace(exchange.request, host="api.anthropic.com", path="/v1/messages", body=body)
    return [replace(exchange, request=request, protocol="anthropic", provider="anthropic")]


@pytest.mark.parametrize(
    ("failed", "by_fault", "expected"),
    [
        ((True, False), False, "unknown"),
        ((True, False), True, "fail"),
        ((True, False, False), False, "fail"),
        ((False, False), False, "fail"),
    ],
)
def test_a_tool_inside_of_the_agent_that_failed_first_is_unclear(verdict, wire, failed, by_fault, expected):
    faults = (wire.line("tool_error"),) if by_fault else ()
    found = verdict(NoDuplicateSideEffect(tools=["refund"]), anthropic_results(wire, *failed, faults=faults))
    assert found.verdict == expected, found
    if expected == "unknown":
        assert found.explanation.startswith(
            "`refund` was called 2 times with the same arguments and reported"
        )


def test_a_key_in_the_arguments_is_one_deed_as_well(verdict, wire):
    def paid(number, **arguments):
        return wire.used(number, "pay", arguments=arguments)

    keyed = [paid(number, amount=4, idempotency_key="k1") for number in (1, 2)]
    assert verdict(NoDuplicateSideEffect(), keyed).verdict == "pass"
    bare = [paid(number, amount=4, note="k1") for number in (1, 2)]
    assert verdict(NoDuplicateSideEffect(), bare).verdict == "fail"
