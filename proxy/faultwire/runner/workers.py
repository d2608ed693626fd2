"""Threads that do one piece of work after the other, and hand over what came of each as it ends.

Each takes its next piece by itself: to wait until somebody hands it out would cost two changes of thread for
every piece.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


class Workers(Generic[T, R]):
    """Up to `most` threads, started on entering and waited for on leaving.

    Going through it gives results in the order in which they came about, and raises the first error; nothing
    is begun after that. Who leaves by an error has `stop` called, which ends what is under way.
    """

    def __init__(
        self, work: Sequence[T], do: Callable[[T], R], *, most: int, stop: Callable[[], None]
    ) -> None:
        self._count = len(work)
        self._left = deque(work)
        self._do = do
        self._stop = stop
        self._ended: SimpleQueue[R | _Failed] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._most = min(most, self._count)

    def __enter__(self) -> Workers[T, R]:
        try:
            for number in range(self._most):
                self._threads.append(threading.Thread(target=self._run, name=f"invocation_{number}"))
                self._threads[-1].start()
        except BaseException:
            self._end(stop=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(stop=kind is not None)

    def __iter__(self) -> Iterator[R]:
        for _ in range(self._count):
            ended = self._ended.get()
            if isinstance(ended, _Failed):
                raise ended.error
            yield ended

    def _end(self, *, stop: bool) -> None:
        self._left.clear()
        if stop:
            self._stop()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _run(self) -> None:
        while True:
            try:
                piece = self._left.popleft()
            except IndexError:
                return
            try:
                ended: R | _Failed = self._do(piece)
            except BaseException as error:  # noqa: BLE001 - raised again by whoever goes through the results
                self._left.clear()
                ended = _Failed(error)
            self._ended.put(ended)
