"""Mistakes that the traffic and the exit code show without any invariant.

What the agent printed is not known here, for `exec` leaves it to the terminal; so nothing is a verdict,
and of half an answer it is said what the half was and that nothing came of it but a good end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._told import models
from faultwire.events import AgentResult
from faultwire.report.advice import RULES, Evidence, Rule

if TYPE_CHECKING:
    from faultwire.events import History

WORDS = 160
"""Characters of half an answer that are repeated, its end: that is where it broke off."""
ON_THE_WIRE = frozenset(
    {
        "honour_retry_after",
        "back_off",
        "cap_attempts",
        "mend_before_retry",
        "act_once",
        "repair_history",
        "catch_failures",
    }
)
"""Rules that need no answer of the agent's."""


class Noticed(NamedTuple):
    """A rule and the evidence that it was broken."""

    rule: Rule
    evidence: Evidence


def noticed(history: History, exit_code: int) -> list[Noticed]:
    """The mistakes in the traffic of a program that exited with `exit_code` (negative for a signal)."""
    ended = replace(history, agent=AgentResult("", exit_code, 0.0))
    found = []
    for rule in RULES:
        evidence = None
        if rule.id == "refuse_halves":
            evidence = _half(rule, history, exit_code)
        elif rule.id in ON_THE_WIRE:
            evidence = rule.find(ended)
        if evidence is not None:
            found.append(Noticed(rule, evidence))
    return found


def _half(rule: Rule, history: History, exit_code: int) -> Evidence | None:
    """Evidence that a truncated answer was treated as complete: a call in it was run, or its text printed."""
    ran = rule.find(replace(history, agent=AgentResult("", exit_code, 0.0)))
    if ran is not None and len(ran.exchanges) > 1:
        return ran
    for exchange, transcript in reversed(models(history)):
        answer = transcript.answer
        if answer is None or answer.complete or not answer.text.strip():
            continue
        printed = replace(history, agent=AgentResult(answer.text, exit_code, 0.0))
        accepted = rule.find(printed)
        if accepted is None or exchange.number not in accepted.exchanges:
            return None
        return Evidence(
            (exchange.number,),
            f"an incomplete answer: it ended after `{_end(answer.text)}` without its "
            "closing event, was not retried, and the command exited 0",
        )
    return None


def _end(text: str) -> str:
    """The last words of a text, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return words if len(words) <= WORDS else f"…{words[-WORDS:].partition(' ')[2]}"
