"""The invariant that half of an answer is not passed on as a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._carried import carried, completed
from faultwire.checks._transcripts import models
from faultwire.checks._truncated import (
    NO_ANSWER,
    admits,
    continued,
    executed,
    holds,
    refusals,
    replacements,
    truncated,
)

if TYPE_CHECKING:
    from faultwire.checks._carried import Carried
    from faultwire.checks._truncated import Executed, Truncated
    from faultwire.events import AgentResult, History, Verdict

RAN_AT_LIMIT = "ran at the limit"
"""The value of a verdict about a tool call that a token limit cut."""
CARRIED_AT_LIMIT = "carried at the limit"
"""The value of a verdict about an answer at its token limit that was sent on as a whole one."""
ABOUT_LIMITS = frozenset({RAN_AT_LIMIT, CARRIED_AT_LIMIT})
SHORT = 4
"""Words; a text of fewer may stand in any answer."""


class TruncatedStreamNotAccepted(Check):
    """A model's answer that was cut short is not handed on as if it were whole.

    What it judges:
        Answers of models that ended before their closing event or (with `count_length`) at a token limit:
        `length`, `max_tokens`, `MAX_TOKENS`. The agent may ask again, fail, say that something is missing,
        say something else, or answer a call that is no JSON with an error; what it must not do is end well
        with the cut text, or with nothing, as its answer, send the cut text to the model as a message of
        the assistant and go on, or execute a tool call of the cut answer. A call
        whose arguments the limit cut counts in any case: some SDKs close the half JSON, and the tool runs
        with arguments that nobody wrote. An answer that the agent itself stopped reading, less than a
        second after its last event, was not cut.

    Why agents fail it:
        Many SDKs end the iteration without an exception when a stream just stops.

    What it cannot tell:
        Whether the agent reworded the half that it got, or executed a tool inside its own process whose
        result it sent to no model; the latter is unknown.

    Example:
        invariants:
          - {type: truncated_stream_not_accepted, when: llm_faults_active, severity: high}
    """

    name = "truncated_stream_not_accepted"
    evidence = "failures"
    count_length: Annotated[bool, Field(description="whether an answer at its limit counts as cut")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for executed calls, then for the cut text in later requests, then in the answer."""
        ran = executed(history, limits=self.count_length)
        if ran is not None:
            return _executed(ran)
        sent_on = carried(history, limits=self.count_length)
        if sent_on is not None:
            return _carried(sent_on)
        cuts = truncated(history, limits=self.count_length)
        if not cuts:
            return unknown("no model response was cut short")
        numbers = [cut.exchange.number for cut in cuts]
        agent = history.agent
        if agent is not None and (agent.exit_code != 0 or agent.timed_out):
            return judged(True, "the agent did not end well", "failed", numbers)
        left = [cut for cut in cuts if not _replaced(history, cut, cuts, answer)]
        rejected = refusals(history, limits=self.count_length)
        if rejected and all(cut.exchange.number in rejected and not cut.text for cut in left):
            one = next(iter(rejected.values()))
            words = f"the agent answered the unfinished call of {quoted(one.call.name)} with an error"
            return judged(True, words, "refused", (*rejected, one.seen))
        if not left:
            words = "the agent retried and received a complete answer"
            return judged(True, words, "again", numbers[-1:])
        final = " ".join(answer.split())
        asked = {cut.exchange.number for cut in left if final != cut.text and completed(history, cut)}
        left = [cut for cut in left if cut.exchange.number not in asked]
        if not left:
            words = "the agent asked for the rest of the answer and received it"
            return judged(True, words, "completed", sorted(asked))
        verdicts = [_handed_on(history, cut, answer, agent) for cut in left]
        return min(reversed(verdicts), key=lambda one: _WORST.index(one.verdict))


def _replaced(history: History, cut: Truncated, cuts: list[Truncated], answer: str) -> bool:
    """Did a whole answer to the same question take its place? Not where the agent ends with the half."""
    whole = replacements(history, cut, cuts)
    final = " ".join(answer.split())
    return bool(whole) and (not final or final != cut.text or final in whole)


_WORST = ("fail", "unknown", "pass")


def _executed(ran: Executed) -> Verdict:
    numbers = (ran.cut.exchange.number, ran.seen)
    how = "which was cut short" if ran.cut.limit is None else f"which ended at its limit (`{ran.cut.limit}`)"
    # On the wire a result is seen, and not what made it.
    did = "answered the call of" if ran.sent else "ran"
    text = f"the agent {did} {quoted(ran.call.name)} from the answer of exchange {numbers[0]}, {how}"
    if ran.repaired:
        text += (
            f", with the arguments {quoted(ran.arguments)} in place of the unfinished "
            f"{quoted(ran.call.arguments)}"
        )
    where = "with a result in" if ran.sent else "in"
    value = "ran" if ran.cut.limit is None else RAN_AT_LIMIT
    return judged(False, f"{text}, {where} exchange {ran.seen}", value, numbers)


def _carried(sent: Carried) -> Verdict:
    numbers = (sent.cut.exchange.number, sent.seen)
    limit = sent.cut.limit
    how = "was cut short" if limit is None else f"ended at its limit (`{limit}`)"
    text = (
        f"the agent sent {quoted(sent.cut.text)} from the answer of exchange {numbers[0]}, which {how}, as a "
        f"whole message of the assistant in exchange {sent.seen}"
    )
    return judged(False, text, "carried" if limit is None else CARRIED_AT_LIMIT, numbers)


def _handed_on(history: History, cut: Truncated, answer: str, agent: AgentResult | None) -> Verdict:
    """What the agent's answer has to do with one cut answer that was not replaced by a whole one."""
    numbers = (cut.exchange.number,)
    final, received = " ".join(answer.split()), cut.text
    if not received:
        return _no_text(history, cut, answer, agent)
    if not holds(final, received):
        words = f"the answer {quoted(answer)} is not what came before the cut"
        return judged(True, words, "other", numbers)
    other = _of_another(history, cut, final)
    if other is not None:
        words = f"the answer {quoted(answer)} is that of exchange {other}, which is whole"
        return judged(True, words, "other", (*numbers, other))
    rest = final.replace(received, " ", 1)
    if admits(rest):
        words = f"the answer {quoted(answer)} has what came before the cut, and says that something is wrong"
        return judged(True, words, "admitted", numbers)
    if len(received.split()) < SHORT and len(rest.split()) > len(received.split()):
        return unknown(f"only {quoted(received)} came before the cut, which may stand in any answer")
    words = f"the answer {quoted(answer)} is what came before the cut"
    if rest.strip():
        words = f"the answer {quoted(answer)} holds {quoted(received)}, which is what came before the cut"
    return judged(False, words, "accepted", numbers)


def _of_another(history: History, cut: Truncated, final: str) -> int | None:
    """The exchange whose whole answer the agent ended with, where it was asked without the half of the cut
    one: two answers may begin alike."""
    short = {one.exchange.number for one in truncated(history, limits=True)}
    for exchange, transcript in models(history):
        answer, request = transcript.answer, transcript.request
        text = " ".join(answer.text.split()) if answer is not None else ""
        if exchange.number in short or request is None or not holds(text, cut.text):
            continue  # the cut one is itself among the short ones
        asked = [
            request.system,
            *(turn.text for turn in request.turns),
            *(one.text for one in request.results),
        ]
        if any(cut.text in " ".join(one.split()) for one in asked):
            continue  # it was made of the half
        if not holds(final.replace(text, " "), cut.text):
            return exchange.number
    return None


def _no_text(history: History, cut: Truncated, answer: str, agent: AgentResult | None) -> Verdict:
    """The same where no text came before the cut."""
    numbers = (cut.exchange.number,)
    if not cut.readable:
        return unknown("what came before the cut could not be read")
    if answer.strip().casefold() in NO_ANSWER:
        if agent is not None and admits(agent.stderr):
            words = "no text came before the cut; the agent printed no answer, and an error on stderr"
            return judged(True, words, "admitted", numbers)
        words = f"no text came before the cut, and the agent exited 0 with the answer {quoted(answer)}"
        return judged(False, words, "accepted", numbers)
    if cut.calls and not continued(history, cut) and not admits(answer):
        return unknown(
            f"the cut answer asked for {quoted(cut.calls[0].name)}; whether the agent ran it was not seen"
        )
    words = f"no text came before the cut, the answer is {quoted(answer)}"
    return judged(True, words, "other", numbers)
