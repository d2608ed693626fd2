"""The invariant that a server's wish to be left alone is respected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire import wire
from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._order import ended_ms, order, unseen
from faultwire.checks._transcripts import place, quoted_place, transcript_of
from faultwire.checks._waits import asked_s, asks_shortly
from faultwire.events import header
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import History, Recorded, Verdict


KEYS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")


class RespectsRetryAfter(Check):
    """After an answer with `Retry-After` nothing is sent to that place before the time is over.

    What it judges:
        The next request with the same method, host, path, key and model, whatever its body, counted from the
        end of the answer that asked (`Retry-After` in seconds or as a date, `retry-after-ms`). Limits are
        those of a key and a model: another one may be asked at once. `tolerance_s` is allowed too early. An
        agent that never came back respected it.

    Why agents fail it:
        A retry loop around an SDK that knows the header, or an SDK that ignores waits of more than a
        minute.

    What it cannot tell:
        Whether the agent waited for other reasons.

    Example:
        invariants:
          - {type: respects_retry_after, when: llm_faults_active, severity: high}
    """

    name = "respects_retry_after"
    evidence = "failures"
    tolerance_s: Annotated[float, Field(ge=0, description="seconds that it may be too early")] = 0.1

    def judge(self, history: History, answer: str) -> Verdict:
        """Hold each next request against what was asked."""
        asked: list[tuple[Recorded, float]] = []
        strange = 0
        for exchange in history.exchanges:
            wanted = asked_s(exchange.delivered)
            if wanted is not None:
                asked.append((exchange, wanted))
            elif exchange.delivered is not None and exchange.delivered.status >= 400:
                strange += asks_shortly(exchange.delivered.headers)
        if not asked:
            why = "no response asked for a wait" + (" in a known format" if strange else "")
            return unknown(why)
        doubtful: Recorded | None = None
        for exchange, wanted in asked:
            early = self._early(history, exchange, wanted, (True,))
            if early is not None:
                waited = _waited(exchange, early)
                got = f"was left alone for {max(waited, 0):.2f} s"
                words = f"{quoted_place(exchange)} asked for {wanted:g} s and {got}"
                return judged(False, words, round(waited, 3), (exchange.number, early.number))
            doubtful = doubtful or self._early(history, exchange, wanted, (True, None))
        if doubtful is not None:
            seen = doubtful.arrival is not None
            return unknown(f"a request may have come too early: {unseen([doubtful.number], seen=seen)}")
        numbers = [exchange.number for exchange, _ in asked]
        came = sum(any(_again(history, exchange, (True, None))) for exchange, _ in asked)
        return judged(True, _respected(len(asked), came), len(asked), numbers)

    def _early(
        self, history: History, exchange: Recorded, wanted: float, enough: tuple[bool | None, ...]
    ) -> Recorded | None:
        """The first request to the same place that was begun after this answer, if it came too early."""
        later = (
            other
            for other in _again(history, exchange, enough)
            if _waited(exchange, other) + self.tolerance_s < wanted
        )
        return min(later, key=lambda other: other.started_ms, default=None)


def _again(history: History, exchange: Recorded, enough: tuple[bool | None, ...]) -> Iterator[Recorded]:
    """The requests for the same after this answer, of those about which it is known `enough` that they were
    begun after it."""
    where = _asker(exchange)
    known = order(history.exchanges)
    return (
        other
        for other in history.exchanges
        if other.number > exchange.number
        and _asker(other) == where
        and known.follows(exchange, other) in enough
        and _same_model(history, exchange, other)
    )


def _respected(asked: int, came: int) -> str:
    """What is said of so many answers, after some of which the agent came back, in time."""
    words = f"{counted(asked, 'response')} asked for a wait"
    if came == asked:
        return f"{words}, and the agent waited"
    never = "no later request had the same place, key and model"
    if not came:
        return f"{words}, and {never}"
    return f"{words}: the agent waited after {came}, and {never} as the other{'s' * (asked > came + 1)}"


def _asker(exchange: Recorded) -> tuple[str, ...]:
    """Method, place, and whose request it is: limits are those of a key. A signature is new each time and
    names nobody."""
    request = exchange.request
    keys = (header(request.headers, name) or "" for name in KEYS)
    return (request.method, place(exchange), *("" if wire.is_signed(request) else key for key in keys))


def _same_model(history: History, exchange: Recorded, other: Recorded) -> bool:
    """Do both ask the same model? Taken for granted where one does not say which."""
    transcripts = (transcript_of(history, one) for one in (exchange, other))
    asked = [one.request.model for one in transcripts if one is not None and one.request is not None]
    return len(asked) < 2 or not all(asked) or asked[0] == asked[1]


def _waited(exchange: Recorded, after: Recorded) -> float:
    return (after.started_ms - ended_ms(exchange)) / 1000
