"""Throughput, quantiles and the error budget of a level."""

from __future__ import annotations

import pytest

from faultwire.load.measure import Invocation, budget, measured, quantile, throughput


def run(number, verdict="pass", level=4, seconds=2.0):
    return Invocation(level, number, 1, f"s{number}", 0.0, seconds, verdict)


def test_throughput_is_concurrency_over_mean_latency():
    assert throughput(4, [2.0, 2.0, 2.0, 2.0]) == 2.0
    assert throughput(1, [0.5, 1.5]) == 1.0


def test_quantiles_are_linear_between_values():
    assert [quantile([3, 1, 2], q) for q in (0, 0.5, 0.75, 1)] == [1, 2, 2.5, 3]
    assert quantile([7], 0.95) == 7


def test_a_budget_is_overspent_by_more_failures_than_are_allowed():
    runs = [run(at, "fail" if at < 2 else "pass") for at in range(20)]
    assert not budget(runs, 0.9).overspent
    assert budget(runs, 0.9).burn == pytest.approx(1.0)
    assert budget(runs, 0.95).overspent
    assert budget(runs, 1.0).burn is None
    assert budget(runs, 1.0).overspent


def test_what_cannot_be_judged_spends_nothing_and_a_timeout_does():
    runs = [run(0, "unknown"), run(1, "timeout"), run(2)]
    found = measured(4, 4, runs, 0.5)
    assert (found.budget.failed, found.budget.total) == (1, 2)
    assert (found.timeouts, found.unknown, found.whole) == (1, 1, False)


def test_a_level_without_invocations_has_no_figures():
    found = measured(8, 16, [], 0.9)
    assert (found.throughput, found.quantiles, found.budget.passed) == (None, (), None)
