"""Threads that take work by themselves."""

from __future__ import annotations

import threading

import pytest

from faultwire.runner.workers import Workers


def refuse() -> None:
    raise AssertionError("it went well")


def test_every_piece_is_done_once() -> None:
    with Workers(range(50), lambda n: n * n, most=4, stop=refuse) as ended:
        assert sorted(ended) == [n * n for n in range(50)]
    assert not any(thread.is_alive() for thread in ended._threads)


def test_as_many_at_once_as_asked_and_no_more() -> None:
    meet = threading.Barrier(3)  # passes only where three wait at it
    with Workers(range(9), lambda n: meet.wait(10) >= 0 and n, most=3, stop=refuse) as ended:
        assert sorted(ended) == list(range(9))
        assert len(ended._threads) == 3


def test_no_more_threads_than_work() -> None:
    with Workers([7], str, most=16, stop=refuse) as ended:
        assert (list(ended), len(ended._threads)) == (["7"], 1)
    with Workers([], str, most=16, stop=refuse) as none:
        assert list(none) == []


def test_no_work_starts_after_an_error() -> None:
    begun, stopped = [], []

    def do(n: int) -> int:
        begun.append(n)
        if n == 2:
            raise ZeroDivisionError
        return n

    heard: list[int] = []
    with (
        Workers(range(9), do, most=1, stop=lambda: stopped.append(1)) as ended,
        pytest.raises(ZeroDivisionError),
    ):
        heard.extend(ended)
    assert (begun, heard, stopped) == ([0, 1, 2], [0, 1], [])


def test_who_leaves_by_an_error_ends_what_is_under_way_and_waits_for_it() -> None:
    entered, go = threading.Event(), threading.Event()
    begun: list[int] = []
    threads: list[threading.Thread] = []

    def do(n: int) -> int:
        begun.append(n)
        if n:
            entered.set()
            assert go.wait(10)
        return n

    def interrupted() -> None:
        with Workers(range(9), do, most=1, stop=go.set) as ended:
            threads.extend(ended._threads)
            for one in ended:
                assert (one, entered.wait(10)) == (0, True)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (begun, [thread.is_alive() for thread in threads]) == ([0, 1], [False])
