"""Leases: a cell is with one batch at a time, is free again when that is lost, and counts once."""

from __future__ import annotations

from hypothesis import given, strategies as st

from faultwire.campaign.leases import MOST_LOST, PARTS, Leases


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
    assert leases.take("b", 8, 10.0) == ("1", "3")


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


def test_a_cell_that_is_lost_again_and_again_comes_with_fewer_others_and_is_given_up_at_last() -> None:
    leases, sizes = Leases(), []
    leases.add(["bad", *map(str, range(100))])
    for number in range(MOST_LOST):
        taken = leases.take(f"b{number}", PARTS**3, 10.0)
        assert taken[0] == "bad"
        sizes.append(len(taken))
        given_up = leases.end(f"b{number}", lost=True)
    assert sizes == [64, 16, 4] + [1] * (MOST_LOST - 3)
    assert given_up == ("bad",)
    assert (leases.open(["bad"]), leases.open(["0"])) == (False, True)
    assert not leases.settle("bad")


def test_cells_that_were_not_lost_do_not_lead_a_lost_one_into_a_large_batch() -> None:
    leases = leased("bad", "worse")
    for _ in range(3):
        leases.end("a", lost=True)
        leases.take("a", 5, 10.0)
    leases.add(map(str, range(9)))
    leases.end("a", lost=True)
    leases.add([str(number) for number in range(9)], first=True)
    assert leases.take("b", 10, 10.0) == tuple(map(str, range(9)))
    assert leases.take("c", 10, 10.0) == ("bad",)


def test_an_end_that_is_no_loss_divides_nothing() -> None:
    leases = leased("1", "2")
    for _ in range(MOST_LOST):
        assert leases.end("a") == ()
        assert leases.take("a", 2, 10.0) == ("1", "2")


def test_what_is_wanted_first_comes_before_what_waits() -> None:
    leases = Leases()
    leases.add(["later1", "later2"])
    leases.add(["later2", "now"], first=True)
    assert leases.take("a", 9, 1.0) == ("later2", "now", "later1")


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
