"""Has the cells of a campaign played by the workers of an engine, and takes each result once.

The only writer of the campaign's results, and the only one that gives out cells: leases, budget and results
are its own, so that an engine may lose batches, run them twice, or be started anew.
"""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.campaign.budget import Spending
from faultwire.campaign.leases import MOST_LOST, Leases
from faultwire.campaign.notes import Counts
from faultwire.campaign.pace import Pace
from faultwire.campaign.worker import MISMATCH, Request
from faultwire.dice import token
from faultwire.errors import FaultwireError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from faultwire.campaign.budget import Limit
    from faultwire.campaign.cell import Surroundings
    from faultwire.campaign.engine import Command, Ended, Engine
    from faultwire.campaign.results import Results

LOST = "engine.lost"
"""The code of an error: the worker is there, and its proxy is gone."""
TURN_S = 5.0
"""Seconds after which leases are looked at, whatever the engine says."""
START_S = 120.0
"""Seconds of a lease for the start of a worker and its engine."""
ENDING_S = 20.0
"""Seconds that workers have to answer with what they have when a campaign ends early."""


class BudgetSpentError(Exception):
    """There is no more to give out, by what `limit` says."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class How:
    """How batches are played. `cell_s` is the longest that one cell may take; `lease_s` the length of every
    lease instead of what that comes to."""

    command: Command
    concurrency: int
    retries: int
    cell_s: float
    lease_s: float | None = None

    def lease(self, cells: int) -> float:
        """Seconds that a batch of so many cells may take at most."""
        if self.lease_s is not None:
            return self.lease_s
        return START_S + self.cell_s * (1 + self.retries) * -(-cells // self.concurrency)


@dataclass
class Coordinator:
    """One campaign; its tasks are `CellTask`, or what else a kind of its own makes requests of."""

    engine: Engine
    results: Results
    expected: Surroundings
    how: How
    spending: Spending
    counts: Counts = field(default_factory=Counts)
    leases: Leases = field(default_factory=Leases)
    pace: Pace = field(default_factory=Pace)
    given_up: dict[str, str] = field(default_factory=dict)
    """Cells that lost every worker they were given to, and how the last of them ended."""
    _tasks: dict[str, Any] = field(default_factory=dict)
    _began: float = field(default_factory=clock.monotonic)
    _given: dict[str, float] = field(default_factory=dict)
    """When each batch was given out."""

    def check_workers(self) -> None:
        """Have every worker say what it would play with. Raises UsageError where one differs or fails, before
        the first cell is given out."""
        for worker, ended in self.engine.ask(self.how.command, self._request({})):
            found, _ = self._parsed(ended)
            if "error" in found:
                self._refused(found["error"], f"the worker at {worker}: ")

    def play(
        self,
        wanted: Mapping[str, Any],
        ahead: Mapping[str, Any],
        arrived: Callable[[str], None],
    ) -> None:
        """Play until each of the wanted cells has a result or was given up; cells of `ahead` are given to
        workers that would else be idle. `arrived` hears of each wanted cell once.

        Raises BudgetSpentError, UsageError where a worker refuses its cells, and FaultwireError.
        """
        self._tasks |= {**ahead, **wanted}
        self._known(wanted, arrived)
        self._known(ahead, lambda _cell: None)
        self.leases.add(wanted, first=True)
        self.leases.add(ahead)
        reported = {cell for cell in wanted if cell in self.results.cells}
        try:
            while self.leases.open(wanted):
                self._fill()
                self._take_all(self.engine.wait(self._patience()))
                for batch in self.leases.expired(clock.monotonic()):
                    self.counts.expired += 1
                    self._lose(batch, "its lease ran out")
                    self.engine.drop(batch)
                for cell in wanted:
                    if cell in self.results.cells and cell not in reported:
                        reported.add(cell)
                        arrived(cell)
        except (KeyboardInterrupt, BudgetSpentError):
            self._end_early()
            for cell in (cell for cell in wanted if cell in self.results.cells and cell not in reported):
                arrived(cell)
            raise

    def _known(self, cells: Mapping[str, Any], arrived: Callable[[str], None]) -> None:
        """Cells whose results an earlier start has left are settled."""
        known = [cell for cell in cells if cell in self.results.cells]
        self.leases.add(known)
        for cell in known:
            if self.leases.settle(cell):
                self.counts.earlier += 1
            arrived(cell)

    def _fill(self) -> None:
        """Give out batches while a worker is free and the budget allows it."""
        slots = self.engine.slots
        while self.leases.batches < slots and self.leases.free:
            size = self.pace.size(self.leases.free, slots, slots - self.leases.batches)
            size = self.spending.allowed(size, self.leases.leased)
            if not size:
                break
            batch = token(8)
            cells = self.leases.take(batch, size, clock.monotonic() + self.how.lease(size))
            request = self._request({cell: self._tasks[cell] for cell in cells})
            self._given[batch] = clock.monotonic()
            self.engine.submit(batch, self.how.command, request)
            self.counts.batches += 1
        spent = self.spending.spent(clock.monotonic() - self._began, self.leases.leased)
        if spent is not None and (spent == "time" or self.leases.free):
            raise BudgetSpentError(spent)

    def _patience(self) -> float:
        """Seconds until there is something to do, whatever the engine says."""
        ends = [clock.monotonic() + TURN_S]
        if self.leases.next_end is not None:
            ends.append(self.leases.next_end)
        if self.spending.limits.seconds is not None:
            ends.append(self._began + self.spending.limits.seconds)
        return max(0.0, min(ends) - clock.monotonic())

    def _take_all(self, ended: Sequence[Ended]) -> None:
        for one in ended:
            self._take(one)

    def _take(self, ended: Ended) -> None:
        """A batch is over: keep what it has, and free what it lacks."""
        given = self._given.pop(ended.batch, None)
        if ended.lost:
            if ended.batch in self.leases.under_way:  # or its lease has run out before
                self._lose(ended.batch, ended.lost, away=ended.away)
            return
        found, tape = self._parsed(ended)
        if "error" in found and found["error"].get("code") == LOST:
            self._lose(ended.batch, str(found["error"].get("message")))
            return
        if "error" in found:
            self.leases.end(ended.batch)
            self._refused(found["error"], "a worker: ")
        played = self._keep(found, tape)
        self.leases.end(ended.batch)
        if given is not None:
            self.pace.add(played, clock.monotonic() - given, found.get("play_s"))

    def _keep(self, found: Mapping[str, Any], tape: bytes) -> int:
        """Keep the results that count; how many there were."""
        results = json.loads(self.results.key.open(b64decode(found["box"])))
        new = {}
        for about in results:
            self.spending.add(about)
            if self.leases.settle(about["cell"]):
                new[about["cell"]] = about
            else:
                self.counts.doubled += 1
        if new:
            self.results.commit(new, self._keep_tape(found, tape))
        return len(results)

    def _keep_tape(self, found: Mapping[str, Any], tape: bytes) -> Path:
        return self.results.keep_tape(str(found["tape"]), tape, str(found["seal"]))

    def _request(self, cells: Mapping[str, Any]) -> str:
        """What a worker is asked: to play these cells; none: whether it would."""
        how = self.how
        return Request(self.expected, cells, how.concurrency, how.retries, self.results.key.public).as_json()

    def _lose(self, batch: str, why: str, *, away: bool = False) -> None:
        """Free the cells of a batch. That an engine was `away` is no fault of theirs."""
        self.counts.lost += 1
        for cell in self.leases.end(batch, lost=not away):
            self.given_up[cell] = f"{MOST_LOST} workers were lost while they played it; the last: {why}"

    def _parsed(self, ended: Ended) -> tuple[dict[str, Any], bytes]:
        """A worker's answer and its tape. Raises FaultwireError where it gave none."""
        line, _, tape = ended.output.partition(b"\n")
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("it is no object")
        except ValueError as error:
            last = next((line for line in reversed(ended.errors.splitlines()) if line.strip()), "nothing")
            raise FaultwireError(
                f"a worker ended with code {ended.code} and gave no answer; its last line: "
                f"`{printable(last)[:200]}`",
                code="campaign.worker",
                hint="see that its command starts faultwire there: --worker-python and --worker-folder",
            ) from error
        return found, tape

    def _refused(self, error: Mapping[str, Any], who: str) -> None:
        """Raise what a worker says; nothing that it was to play is counted."""
        kind = UsageError if error.get("code") == MISMATCH or error.get("exit_code") == 2 else FaultwireError
        message = printable(str(error.get("message")))
        raise kind(f"{who}{message}", code=str(error.get("code")), hint=error.get("hint"))

    def _end_early(self) -> None:
        """Ask all workers to stop, and keep what they have."""
        deadline = clock.monotonic() + ENDING_S
        for batch in self.leases.under_way:
            self.engine.stop(batch)
        while self.leases.batches and clock.monotonic() < deadline:
            for one in self.engine.wait(min(1.0, deadline - clock.monotonic())):
                if one.lost or one.output:
                    self._take(one)
                else:  # it was ended while it started
                    self.leases.end(one.batch)

    @property
    def label(self) -> str:
        """The agent in words, as workers call it."""
        return next((str(one.about["label"]) for one in self.results.cells.values()), "")

    @property
    def network(self) -> bool:
        """Is it reached by HTTP?"""
        return any(one.about["network"] for one in self.results.cells.values())
