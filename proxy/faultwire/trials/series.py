"""A series of trials under a budget: outcomes of an earlier start are taken from the journal, in order."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from faultwire.errors import UsageError
from faultwire.text import counted
from faultwire.trials.model import NO_TOKENS, Spent

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.trials.journal import Journal, Kept
    from faultwire.trials.model import Outcome, Tokens


Limit = Literal["runs", "time", "cost", "price", "tokens", "usage"]
PRICES = "`faultwire prices update FILE` adds prices"
USAGE = "OpenAI's streams have usage where `stream_options.include_usage` asks for it"


class OutOfBudget(Exception):
    """The next trial would go over the budget, in what `limit` says."""

    def __init__(self, limit: Limit = "runs") -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Budget:
    """What a series may take; None: no limit. Runs, cost and tokens are those of all starts of a search, time
    is that of the trials of one start: a search that goes on has it anew."""

    runs: int = 200
    seconds: float | None = None
    cost_usd: float | None = None
    assumed: bool = False
    """Is the limit of cost our own, and not the user's? Then answers of unknown cost do not end it."""
    tokens: int | None = None

    def spent(
        self, runs: int, seconds: float, cost_usd: float, unpriced: int = 0, tokens: Tokens = NO_TOKENS
    ) -> Limit | None:
        """Of what there is nothing left for another trial, if of anything; `price` or `usage` where that is
        not known, since so many answers have no price, or came without a count of tokens."""
        if unpriced and self.cost_usd is not None and not self.assumed:
            return "price"
        if self.tokens is not None and (tokens.uncounted or tokens.count >= self.tokens):
            return "usage" if tokens.uncounted else "tokens"
        if runs >= self.runs:
            return "runs"
        if self.seconds is not None and seconds >= self.seconds:
            return "time"
        return "cost" if self.cost_usd is not None and cost_usd >= self.cost_usd else None

    @property
    def condition(self) -> str | None:
        """What the limit of cost depends on, for the start of a search."""
        if self.cost_usd is None:
            return None
        if self.assumed:
            return (
                f"the limit of {self.cost_usd:g} dollars cannot hold for models without a known price: their "
                f"answers are not in it; {PRICES}"
            )
        return (
            f"`--max-cost {self.cost_usd:g}` cannot hold for models without a known price: the first answer "
            f"of one ends the search; {PRICES}"
        )

    @property
    def token_condition(self) -> str | None:
        """What the limit of tokens depends on, for the start of a search."""
        if self.tokens is None:
            return None
        return (
            f"`--max-tokens {self.tokens}` cannot hold for answers without usage: the first one ends the "
            f"search; {USAGE}"
        )

    def must_hold(self, command: str, unpriced: int, uncounted: int = 0) -> None:
        """Refuse a limit of cost or of tokens that cannot hold, as the first run shows, which had so many
        answers of unknown cost, and so many without usage. Raises UsageError."""
        if self.tokens is not None and uncounted:
            raise UsageError(
                f"found `--max-tokens {self.tokens}` and {counted(uncounted, 'answer')} of models without "
                "usage in the first run, expected usage of all: the limit could not hold",
                code=f"{command}.unknown_usage",
                hint=f"{USAGE}; or bound the search by --max-runs and --max-time alone",
            )
        if self.spent(0, 0.0, 0.0, unpriced) != "price":
            return
        raise UsageError(
            f"found `--max-cost {self.cost_usd:g}` and {counted(unpriced, 'answer')} of models without a "
            "known price in the first run, expected prices of all: the limit could not hold",
            code=f"{command}.unknown_price",
            hint=f"{PRICES}; or bound the search by --max-runs and --max-time alone",
        )


@dataclass
class Series:
    """Trials one after the other, with what they took together."""

    journal: Journal
    budget: Budget
    runs: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Answers of models whose cost is not known."""
    started_s: float = 0.0
    """What the trials of this start took."""
    last: str = ""
    """Why the last failed trial failed, as the oracle states it."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Reasons of trials that proved nothing."""
    _earlier: deque[Kept] = field(init=False)

    def __post_init__(self) -> None:
        """Start with what the journal holds."""
        self._earlier = deque(self.journal.earlier)

    @property
    def spent(self) -> Spent:
        """What the models of all trials would have cost."""
        return Spent(self.cost_usd, self.unpriced)

    def outcome(self, key: str, attempt: Callable[[], Outcome]) -> Outcome:
        """What came of the trial with this key, which is run unless the journal holds it.

        Raises OutOfBudget, and UsageError where the journal holds other trials."""
        if self._earlier:
            kept = self._earlier.popleft()
            if kept.key != key:
                raise UsageError(
                    f"found `{self.journal.path}`, whose trials are not those of this search",
                    code=f"{self.journal.command}.state",
                    hint="name another file with --state, or remove it",
                )
            found = kept.outcome
        else:
            limit = self.budget.spent(self.runs, self.started_s, self.cost_usd, self.unpriced)
            if limit is not None:
                raise OutOfBudget(limit)
            found = attempt()
            self.journal.append(key, found)
            self.started_s += found.seconds
        self.runs += 1
        self.seconds += found.seconds
        self.cost_usd += found.cost_usd
        self.unpriced += found.unpriced
        if found.failed is None:
            self.undecided[found.reason] += 1
        elif found.failed:
            self.last = found.reason
        return found


def goes_on(limit: Limit, budget: Budget, runs: int) -> str:
    """What a user may do about a search that a limit ended after so many runs."""
    if limit == "time":
        return f"the same command goes on for another {budget.seconds:g} s; a longer --max-time ends later"
    if limit == "price":
        return f"without --max-cost the same command goes on; {PRICES}, for a search that begins anew"
    if limit == "cost":
        return f"the same command with `--max-cost {2 * (budget.cost_usd or 0):g}` goes on"
    if limit == "usage":
        return f"without --max-tokens the same command goes on; {USAGE}, for a search that begins anew"
    if limit == "tokens":
        return f"the same command with `--max-tokens {2 * (budget.tokens or 0)}` goes on"
    return f"the same command with `--max-runs {2 * runs}` goes on"


def ended_by(limit: Limit, budget: Budget) -> str:
    """The limit, as the option that it is."""
    if limit == "time":
        return f"`--max-time {budget.seconds:g}s`"
    if limit == "price":
        return f"an answer without a known price, so that `--max-cost {budget.cost_usd:g}` cannot hold,"
    if limit == "cost":
        return f"the limit of {budget.cost_usd:g} dollars (`--max-cost`)"
    if limit == "usage":
        return f"an answer without usage, so that `--max-tokens {budget.tokens}` cannot hold,"
    if limit == "tokens":
        return f"`--max-tokens {budget.tokens}`"
    return f"`--max-runs {budget.runs}`"
