"""The invariant that half of an answer is not passed on as a whole one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._told import models
from faultwire.checks._traffic import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded, Verdict
    from faultwire.wire import Transcript


_Key = tuple[str, str, str]


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
        """Look for results of calls that a cut answer made, then for the cut text in the answer."""
        heard = models(history)
        cut = [(at, e, told) for at, (e, told) in enumerate(heard) if self._cut(e, told)]
        if not cut:
            return unknown("no model response was cut short")
        ran = self._ran_cut_call(heard)
        if ran is not None:
            return ran
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

    def _ran_cut_call(self, heard: Sequence[tuple[Recorded, Transcript]]) -> Verdict | None:
        """A failure where a later request brings the result of a call that only a cut answer made."""
        made: dict[_Key, tuple[Recorded, int]] = {}
        for exchange, told in heard:
            results = told.request.results if told.request is not None else ()
            known = Counter(_key(one.call_id, one.name or "", one.arguments) for one in results)
            for result in results:
                key = _key(result.call_id, result.name or "", result.arguments)
                cut, before = made.get(key, (None, 0))
                if cut is not None and known[key] > before:
                    return judged(
                        False,
                        f"the agent ran `{result.name or 'a tool'}` from the answer of exchange "
                        f"{cut.number}, which was cut short, and sent its result in exchange "
                        f"{exchange.number}",
                        "ran",
                        (cut.number, exchange.number),
                    )
            if told.answer is None:
                continue
            for call in told.answer.tool_calls:
                key = _key(call.id, call.name, call.arguments)
                if not told.answer.complete or self._at_limit(told):
                    made[key] = exchange, known[key]
                else:  # a whole answer has made the same call
                    made.pop(key, None)
        return None

    def _cut(self, exchange: Recorded, told: Transcript) -> bool:
        delivered = exchange.delivered
        if delivered is None or delivered.status >= 300 or told.answer is None:
            return False
        return self._at_limit(told) or not told.answer.complete or not whole(exchange)

    def _at_limit(self, told: Transcript) -> bool:
        return self.count_length and told.answer is not None and told.answer.finish_reason in _LIMITS


def _key(ident: str, name: str, arguments: str) -> _Key:
    """What a call is known by: its id, or its tool and arguments from providers that send no ids."""
    return (ident, "", "") if ident else ("", name, arguments)


def _good(exchange: Recorded) -> bool:
    return exchange.delivered is not None and exchange.delivered.status < 300


_LIMITS = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "incomplete"})
"""Finish reasons by which providers say that an answer was cut at a limit."""
