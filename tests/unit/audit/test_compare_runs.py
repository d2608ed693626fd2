from __future__ import annotations

from dataclasses import replace

from tests.unit.lineage.conftest import Wire, said

from faultwire.audit.compare_runs import Run, any_parallel, closest_answers, difference
from faultwire.events import FaultFired


def run(*texts: str, answer: str = "Fine.", code: int = 0) -> Run:
    wire = Wire()
    for text in texts:
        wire.ask([{"role": "user", "content": text}], said(answer))
    return Run(tuple(wire.exchanges), code)


def test_two_runs_that_are_the_same() -> None:
    assert difference(run("a", "b"), run("a", "b")) is None


def test_the_first_call_and_field_that_differ() -> None:
    found = difference(run("a", "it is 7", "c"), run("a", "it is 9", "d"))
    assert found is not None
    assert (found.what, found.same, found.call, found.field) == ("request", 1, 2, "$.messages[0].content")
    assert found.values == ("it is 7", "it is 9")
    masked = ("$.messages",)
    assert difference(run("a", "it is 7"), run("a", "it is 9"), masked) is None


def test_another_answer_is_no_other_request() -> None:
    found = difference(run("a", answer="One."), run("a", answer="Two."))
    assert found is not None
    assert (found.what, found.call, found.kind) == ("answer", 1, "llm")


def test_a_missing_call() -> None:
    found = difference(run("a", "b"), run("a"))
    assert found is not None
    assert (found.what, found.call) == ("missing", 0)


def test_order_with_and_without_calls_at_once() -> None:
    one, other = run("a", "b"), run("b", "a")
    found = difference(one, other)
    assert found is not None
    assert (found.what, found.parallel) == ("order", False)
    at_once = [Run(tuple(replace(e, started_ms=10) for e in each.exchanges)) for each in (one, other)]
    found = difference(*at_once)
    assert found is not None
    assert (found.what, found.parallel) == ("order", True)
    assert any_parallel(at_once[0])
    assert not any_parallel(one)


def test_exit_codes_and_faults() -> None:
    found = difference(run("a"), run("a", code=1))
    assert found is not None
    assert found.what == "exit code"
    line = FaultFired("status", "status", "response", "fired", "call 1 matches", "k", 0, 0)
    faulted = run("a")
    faulted = Run(tuple(replace(e, faults=(line,)) for e in faulted.exchanges))
    found = difference(run("a"), faulted)
    assert found is not None
    assert found.what == "faults"


def test_how_far_apart_answers_come_that_were_under_way_at_once() -> None:
    times = [(0, 50.0), (100, 400.0), (110, 140.0), (600, 10.0)]
    exchanges = zip(run("a", "b", "c", "d").exchanges, times, strict=True)
    spread = Run(tuple(replace(one, started_ms=at, duration_ms=took) for one, (at, took) in exchanges))
    assert closest_answers(spread) == 250
    assert closest_answers(Run(spread.exchanges[:2])) == float("inf"), "one after the other"
