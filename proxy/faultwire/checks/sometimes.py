"""The invariant that something happens at least once in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr

from faultwire.checks._api import Check
from faultwire.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import History, Verdict


class Sometimes(Check):
    """In at least one cell of the run another check passes.

    What it judges:
        The verdicts of the check in `check` over all cells. One pass is enough: then the cells in which
        it failed count as passed too. It is how a run proves that it exercised a path at all: a fallback,
        a refusal, a second attempt.

    Why agents fail it:
        The path that everybody relies on is never taken: the fallback is not wired up, the fault never
        reached the code that handles it.

    What it cannot tell:
        Whether the path works each time it is taken.

    Example:
        invariants:
          - {type: sometimes, check: {type: fallback_used}}
    """

    name = "sometimes"
    evidence = "cells"
    over_all: ClassVar[bool] = True
    read: ClassVar[Callable[[dict[str, Any]], Check] | None] = None
    """Makes a check from its settings. The registry, which knows this check, sets it."""
    check: Annotated[dict[str, Any], Field(description="the other check, as it stands in a contract")]
    _inner: Check = PrivateAttr()

    def model_post_init(self, _context: Any, /) -> None:
        """Make the other check, so that a mistake in it is found before the run."""
        if Sometimes.read is None:
            raise ValueError("found no checks, expected `faultwire.checks._registry` to be imported first")
        try:
            inner = Sometimes.read(self.check)
        except ConfigError as error:
            raise ValueError(f"{error.message}{f' ({error.hint})' if error.hint else ''}") from None
        if inner.over_all:
            raise ValueError("found `sometimes` in `sometimes`, expected a check of one cell")
        self._inner = inner

    @property
    def label(self) -> str:
        """The word for this invariant in tables."""
        return self.id or f"sometimes_{self._inner.label}"

    def judge(self, history: History, answer: str) -> Verdict:
        """What the other check says of this one cell; the matrix has the last word."""
        return self._inner.verdict(history)
