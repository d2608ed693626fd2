"""The invariant that half of an answer is not passed on as a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._told import models
from faultwire.checks._traffic import whole

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict
    from faultwire.wire import Transcript


class TruncatedStreamNotAccepted(Check):
    """A model's answer that was cut short is not handed on as if it were whole.

    What it judges:
        Answers of models that ended before their closing event (or, with `count_length`, with the finish
        reason that means a limit). The agent may ask again, fail, or say something else; what it must not
        do is end well with the cut text as its answer, or hand tool results on that the cut call asked for.

    Why agents fail it:
        Many SDKs end the iteration without an exception when a stream just stops.

    What it cannot tell:
        Whether the agent reworded the half that it got.

    Example:
        invariants:
          - {type: truncated_stream_not_accepted, when: llm_faults_active, severity: high}
    """

    name = "truncated_stream_not_accepted"
    evidence = "failures"
    count_length: Annotated[bool, Field(description="whether an answer at its limit counts as cut")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for the cut text in the answer."""
        heard = models(history)
        cut = [(at, e, told) for at, (e, told) in enumerate(heard) if self._cut(e, told)]
        if not cut:
            return unknown("no model response was cut short")
        agent = history.agent
        if agent is not None and (agent.exit_code != 0 or agent.timed_out):
            return judged(True, "the agent did not end well", "failed", [e.number for _, e, _ in cut])
        at, exchange, told = cut[-1]
        if any(not self._cut(e, later) and _good(e) for e, later in heard[at + 1 :]):
            return judged(
                True, "the agent retried and received a complete answer", "again", (exchange.number,)
            )
        said = " ".join((told.answer.text if told.answer is not None else "").split())
        if not said:
            return judged(not answer.strip(), f"no text came before the cut, the answer is {quoted(answer)}")
        handed_on = said in " ".join(answer.split())
        words = f"the answer {quoted(answer)} {'is' if handed_on else 'is not'} what came before the cut"
        return judged(not handed_on, words, "accepted" if handed_on else "other", (exchange.number,))

    def _cut(self, exchange: Recorded, told: Transcript) -> bool:
        delivered = exchange.delivered
        if delivered is None or delivered.status >= 300 or told.answer is None:
            return False
        if self.count_length and told.answer.finish_reason in _LIMITS:
            return True
        return not told.answer.complete or not whole(exchange)


def _good(exchange: Recorded) -> bool:
    return exchange.delivered is not None and exchange.delivered.status < 300


_LIMITS = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "incomplete"})
"""Finish reasons by which providers say that an answer was cut at a limit."""
