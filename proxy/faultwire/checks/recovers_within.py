"""The invariant that a failure is over soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._order import ended_ms
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import place
from faultwire.checks._usable import useless
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict


class RecoversWithin(Check):
    """After a failure something of the same kind succeeds within a time.

    What it judges:
        Each exchange with a model, tool or agent that failed, or in which a model's response was no answer: a
        body that is empty or cannot be read, or from which a fault took the text and the calls. A good one of
        the same kind (a tool: the same tool) must end within `max_s` seconds of its end, and, where
        `max_exchanges` is given, be among the next so many of that kind.

    Why agents fail it:
        The first error ends the task, or retries go on at a pace at which nobody waits for them.

    What it cannot tell:
        Whether the work that failed was taken up again: only that something succeeded.

    Example:
        invariants:
          - {type: recovers_within, max_s: 20, when: any_chaos_active}
    """

    name = "recovers_within"
    evidence = "failures"
    max_s: Annotated[float, Field(gt=0, description="seconds")]
    max_exchanges: Annotated[int | None, Field(ge=1, description="exchanges of the same kind")] = None

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for a success after each failure."""
        slowest, numbers = 0.0, []
        for exchange in history.exchanges:
            what = _failure(history, exchange)
            if exchange.kind == "other" or what is None:
                continue
            numbers.append(exchange.number)
            after = self._after(history, exchange)
            if after is None:
                words = f"{quoted(place(exchange))} {what}, and nothing like it succeeded afterwards"
                return judged(False, words, None, (exchange.number,))
            took = (ended_ms(after) - ended_ms(exchange)) / 1000
            if took > self.max_s:
                words = f"{quoted(place(exchange))} {what}, and it took {took:.2f} s until it worked again"
                return judged(
                    False, f"{words}, allowed are {self.max_s:g}", took, (exchange.number, after.number)
                )
            slowest = max(slowest, took)
        if not numbers:
            return unknown("no exchange failed, so there was nothing to recover from")
        return judged(
            True,
            f"{counted(len(numbers), 'failure')}, the longest over after {slowest:.2f} s",
            slowest,
            numbers,
        )

    def _after(self, history: History, broken: Recorded) -> Recorded | None:
        """The first success of the kind, among as many as are looked at."""
        alike = [
            exchange
            for exchange in history.exchanges
            if exchange.number > broken.number
            and (exchange.kind, exchange.tool) == (broken.kind, broken.tool)
        ]
        return next((e for e in alike[: self.max_exchanges] if _failure(history, e) is None), None)


def _failure(history: History, exchange: Recorded) -> str | None:
    """What was wrong with an exchange; None where it went well."""
    if failed(exchange):
        return "failed"
    lacks = useless(history, exchange)
    return None if lacks is None else f"responded {lacks}"
