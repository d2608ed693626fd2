"""Mistakes that the traffic and the exit code show without any invariant.

What the agent printed is not known here, for `exec` leaves it to the terminal; so nothing is a verdict,
and for half an answer or a failure at the end the note says what came and that the agent still ended
normally. An exit code other than 0 is no mistake: whoever reports a failure exits with one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._api import quoted
from faultwire.checks._traffic import failed, silence_ms
from faultwire.checks._truncated import later, truncated
from faultwire.events import AgentResult
from faultwire.report.advice import RULES, Rule
from faultwire.report.after_failure import Evidence, ends_on_failure
from faultwire.report.repeated import repeats_what_was_done

if TYPE_CHECKING:
    from faultwire.events import History, Recorded

WORDS = 160
"""Characters of half an answer that are repeated, its end: that is where it was cut."""
ON_THE_WIRE = frozenset(
    {
        "honour_retry_after",
        "back_off",
        "cap_attempts",
        "mend_before_retry",
        "act_once",
        "repair_history",
        "catch_failures",
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
    "say_so": "If the output does not say that the call failed, this looks like success: say so, or exit "
    "with another code.",
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
        evidence, by_output = None, False
        if rule.id in TRUNCATED:
            evidence, by_output = _half(rule, ended, limits=rule.id == "heed_limits")
        elif rule.id == "say_so":
            evidence, by_output = ends_on_failure(ended), True
        elif rule.id in ON_THE_WIRE:
            evidence = rule.find(ended)
            if evidence is not None and rule.id == "act_once" and not _after_failure(history, evidence):
                evidence = None
            if evidence is None and rule.id == "act_once":
                evidence = repeats_what_was_done(history)
        if evidence is not None:
            action = BY_OUTPUT[rule.id] if by_output else rule.action
            found.append(Noticed(rule._replace(action=action), evidence))
    return found


def _half(rule: Rule, history: History, *, limits: bool) -> tuple[Evidence | None, bool]:
    """Evidence that a truncated answer was treated as complete: a call in it was run, its text was sent on,
    or nothing came after it but a good end; then it depends on the output, and the second value is True.
    With `limits` it ended at a token limit."""
    ran = rule.find(history)
    if ran is not None and len(ran.exchanges) > 1:
        return ran, False
    found = truncated(history, limits=limits)
    cuts = [cut for cut in found if (cut.limit is not None) == limits and cut.readable]
    if not cuts or history.agent is None or history.agent.exit_code != 0:
        return None, False
    cut, short = cuts[-1], {one.exchange.number for one in cuts}
    if any(exchange.number not in short for exchange, _ in later(history, cut)):
        return None, False
    how = f"at its token limit (`{cut.limit}`)" if limits else _how(cut.exchange)
    if cut.text:
        what = f"an incomplete answer: it ended after `{_end(cut.text)}` {how}"
    elif cut.calls:
        what = f"an incomplete answer: it ended in a call of {quoted(cut.calls[-1].name)} {how}"
    else:
        what = f"an empty answer: it ended {how} before any text"
    return Evidence((cut.exchange.number,), f"{what}, was not retried, and the command exited 0"), True


def _how(exchange: Recorded) -> str:
    """How an answer ended that was cut in transit."""
    if exchange.ending == "client_aborted" and exchange.delivered is not None and exchange.delivered.chunks:
        return f"when the agent closed the connection after {silence_ms(exchange) / 1000:.1f} s of silence"
    return "without its closing event"


def _after_failure(history: History, evidence: Evidence) -> bool:
    """Was a call repeated because its first success never arrived? Nobody has declared here which tools only
    read, and to read twice is no mistake."""
    numbers = set(evidence.exchanges[:-1])
    return any(exchange.number in numbers and failed(exchange) for exchange in history.exchanges)


def _end(text: str) -> str:
    """The last words of a text, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return words if len(words) <= WORDS else f"…{words[-WORDS:].partition(' ')[2]}"
