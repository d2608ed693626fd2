from dataclasses import replace

from tests.unit.checks.conftest import at_once, in_turn

from faultwire.checks.max_llm_calls import MaxLlmCalls


def test_verdicts(verdict, wire):
    exchanges = [wire.talk(1, status=503), wire.talk(2, attempt=1), wire.used(3), wire.talk(4)]
    assert verdict(MaxLlmCalls(max=2), exchanges).value == 2
    assert verdict(MaxLlmCalls(max=2), exchanges).verdict == "pass"
    assert verdict(MaxLlmCalls(max=2, count_retries=True), exchanges).verdict == "fail"
    assert verdict(MaxLlmCalls(max=1), exchanges).exchanges == (1, 4)
    assert verdict(MaxLlmCalls(max=0), [wire.used(1)]).verdict == "pass"


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(MaxLlmCalls(max=1)).verdict == "unknown"


def counted(wire, number, retry, **changes):
    """A request of an SDK that counts its attempts."""
    made = wire.talk(number, attempt=retry, **changes)
    headers = (*made.request.headers, ("x-stainless-retry-count", str(retry)))
    return replace(made, request=replace(made.request, headers=headers))


def test_a_loop_around_an_sdk_makes_no_further_call_of_what_failed(verdict, wire):
    rounds = [counted(wire, n, (n - 1) % 3, status=503) for n in range(1, 10)]
    found = verdict(MaxLlmCalls(max=1), rounds)
    assert (found.verdict, found.value, found.exchanges) == ("pass", 1, (1,))
    assert verdict(MaxLlmCalls(max=8, count_retries=True), rounds).value == 9


def test_what_is_asked_again_after_an_answer_is_a_call(verdict, wire):
    rounds = [counted(wire, 1, 0, status=503), counted(wire, 2, 1), counted(wire, 3, 0)]
    found = verdict(MaxLlmCalls(max=1), rounds)
    assert (found.verdict, found.value, found.exchanges) == ("fail", 2, (1, 3))


def test_another_request_after_a_failure_is_a_call(verdict, wire):
    others = [counted(wire, n, 0, status=503, messages=[wire.user(f"Try {n}")]) for n in range(1, 4)]
    assert verdict(MaxLlmCalls(max=1), others).value == 3


def test_samples_are_a_call_each_however_quickly_they_fail(verdict, wire):
    quick = [wire.talk(n, status=503, started_ms=1000 + 5 * n, duration_ms=1.0) for n in range(1, 9)]
    assert verdict(MaxLlmCalls(max=7), at_once(*quick)).value == 8
    assert verdict(MaxLlmCalls(max=1), in_turn(*quick)).verdict == "pass"
    found = verdict(MaxLlmCalls(max=7), quick)
    assert found.verdict == "unknown"
    assert found.explanation.startswith("models were called 1 to 8 times: #2, #3, #4, #5, #6, … came within")
    assert verdict(MaxLlmCalls(max=8), quick).verdict == "pass"
