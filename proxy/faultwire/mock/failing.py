"""Which call of a model fails, and how: the only part of the mock that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from faultwire.mock._api import Failure
from faultwire.mock.matching import Match
from faultwire.profile.entry_model import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.mock._api import Conversation


class ErrorSpec(Frozen):
    """An error to answer with, in the provider's shape."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str | None = None
    retry_after_s: NonNegativeFloat | None = None

    def made(self) -> Failure:
        """The error."""
        return Failure(self.status, self.message, self.retry_after_s)


class BreakSpec(Frozen):
    """A stream that fails after so many events; a whole answer fails before its first byte."""

    after_events: NonNegativeInt = 0
    how: Literal["cut", "reset", "hang", "error"] = "cut"
    """`cut` closes the connection, `reset` aborts it, `hang` says nothing more, `error` tells of an error in
    the provider's own way."""


class FailureSpec(Frozen):
    """Calls that fail, of those that `match`: the `first` so many, each `every`-th, or those numbered
    `calls` (from 1); without any of these, all."""

    match: Match = Match()
    first: PositiveInt | None = None
    every: PositiveInt | None = None
    calls: tuple[PositiveInt, ...] = ()
    error: ErrorSpec | None = None
    breaks: BreakSpec | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.error is None) == (self.breaks is None):
            raise ValueError("found neither or both of `error` and `breaks`, expected one")
        if sum((self.first is not None, self.every is not None, bool(self.calls))) > 1:
            raise ValueError("found several of `first`, `every` and `calls`, expected at most one")
        return self

    def meets(self, number: int) -> bool:
        """Does it hit the matching call of this number, from 1?"""
        if self.first is not None:
            return number <= self.first
        if self.every is not None:
            return number % self.every == 0
        return not self.calls or number in self.calls


class Failing:
    """The failures of one server, and how many matching calls each of them has seen."""

    def __init__(self, failures: Sequence[FailureSpec] = ()) -> None:
        self._failures = tuple(failures)
        self._seen = [0] * len(self._failures)

    def next(self, conversation: Conversation) -> FailureSpec | None:
        """The failure of this call: the first one that hits it. Every one that matches counts it."""
        found = None
        for at, failure in enumerate(self._failures):
            if failure.match.fits(conversation):
                self._seen[at] += 1
                if found is None and failure.meets(self._seen[at]):
                    found = failure
        return found
