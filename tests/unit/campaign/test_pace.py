"""Batches are as large as what was measured makes worthwhile, and never so large that a loss hurts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from faultwire.campaign.pace import BATCH_S, FIRST, LARGEST, SMALLEST, STARTS, Pace


@pytest.mark.parametrize(
    ("free", "slots", "idle", "size"),
    [
        (24, 2, 2, 8),
        (8, 2, 1, 8),
        (8, 2, 2, 4),
        (60, 2, 2, 15),
        (10_000, 2, 2, FIRST),
        (1, 4, 4, 1),
        (3, 4, 4, 1),
    ],
)
def test_before_anything_is_measured_batches_are_small(free: int, slots: int, idle: int, size: int) -> None:
    assert Pace().size(free, slots, idle) == size


def measured(cells: int, batch_s: float, play_s: float) -> Pace:
    pace = Pace()
    pace.add(cells, batch_s, play_s)
    return pace


@pytest.mark.parametrize(
    ("cell_s", "start_s", "size"),
    [
        (0.1, 0.0, 200),  # as many as fit into the time of a batch
        (0.001, 0.0, LARGEST),
        (5.0, 0.0, SMALLEST),  # a slow model: a lost batch takes little with it
        (60.0, 2.0, SMALLEST),
        (0.1, 20.0, 400),  # a start that takes long is worth a long batch
    ],
)
def test_a_batch_takes_about_as_long_as_it_should(cell_s: float, start_s: float, size: int) -> None:
    assert measured(10, start_s + 10 * cell_s, 10 * cell_s).size(100_000, 2, 1) == size
    assert max(BATCH_S, STARTS * start_s) / cell_s >= size - 1 or size == SMALLEST


def test_one_worker_alone_has_no_reason_to_end_with_small_batches() -> None:
    pace = measured(10, 1.0, 1.0)
    assert (pace.size(150, 1, 1), pace.size(150, 2, 1)) == (150, 38)


def test_towards_the_end_no_batch_is_smaller_than_its_start_is_worth() -> None:
    assert measured(100, 12.0, 10.0).size(100, 4, 1) == 40  # 4 s of play for a start of 2 s
    assert measured(100, 10.0, 10.0).size(100, 4, 1) == 13
    assert measured(100, 12.0, 10.0).size(100, 4, 4) == 25  # four are idle: each gets a part


def test_what_was_measured_last_counts_most() -> None:
    pace = measured(10, 10.0, 10.0)
    for _ in range(8):
        pace.add(10, 1.0, 1.0)
    assert pace.cell_s == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("play_s", [None, "3", float("nan"), float("inf"), [1]])
def test_what_is_no_measurement_changes_nothing(play_s: object) -> None:
    pace = Pace()
    pace.add(10, 10.0, play_s)
    assert pace == Pace()
    pace.add(0, 10.0, 1.0)
    assert pace == Pace()


def test_a_worker_cannot_have_played_longer_than_its_batch_took_nor_less_than_not_at_all() -> None:
    assert measured(10, 10.0, 1e9) == measured(10, 10.0, 10.0)
    assert measured(10, 10.0, -5.0) == measured(10, 10.0, 0.0)


@given(st.integers(1, 20_000), st.integers(1, 8), st.floats(0, 100), st.floats(0, 100), st.booleans())
def test_batches_cover_all_cells(cells: int, slots: int, cell_s: float, start_s: float, known: bool) -> None:
    pace = measured(1, cell_s + start_s, cell_s) if known else Pace()
    left, batches = cells, 0
    while left:
        size = pace.size(left, slots, 1)
        assert 1 <= size <= min(left, LARGEST)
        left -= size
        batches += 1
    assert batches <= cells // SMALLEST + slots * 12
