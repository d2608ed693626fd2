from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Send, Wait
from faultwire.faults.connection.latency import Latency

SEEDS = range(2000)


def delays(fault: Latency, dice) -> list[int]:
    return sorted(fault.delay_ms(dice(seed)) for seed in SEEDS)


def test_waits_once_before_the_call_and_changes_nothing(run, chat):
    fault = Latency(ms=250)
    assert run(fault, chat(), [b"one", b"two"]) == [Wait(0.25), Send(b"one"), Send(b"two")]


def test_states_what_it_did_only_once_it_did_it(chat, dice):
    mutator = Latency(ms=250).start(chat(), dice())
    assert mutator.effect is None
    list(mutator.before())
    assert mutator.effect == "delayed by 250 ms"


def test_no_delay_is_no_effect(run, chat, dice):
    mutator = Latency(ms=0).start(chat(), dice())
    assert run(mutator, chat(), [b"one"]) == [Send(b"one")]
    assert mutator.effect is None


def test_uniform_stays_within_its_jitter_and_uses_it(dice):
    found = delays(Latency(distribution="uniform", ms=100, jitter_ms=40), dice)
    assert 60 <= found[0] <= 62
    assert 138 <= found[-1] <= 140


def test_normal_has_its_mean_and_deviation_and_is_never_negative(dice):
    found = delays(Latency(distribution="normal", ms=100, jitter_ms=10), dice)
    assert sum(found) / len(found) == pytest.approx(100, abs=1)
    within = sum(90 <= delay <= 110 for delay in found) / len(found)
    assert within == pytest.approx(0.683, abs=0.04)
    assert delays(Latency(distribution="normal", ms=1, jitter_ms=50), dice)[0] == 0


def test_lognormal_has_its_median_and_its_99th_percentile(dice):
    found = delays(Latency(distribution="lognormal", ms=800, p99_ms=6000), dice)
    assert found[len(found) // 2] == pytest.approx(800, rel=0.08)
    assert found[int(len(found) * 0.99)] == pytest.approx(6000, rel=0.25)


def test_spike_hits_one_call_in_a_hundred(dice):
    found = delays(Latency(distribution="spike", ms=10, p99_ms=5000), dice)
    assert set(found) == {10, 5000}
    assert found.count(5000) / len(found) == pytest.approx(0.01, abs=0.006)


def test_the_same_call_waits_the_same_and_another_does_not(dice):
    fault = Latency(distribution="uniform", ms=1000, jitter_ms=1000)
    assert fault.delay_ms(dice(7)) == fault.delay_ms(dice(7))
    assert len({fault.delay_ms(dice(7, key, n)) for key in "ab" for n in range(3)}) == 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ms": 1, "jitter_ms": 2}, "found `jitter_ms`, which distribution `constant` does not take"),
        ({"distribution": "uniform", "ms": 1}, "found no `jitter_ms`, which distribution `uniform` needs"),
        ({"distribution": "spike", "ms": 1}, "found no `p99_ms`, which distribution `spike` needs"),
        ({"distribution": "lognormal", "ms": 9, "p99_ms": 3}, "found `p99_ms` under `ms` or `ms` of 0"),
        ({"distribution": "lognormal", "ms": 0, "p99_ms": 3}, "found `p99_ms` under `ms` or `ms` of 0"),
        ({"ms": -1}, "greater than or equal to 0"),
        ({"ms": 3_600_001}, "less than or equal to 3600000"),
        ({"ms": float("nan")}, "less than or equal to 3600000"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings, message):
    with pytest.raises(ValidationError, match=message):
        Latency(**settings)
