"""The invariant that retries give a failing server time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._calls import calls, doubt, possible_calls
from faultwire.checks._order import ended_ms
from faultwire.checks._waits import asked_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.checks._calls import Call
    from faultwire.events import History, Recorded, Verdict


class BacksOff(Check):
    """Between the attempts of a failing call the agent waits, and longer each time.

    What it judges:
        The time between the end of an attempt and the start of the next one of the same call, or of
        the connection that was opened for it: at least `min_wait_s`; and of three or more attempts
        the last wait is longer than the first, unless `growing` is false. Waits that the server
        asked for by `Retry-After` are not judged.

    Why agents fail it:
        `while True: try` without a pause, or the same pause each time, from all clients at once.

    What it cannot tell:
        Random waits: with full jitter a later wait may be shorter. Set `growing: false` for such clients.

    Example:
        invariants:
          - {type: backs_off, min_wait_s: 0.2, when: any_chaos_active}
    """

    name = "backs_off"
    evidence = "failures"
    min_wait_s: Annotated[float, Field(ge=0, description="seconds between two attempts at least")] = 0.1
    growing: Annotated[bool, Field(description="whether waits must grow")] = True

    def judge(self, history: History, answer: str) -> Verdict:
        """Measure the waits of every repeated call."""
        verdict = self._judged(calls(history.exchanges))
        if verdict.verdict != "fail" and self._judged(possible_calls(history.exchanges)).verdict == "fail":
            return unknown(f"a failed call may have been repeated too soon: {doubt(history.exchanges)}")
        return verdict

    def _judged(self, found: Sequence[Call]) -> Verdict:
        numbers: list[int] = []
        shortest: float | None = None
        for call in found:
            waits = _waits(call)
            if not waits:
                continue
            numbers += call.numbers
            shortest = min(waits) if shortest is None else min(shortest, *waits)
            flaw = self._flaw(waits)
            if flaw is not None:
                words = f"{len(call.tries)} attempts of a call to {call.url}: {flaw}"
                return judged(False, words, [round(wait, 3) for wait in waits], call.numbers)
        if shortest is None:
            if any(len(call.tries) > 1 for call in found):
                words = "each call that was repeated had been asked to wait (`Retry-After`)"
                return unknown(f"{words}, which `respects_retry_after` judges")
            return unknown("no failed call was repeated")
        return judged(True, f"the shortest wait is {shortest:.2f} s", round(shortest, 3), numbers)

    def _flaw(self, waits: list[float]) -> str | None:
        if min(waits) < self.min_wait_s:
            return f"the shortest wait is {max(0.0, min(waits)):.3f} s, expected at least {self.min_wait_s:g}"
        if self.growing and len(waits) > 1 and waits[-1] <= waits[0]:
            return f"the first wait is {waits[0]:.2f} s and the last {waits[-1]:.2f} s, expected it to grow"
        return None


def _waits(call: Call) -> list[float]:
    """Seconds between attempts, where the client chose them."""
    return [
        (_begun_ms(before, after) - ended_ms(before)) / 1000
        for before, after in pairwise(call.tries)
        if asked_s(before.delivered) is None
    ]


def _begun_ms(before: Recorded, after: Recorded) -> float:
    """The instant at which a client had waited enough. One that opens a connection for the next attempt does
    not wait any more; how long it takes until the request is there depends on the machine."""
    how = after.arrival
    if how is None or how.request != 1:
        return after.started_ms
    opened = after.started_ms - how.open_ms
    return opened if opened >= ended_ms(before) else after.started_ms
