"""The knee is found where it was planted, with an interval that holds it, and not where there is none."""

from __future__ import annotations

import random

import pytest

from faultwire.load.knee import fitted, knee
from faultwire.load.measure import Invocation, measured

LEVELS = (1, 2, 4, 8, 16)


def ramp(capacity, seed=0, noise=0.15, count=24, levels=LEVELS):
    """Levels of an agent that takes one second alone and shares something of this capacity."""
    dice = random.Random(seed)
    made = []
    for level in levels:
        mean = max(1.0, level / capacity)
        runs = [
            Invocation(level, at, 1, "s", 0.0, mean * dice.uniform(1 - noise, 1 + noise), "pass")
            for at in range(count)
        ]
        made.append(measured(level, count, runs, 0.95))
    return made


@pytest.mark.parametrize("capacity", [2.0, 3.0, 5.0, 8.0])
def test_a_planted_knee_is_found_and_in_its_interval(capacity):
    held = 0
    for seed in range(8):
        found = knee(ramp(capacity, seed), 1)
        assert found.at == pytest.approx(capacity, rel=0.15)
        held += found.low <= capacity <= found.high
    assert held >= 6


def test_without_saturation_no_knee_is_seen():
    found = knee(ramp(1000.0), 1)
    assert (found.at, found.low, found.reason) == (None, None, "no knee seen up to 16")
    assert found.slope == pytest.approx(1.0, rel=0.1)


def test_a_knee_at_the_highest_level_is_not_called_seen():
    assert knee(ramp(16.0), 1).at is None


def test_more_noise_makes_a_wider_interval():
    calm, noisy = knee(ramp(4.0, noise=0.05), 1), knee(ramp(4.0, noise=0.6), 1)
    assert calm.high - calm.low < noisy.high - noisy.low


def test_two_levels_do_not_bend():
    assert knee(ramp(1.0, levels=(1, 2)), 1).reason == "2 of at least 3 levels were measured"


def test_exact_bounds_are_fitted_exactly():
    slope, capacity = fitted(LEVELS, [min(2.0 * n, 7.0) for n in LEVELS])
    assert (slope, capacity) == (pytest.approx(2.0), pytest.approx(7.0))
    assert fitted(LEVELS, [2.0 * n for n in LEVELS])[0] == pytest.approx(2.0)


def test_the_same_seed_gives_the_same_interval():
    assert knee(ramp(4.0), 1) == knee(ramp(4.0), 1)
    assert knee(ramp(4.0), 1).low != knee(ramp(4.0), 2).low
