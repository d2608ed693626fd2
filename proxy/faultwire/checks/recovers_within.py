"""The invariant that a failure is over soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._delivered import failing_exchanges
from faultwire.checks._order import ended_ms
from faultwire.checks._tools import uses
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import models, quoted_place, transcript_of
from faultwire.checks._truncated import question
from faultwire.checks._usable import useless
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded, Verdict
    from faultwire.wire import Transcript

NAMED = 3
"""Exchanges that a reason names by number."""


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
        Whether the work that failed was taken up again: only that something succeeded. Where the question of
        a failed model call stands in no later request, the reason says so; the verdict stays.

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
        slowest, broken = 0.0, []
        for exchange in history.exchanges:
            what = _failure(history, exchange)
            if exchange.kind == "other" or what is None:
                continue
            broken.append(exchange)
            after = self._after(history, exchange)
            if after is None:
                words = f"{quoted_place(exchange)} {what}, and nothing like it succeeded afterwards"
                return judged(False, words, None, (exchange.number,))
            took = (ended_ms(after) - ended_ms(exchange)) / 1000
            if took > self.max_s:
                words = f"{quoted_place(exchange)} {what}, and it took {took:.2f} s until it worked again"
                return judged(
                    False, f"{words}, allowed are {self.max_s:g}", took, (exchange.number, after.number)
                )
            slowest = max(slowest, took)
        if not broken:
            return unknown(_nothing(history) + _others(history))
        words = f"{counted(len(broken), 'failure')}, the longest over after {slowest:.2f} s"
        return judged(
            True, words + _dropped(history, broken), slowest, [exchange.number for exchange in broken]
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


def _nothing(history: History) -> str:
    """Why there is nothing to judge: results of tools inside of an agent are no exchanges of their own."""
    results = sorted(failing_exchanges(history, uses(history)))
    if not results:
        return "no call of a model, tool or agent failed, so there was nothing to recover from"
    return (
        "no exchange with a model, tool or agent failed; a failed result of a tool inside of the agent is in "
        f"{_numbers(results)}, and when that tool worked again cannot be measured"
    )


def _others(history: History) -> str:
    """That exchanges failed which are none of a model, tool or agent, where some did."""
    others = [one.number for one in history.exchanges if one.kind == "other" and failed(one)]
    if not others:
        return ""
    which = "which is" if len(others) == 1 else "which are"
    return f"; {counted(len(others), 'other exchange')} failed ({_numbers(others)}), {which} not judged"


def _dropped(history: History, broken: Sequence[Recorded]) -> str:
    """Which questions to a model were not asked again after they failed, where that is known."""
    lost = [exchange.number for exchange in broken if _never_again(history, exchange)]
    if not lost:
        return ""
    the = "the question" if len(lost) == 1 else "the questions"
    was = "was" if len(lost) == 1 else "were"
    return f"; a later call succeeded, but {the} of {_numbers(lost)} {was} not asked again"


def _never_again(history: History, broken: Recorded) -> bool:
    """Does what a failed call asked a model stand in no later request? False where that cannot be read."""
    transcript = transcript_of(history, broken)
    asked = {" ".join(text.split()) for text in _texts(question(transcript))} if transcript else set()
    asked.discard("")
    if not asked:
        return False
    seen = {exchange.number: one for exchange, one in models(history)}
    later = [one for one in history.exchanges if one.kind == "llm" and one.number > broken.number]
    return all(one.number in seen and not _holds(seen[one.number], asked) for one in later)


def _holds(transcript: Transcript, asked: set[str]) -> bool:
    """Does a request have one of these texts? One that cannot be read may have them."""
    if transcript.request is None:
        return True
    request = transcript.request
    texts = [request.system, *(turn.text for turn in request.turns), *(one.text for one in request.results)]
    everything = " ".join(" ".join(texts).split())
    return any(text in everything for text in asked)


def _texts(asked: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    return [text for words, results in asked for text in (words, *results)]


def _numbers(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > NAMED else ""
    return ", ".join(f"#{number}" for number in numbers[:NAMED]) + more


def _failure(history: History, exchange: Recorded) -> str | None:
    """What was wrong with an exchange; None where it went well."""
    if failed(exchange):
        return "failed"
    lacks = useless(history, exchange)
    return None if lacks is None else f"responded {lacks}"
