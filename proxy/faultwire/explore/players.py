"""Where the runs of a search are made: in this process, so many beside each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from faultwire.explore.made import Ask, Made

    Arrived = Callable[[Ask, Made], None]


class Player(Protocol):
    """Makes runs. Called from one thread."""

    def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Arrived) -> Made:
        """What came of a run; it may begin those of `ahead`, which are wanted next. `arrived` hears of each
        run that was made, `wanted` among them, before this returns."""

    def close(self) -> None:
        """Begin nothing more, and wait for what is under way."""


class Threads:
    """So many runs at once in this process."""

    def __init__(self, make: Callable[[Ask], Made], workers: int) -> None:
        self._make = make
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers)
        self._begun: dict[str, Future[Made]] = {}

    def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Arrived) -> Made:
        """The wanted one, and beside it as many of the next ones as there are workers. Raises as the run."""

        def make(ask: Ask) -> Made:
            made = self._make(ask)
            arrived(ask, made)
            return made

        for ask in (wanted, *ahead):
            if ask is not wanted and len(self._begun) >= self._workers:
                break
            if ask.key not in self._begun:
                self._begun[ask.key] = self._pool.submit(make, ask)
        return self._begun.pop(wanted.key).result()

    def close(self) -> None:
        """End what has not begun."""
        self._pool.shutdown(cancel_futures=True)
