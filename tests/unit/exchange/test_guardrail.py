"""Thresholds on what agents got, with the instants handed in."""

from __future__ import annotations

import pytest

from faultwire.exchange.guardrail import KEPT, Guardrail, Thresholds


def ended(rail: Guardrail, call: int, at: float, *, failed: bool, took: float = 0.0) -> None:
    rail.begin(call, at - took)
    rail.end(call, at, failed=failed)


def test_a_share_of_failures_above_the_threshold_aborts() -> None:
    rail = Guardrail(Thresholds(error_rate=0.5, min_calls=4))
    for call, failed in enumerate((True, False, True, False)):
        ended(rail, call, 1.0, failed=failed)
    assert rail.judge(1.0) is None  # half of them is allowed
    ended(rail, 9, 1.0, failed=True)
    assert rail.judge(1.0) == "3 of 5 calls failed, allowed are 0.5"


def test_few_calls_are_not_judged() -> None:
    rail = Guardrail(Thresholds(error_rate=0.1, min_calls=3))
    for call in range(2):
        ended(rail, call, 1.0, failed=True)
    assert rail.judge(1.0) is None
    ended(rail, 2, 1.0, failed=True)
    assert rail.judge(1.0) is not None


def test_what_was_before_the_window_counts_no_more() -> None:
    rail = Guardrail(Thresholds(error_rate=0.1, min_calls=1, window_s=10))
    ended(rail, 1, 0.0, failed=True)
    assert rail.judge(10.0) is not None
    assert rail.judge(10.1) is None


def test_calls_that_wait_too_long_count_before_they_are_answered() -> None:
    rail = Guardrail(Thresholds(latency_s=2.0, min_calls=1))
    rail.begin(1, 0.0)
    assert rail.judge(2.0) is None
    assert rail.judge(2.1) == "1 of 1 call had no first byte in 2 s, allowed are 0.05"


@pytest.mark.parametrize(("calls", "aborts"), [(20, False), (19, True)])
def test_latency_is_a_95th_percentile(calls: int, aborts: bool) -> None:
    rail = Guardrail(Thresholds(latency_s=2.0, min_calls=1))
    for call in range(calls):
        ended(rail, call, 10.0, failed=False, took=3.0 if call == 0 else 1.0)
    assert (rail.judge(10.0) is not None) is aborts


def test_the_first_byte_counts_and_not_the_end() -> None:
    rail = Guardrail(Thresholds(latency_s=2.0, min_calls=1))
    rail.begin(1, 0.0)
    rail.answer(1, 1.0)
    rail.end(1, 60.0, failed=False)
    assert rail.judge(60.0) is None


def test_without_thresholds_nothing_aborts() -> None:
    rail = Guardrail(Thresholds())
    rail.begin(1, 0.0)
    ended(rail, 2, 1.0, failed=True)
    assert rail.judge(1e6) is None


def test_memory_is_bounded() -> None:
    rail = Guardrail(Thresholds(error_rate=0.5, window_s=1e9))
    for call in range(KEPT + 10):
        ended(rail, call, 1.0, failed=True)
    assert rail.judge(1.0) == f"{KEPT} of {KEPT} calls failed, allowed are 0.5"
