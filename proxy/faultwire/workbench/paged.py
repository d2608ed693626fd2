"""All exchanges of a tape, and their rows, as sequences that are read from the tape when somebody asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from faultwire.workbench.row import content, row

if TYPE_CHECKING:
    from faultwire.events import Recorded
    from faultwire.tape.read.reader import Detail
    from faultwire.tape.read.span import SpanReader
    from faultwire.workbench.places import Places

KEPT = 2_000
"""Rows that are kept in memory: the newest, and those that were asked for last."""


class Exchanges(Sequence["Recorded"]):
    """Exchanges by their places, all of them or some; each is read when it is asked for, and not kept.
    Raises TapeError where one cannot be read."""

    def __init__(self, places: Places, tape: SpanReader, chosen: Sequence[int] | None = None) -> None:
        self._places, self._tape, self._chosen = places, tape, chosen

    def __len__(self) -> int:
        return len(self._places if self._chosen is None else self._chosen)

    @overload
    def __getitem__(self, at: int) -> Recorded: ...
    @overload
    def __getitem__(self, at: slice) -> Exchanges: ...
    def __getitem__(self, at: int | slice) -> Recorded | Exchanges:
        chosen = range(len(self._places)) if self._chosen is None else self._chosen
        if isinstance(at, slice):
            return Exchanges(self._places, self._tape, chosen[at])
        return self.detail(chosen[at]).recorded

    def of_session(self, session: str, until: int | None = None) -> Exchanges:
        """Those of a session by number, of the places up to one."""
        return Exchanges(self._places, self._tape, self._places.of_session(session, until))

    def detail(self, place: int) -> Detail:
        """One exchange with all that is known of it, by its place in the list of all. Raises TapeError."""
        return self._tape.at(self._places.span(place))


class Rows(Sequence[dict[str, Any]]):
    """Every row, by its place. The newest are in memory; others are made again as they were."""

    def __init__(self, places: Places, exchanges: Exchanges) -> None:
        self._places, self._exchanges = places, exchanges
        self._kept: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def kept(self) -> int:
        """Rows that are in memory."""
        return len(self._kept)

    def keep(self, made: dict[str, Any]) -> None:
        """Take a row as it is now."""
        with self._lock:
            self._kept[made["at"]] = made
            self._kept.move_to_end(made["at"])
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        with self._lock:
            found = self._kept.get(at)
        return self._again(at) if found is None else found

    def _again(self, at: int) -> dict[str, Any]:
        span = self._places.span(at)
        recorded = self._exchanges[at]
        made = row(recorded, at)
        if span.n is not None:
            made |= content(recorded, elsewhere=self._places.is_counted_elsewhere(at)).found
        with self._lock:
            if self._places.span(at) == span:  # else it has changed meanwhile, and comes again
                made = self._kept.setdefault(at, made)
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return made
