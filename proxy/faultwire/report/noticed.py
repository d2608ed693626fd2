"""Mistakes that the traffic and the exit code show without any invariant.

What the agent printed is not known here, for `exec` leaves it to the terminal; so nothing is a verdict,
and for half an answer or a failure at the end the note says what came and that the agent still ended
normally. An exit code other than 0 is no mistake: whoever reports a failure exits with one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._traffic import failed
from faultwire.events import AgentResult
from faultwire.report.advice import RULES, Rule
from faultwire.report.after_failure import Evidence
from faultwire.report.halves import executed_or_sent, last_half
from faultwire.report.repeated import repeats_what_was_done
from faultwire.report.unanswered import SAY_SO, unanswered

if TYPE_CHECKING:
    from faultwire.events import History

ON_THE_WIRE = frozenset(
    {
        "honour_retry_after",
        "back_off",
        "cap_attempts",
        "mend_before_retry",
        "act_once",
        "repair_history",
        "find_signal",
        "heed_arguments",
        "allow_or_answer",
    }
)
"""Rules that need no answer of the agent's."""
TRUNCATED = frozenset({"refuse_halves", "heed_limits"})
"""Rules about answers of the model that were cut: without the agent's answer, another way is gone."""
BASIS = "by the traffic and the exit code: what the command printed is not read"
"""What all that stands here rests on."""
BY_OUTPUT = {
    "refuse_halves": "A stream without its closing event is a failure: if the output passes for a whole "
    "answer, retry, or say that it is incomplete.",
    "heed_limits": "An answer that ended at its token limit is incomplete: if the output passes for a whole "
    "one, raise the limit, ask for the rest, or say so.",
    "say_so": SAY_SO,
}
"""The actions where it depends on the output whether there is a mistake."""


class Noticed(NamedTuple):
    """A rule and the evidence that it was broken."""

    rule: Rule
    evidence: Evidence


def noticed(history: History, exit_code: int, *, interrupted: bool = False) -> list[Noticed]:
    """The mistakes in the traffic of a program that exited with `exit_code` (negative for a signal).

    Where the user `interrupted` it, how it ended is no mistake of its own.
    """
    ended = replace(history, agent=AgentResult("", exit_code, 0.0, timed_out=interrupted))
    found = []
    for rule in RULES:
        evidence = None
        if rule.id in TRUNCATED:
            ran = executed_or_sent(rule, ended)
            half = last_half(ended, limits=rule.id == "heed_limits", named=ran.exchanges[:1] if ran else ())
            found += [Noticed(rule, ran)] if ran else []
            found += (
                [Noticed(rule._replace(action=half.action or BY_OUTPUT[rule.id]), half.evidence)]
                if half
                else []
            )
        elif rule.id == "say_so":
            last = unanswered(ended)
            if last is not None:
                found.append(Noticed(rule._replace(action=last.action), last.evidence))
        elif rule.id in ON_THE_WIRE:
            evidence = rule.find(ended)
            if evidence is not None and rule.id == "act_once" and not _after_failure(history, evidence):
                evidence = None
            if evidence is None and rule.id == "act_once":
                evidence = repeats_what_was_done(history)
        if evidence is not None:
            found.append(Noticed(rule, evidence))
    return found


def _after_failure(history: History, evidence: Evidence) -> bool:
    """Was a call repeated because its first success never arrived? Nobody has declared here which tools only
    read, and to read twice is no mistake."""
    numbers = set(evidence.exchanges[:-1])
    return any(exchange.number in numbers and failed(exchange) for exchange in history.exchanges)
