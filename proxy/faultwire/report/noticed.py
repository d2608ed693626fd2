"""Mistakes that the traffic and the exit code show without any invariant.

What the agent printed is not known here, for `exec` leaves it to the terminal; so nothing is a verdict,
and for half an answer the note says what the half was and that the agent still ended normally.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._api import quoted
from faultwire.checks._traffic import failed, silence_ms
from faultwire.checks._truncated import later, truncated
from faultwire.events import AgentResult
from faultwire.report.advice import RULES, Rule
from faultwire.report.after_failure import Evidence

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
            evidence = _half(rule, ended, limits=rule.id == "heed_limits")
        elif rule.id in ON_THE_WIRE:
            evidence = rule.find(ended)
            if evidence is not None and rule.id == "act_once" and not _after_failure(history, evidence):
                evidence = None
        if evidence is not None:
            found.append(Noticed(rule, evidence))
    return found


def _half(rule: Rule, history: History, *, limits: bool) -> Evidence | None:
    """Evidence that a truncated answer was treated as complete: a call in it was run, or nothing came after
    it but a good end. With `limits` it ended at a token limit."""
    ran = rule.find(history)
    if ran is not None and len(ran.exchanges) > 1:
        return ran
    found = truncated(history, limits=limits)
    cuts = [cut for cut in found if (cut.limit is not None) == limits and cut.readable]
    if not cuts or history.agent is None or history.agent.exit_code != 0:
        return None
    cut, short = cuts[-1], {one.exchange.number for one in cuts}
    if any(exchange.number not in short for exchange, _ in later(history, cut)):
        return None
    how = f"at its token limit (`{cut.limit}`)" if limits else _how(cut.exchange)
    if cut.text:
        what = f"an incomplete answer: it ended after `{_end(cut.text)}` {how}"
    elif cut.calls:
        what = f"an incomplete answer: it ended in a call of {quoted(cut.calls[-1].name)} {how}"
    else:
        what = f"an empty answer: it ended {how} before any text"
    return Evidence((cut.exchange.number,), f"{what}, was not retried, and the command exited 0")


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
