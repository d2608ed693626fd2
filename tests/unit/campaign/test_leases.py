"""Leases: a cell is with one batch at a time, is free again when that is lost, and counts once."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from faultwire.campaign.leases import ALONE, LARGEST, MOST_LOST, Leases, batch_size


def leased(*cells: str, batch: str = "a", until: float = 10.0) -> Leases:
    leases = Leases()
    leases.add(cells)
    leases.take(batch, len(cells), until)
    return leases


def test_a_cell_is_with_one_batch_at_a_time() -> None:
    leases = leased("1", "2")
    leases.add(["3"])
    assert leases.take("b", 5, 10.0) == ("3",)
    assert leases.take("c", 5, 10.0) == ()


def test_a_lost_batch_makes_its_cells_free_in_their_order_and_not_those_that_have_a_result() -> None:
    leases = leased("1", "2", "3")
    assert leases.settle("2")
    assert leases.end("a", lost=True) == ()
    assert leases.take("b", 5, 10.0) == ("1", "3")


def test_the_first_result_of_a_cell_counts_and_no_other() -> None:
    leases = leased("1")
    leases.end("a", lost=True)
    leases.take("b", 1, 10.0)
    assert leases.settle("1")  # of `a`, which was only slow
    assert not leases.settle("1")  # of `b`
    leases.end("b")
    assert (leases.free, leases.open(["1"])) == (0, False)


def test_a_result_that_comes_while_its_cell_is_free_again_keeps_it_from_being_played() -> None:
    leases = leased("1", "2")
    leases.end("a", lost=True)
    assert leases.settle("1")
    assert leases.take("b", 5, 10.0) == ("2",)


def test_a_result_of_a_cell_that_nobody_asked_for_is_none() -> None:
    assert not leased("1").settle("other")


def test_leases_run_out() -> None:
    leases = leased("1", until=10.0)
    assert (leases.expired(9.9), leases.expired(10.0), leases.next_end) == ((), ("a",), 10.0)
    leases.end("a", lost=True)
    assert (leases.expired(99.0), leases.next_end) == ((), None)


def test_a_cell_that_is_lost_often_comes_alone_and_is_given_up_at_last() -> None:
    leases = Leases()
    leases.add(["bad", "good"])
    for number in range(MOST_LOST):
        taken = leases.take(f"b{number}", 5, 10.0)
        assert taken[0] == "bad"
        assert taken == (("bad", "good") if number < ALONE else ("bad",))
        given_up = leases.end(f"b{number}", lost=True)
    assert given_up == ("bad",)
    assert (leases.open(["bad"]), leases.open(["good"])) == (False, True)
    assert not leases.settle("bad")


def test_what_is_wanted_first_comes_before_what_waits() -> None:
    leases = Leases()
    leases.add(["later1", "later2"])
    leases.add(["later2", "now"], first=True)
    assert leases.take("a", 9, 1.0) == ("later2", "now", "later1")


@pytest.mark.parametrize(
    ("free", "slots", "idle", "size"),
    [(24, 2, 2, 8), (8, 2, 1, 8), (8, 2, 2, 4), (60, 2, 2, 15), (10_000, 2, 2, LARGEST),
     (1, 4, 4, 1), (3, 4, 4, 1)],
)  # fmt: skip
def test_batches_are_large_at_first_and_small_at_the_end(free: int, slots: int, idle: int, size: int) -> None:
    assert batch_size(free, slots, idle) == size


@given(st.integers(1, 500), st.integers(1, 8))
def test_batches_cover_all_cells(cells: int, slots: int) -> None:
    left, batches = cells, 0
    while left:
        size = batch_size(left, slots, 1)
        assert 1 <= size <= left
        left -= size
        batches += 1
    assert batches <= slots * 12


Step = st.one_of(
    st.tuples(st.just("take"), st.integers(1, 4)),
    st.tuples(st.just("lose"), st.integers(0, 5)),
    st.tuples(st.just("answer"), st.integers(0, 5)),
    st.tuples(st.just("late"), st.integers(0, 5)),
)


@given(st.lists(Step, max_size=60))
def test_whatever_happens_each_cell_is_counted_at_most_once_and_none_gets_lost(
    steps: list[tuple[str, int]],
) -> None:
    leases, counted = Leases(), list[str]()
    every = [str(number) for number in range(7)]
    leases.add(every)
    under_way: list[tuple[str, tuple[str, ...]]] = []
    gone: list[tuple[str, ...]] = []
    given_up: set[str] = set()
    for number, (step, value) in enumerate(steps):
        if step == "take":
            if taken := leases.take(f"b{number}", value, 1.0):
                under_way.append((f"b{number}", taken))
        elif step == "lose" and under_way:
            batch, cells = under_way.pop(value % len(under_way))
            given_up |= set(leases.end(batch, lost=True))
            gone.append(cells)
        elif step == "answer" and under_way:
            batch, cells = under_way.pop(value % len(under_way))
            counted += [cell for cell in cells if leases.settle(cell)]
            leases.end(batch)
        elif step == "late" and gone:
            counted += [cell for cell in gone[value % len(gone)] if leases.settle(cell)]
    assert len(counted) == len(set(counted))
    while taken := leases.take("last", 9, 1.0):
        counted += [cell for cell in taken if leases.settle(cell)]
        leases.end("last")
    for batch, cells in under_way:
        counted += [cell for cell in cells if leases.settle(cell)]
        leases.end(batch)
    assert sorted([*counted, *given_up]) == every
