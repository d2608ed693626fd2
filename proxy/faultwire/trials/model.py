"""A trial and its outcome: frozen values, without a socket, a clock or chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.events import History
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import SessionAnswers


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """One decision of a fault: `entry` (its id in the profile) fires on its `call`-th logical call, from 1.

    The number is the one that the trigger `calls` counts. `exchange` is where the decision stood in the run
    it was taken from, for readers only; two pins that differ in nothing else are equal.
    """

    entry: str
    call: int
    exchange: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """For example `status on its call 2 (#5)`."""
        where = f" (#{self.exchange})" if self.exchange else ""
        return f"{self.entry} on its call {self.call}{where}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One run to make: which faults fire where, and the seed of their values.

    `profile` takes the place of the runner's, where values of faults are changed. `answers` says what of the
    replayed tape answers, where that is not all of it.
    """

    pins: frozenset[Pin]
    seed: int
    profile: Profile | None = None
    answers: SessionAnswers | None = None


class Spent(NamedTuple):
    """Dollars of models, and the answers whose cost is not known and not among them."""

    usd: float
    unpriced: int

    def times(self, count: int) -> Spent:
        """That of so many runs alike."""
        return Spent(self.usd * count, self.unpriced * count)

    @property
    def words(self) -> str:
        """`0.0200 dollars of models`, with what is not known."""
        if not self.unpriced:
            return f"{self.usd:.4f} dollars of models"
        if not self.usd:
            return "cost of models unknown"
        answers = "1 answer" if self.unpriced == 1 else f"{self.unpriced} answers"
        return f"{self.usd:.4f} dollars of models and the unknown cost of {answers}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of models as their providers counted them, both ways, and the answers that came without a count
    and are not among them."""

    count: int = 0
    uncounted: int = 0


NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    `failed` is the oracle's word; None where it cannot judge, or where the run proves nothing (`reason` says
    why). `cost_usd` is what the models would have cost, without `unpriced` answers whose cost is not known;
    `tape` is the recording where it was kept.
    """

    failed: bool | None
    exchanges: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    reason: str = ""
    tape: Path | None = None
    fired: frozenset[Pin] = frozenset()
    """The pinned decisions that reached the agent."""
    digest: str = ""
    """What came of the run, as `repeats.digest_of` has it; empty where that is not known."""
    unpriced: int = 0
    tokens: Tokens = NO_TOKENS


class Oracle(Protocol):
    """Judges a run. `needs` says in words what it looks at, for messages and for the repro folder."""

    @property
    def description(self) -> str:
        """The oracle in words."""

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Did the run fail (None: that cannot be said), and why."""
