"""Has the workers of an engine make the runs of a search, under the leases and results of a campaign."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.campaign.budget import Limits, Spending
from faultwire.campaign.cell import campaign_id
from faultwire.campaign.coordinator import Coordinator, How
from faultwire.campaign.engine import Command, worker_words
from faultwire.campaign.notes import notes
from faultwire.campaign.open_engine import open_engine
from faultwire.campaign.results import Results
from faultwire.campaign.trial_request import TrialRequest, run_id
from faultwire.explore.made import Made
from faultwire.explore.space import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from faultwire.campaign.cell import Surroundings
    from faultwire.explore.made import Ask

START_S = 60.0
"""Seconds that a run may take beside its agent."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where runs are made. `python` and `folder` are those of workers; None: as here."""

    place: str
    python: str | None = None
    folder: str | None = None
    lease_s: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """A search as its workers know it: `about` is a digest of all that its outcomes depend on, `expected`
    what must be the same on every worker, `words` how it was asked for."""

    about: str
    expected: Surroundings
    words: Mapping[str, Any]
    timeout_s: float


@dataclass
class TrialCoordinator(Coordinator):
    """A campaign whose tasks are runs of a search, which has the budget, and asks for no run beyond it."""

    search: Mapping[str, Any] = field(default_factory=dict)

    def _request(self, cells: Mapping[str, Any]) -> str:
        return TrialRequest(self.expected, self.search, cells, self.results.key.public).as_json()

    def _keep_tape(self, found: Mapping[str, Any], tape: bytes) -> Path:
        """No tape comes: what a search needs of a run is in its result."""
        return self.results.tapes / "none"


@dataclass
class TrialPlayer:
    """`explore.players.Player` on workers."""

    campaign: TrialCoordinator
    looked_at: set[str] = field(default_factory=set)
    """The ids of runs whose outcomes the search has got."""
    interrupted: bool = False
    _ids: dict[str, str] = field(default_factory=dict)
    _earlier: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """What an earlier start has left is none of this one's."""
        self._earlier = frozenset(self.campaign.results.cells)

    def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Callable[[Ask, Made], None]) -> Made:
        """What came of a run. One that lost all its workers could not be judged. Raises what
        `Coordinator.play` raises."""
        campaign, name = self.campaign, self._id(wanted)
        try:
            campaign.play({name: wanted}, {self._id(ask): ask for ask in ahead}, lambda _cell: None)
        except KeyboardInterrupt:
            self.interrupted = True
            raise
        if name in campaign.given_up:
            made = Made(Observation(None, campaign.given_up[name]), {})
        else:
            made = Made.from_json(campaign.results.cells[name].about["made"])
        arrived(wanted, made)
        self.looked_at.add(name)
        return made

    def _id(self, ask: Ask) -> str:
        if ask.key not in self._ids:
            self._ids[ask.key] = run_id(ask, self.campaign.expected)
        return self._ids[ask.key]

    def notes(self) -> tuple[str, ...]:
        """What happened to batches, where something did."""
        ahead = self.campaign.results.cells.keys() - self._earlier - self.looked_at
        return tuple(notes(self.campaign.counts, len(ahead)))

    def close(self) -> None:
        """Nothing is under way here."""


@contextmanager
def workers(on: Workers, search: Search, base: Path) -> Iterator[TrialPlayer]:
    """Workers that were found to be fit. What they have made is kept until the context ends without an error
    or Ctrl-C, so that the same search goes on with it.

    Raises UsageError where there is no such engine, where the same search is at work in another process, or
    where a worker would play something else.
    """
    results = Results(base, campaign_id("explore", [search.about]))
    try:
        engine = open_engine(on.place)
        command = Command(worker_words(on.python), on.folder or str(Path.cwd()))
        how = How(command, 1, 0, search.timeout_s + START_S, on.lease_s)
        campaign = TrialCoordinator(
            engine, results, search.expected, how, Spending(Limits()), search=search.words
        )
        try:
            campaign.check_workers()
            player = TrialPlayer(campaign)
            yield player
        finally:
            engine.close()
        if not player.interrupted:
            results.remove()
    finally:
        results.close()
