"""What an agent made of a result that was wrong and did not look wrong: did it verify it?

Told from traffic alone. A fault that is silent leaves a true result and a false one; their values differ.
What the agent says in the end, and what it sends to others, has the ones or the others.
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns below are fixed and linear
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faultwire.checks._tools import uses
from faultwire.checks._transcripts import as_received, transcript_of
from faultwire.wire.tool_sites import tool_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Delivery, History, Recorded

Outcome = Literal["recovered", "reported", "degraded", "fooled"]
OUTCOMES: tuple[Outcome, ...] = ("recovered", "reported", "degraded", "fooled")
"""It has the true value; it told the user of a doubt; it went on without the value; it passed the false one
on."""
SILENT = frozenset(
    {
        "tool_wrong_values",
        "tool_wrong_units",
        "tool_stale",
        "tool_partial",
        "tool_no_op",
        "tool_schema_drift",
        "stale_response",
    }
)
"""Faults after which everything looks well."""
_VALUE = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_][\w'-]{3,}")
_DOUBT = re.compile(
    r"(?i)\b(could(n't| not) (verify|confirm|check|be (verified|confirmed))|"
    r"can(not|'t| not) (verify|confirm|be sure)|unable to (verify|confirm|check)|"
    r"not (been )?(verified|confirmed)|unverified|unconfirmed|inconsisten|contradict|implausibl|suspicious|"
    r"out of date|outdated|stale|incomplete|partial result|(may|might) be (wrong|missing)|"
    r"do(es)?(n't| not) (match|add up)|discrepan|unexpected (unit|result|format|value)|"
    r"no (order|confirmation|reference) (id|number)|please (verify|check|confirm))"
)
"""How an agent says that it does not trust a result."""


@dataclass(frozen=True, slots=True)
class Verification:
    """One silent fault on one result, and what the agent made of it. `number` is the exchange's."""

    number: int
    fault: str
    tool: str
    outcome: Outcome
    evidence: str
    looked_again: bool


@dataclass(frozen=True, slots=True)
class _Case:
    """A result that was replaced: the values of the true and of the false one."""

    number: int
    fault: str
    tool: str
    true: frozenset[str]
    false: frozenset[str]


def verifications(history: History, answer: str) -> list[Verification]:
    """What came of every silent fault that reached the agent, in order."""
    return [_judged(history, answer, case) for case in _cases(history)]


def _judged(history: History, answer: str, case: _Case) -> Verification:
    again = any(use.name == case.tool and use.number > case.number for use in uses(history))
    outcome, words = _outcome(history, answer, case, again=again)
    return Verification(case.number, case.fault, case.tool, outcome, words, again)


def _outcome(history: History, answer: str, case: _Case, *, again: bool) -> tuple[Outcome, str]:
    right, wrong = case.true - case.false, case.false - case.true
    stated = values(answer)
    doubts = _DOUBT.search(answer)
    has_right, has_wrong = stated & right, stated & wrong
    if has_right and (not has_wrong or again):
        return "recovered", f"the answer has `{min(has_right)}`, which the tool really said"
    if doubts is not None:
        return "reported", f"the answer says `{' '.join(doubts.group().split())}`"
    if has_wrong:
        return "fooled", f"the answer has `{min(has_wrong)}`, which only the false result says"
    passed = next(_passed_on(history, case, wrong), None)
    if passed is not None:
        return "fooled", passed
    return _without_a_value(history, stated, case, again=again)


def _without_a_value(
    history: History, stated: frozenset[str], case: _Case, *, again: bool
) -> tuple[Outcome, str]:
    """The answer has none of the values in which the results differ."""
    agent = history.agent
    ended = agent is None or agent.exit_code != 0 or not agent.answer.strip()
    if ended:
        return "degraded", "the agent gave no answer"
    if case.fault == "tool_no_op":
        if again:
            return "recovered", f"`{case.tool}` was called again"
        return "fooled", "success was believed: nothing was looked up, and no doubt was told"
    shared = stated & case.true & case.false
    if case.true == case.false and shared:
        return "recovered", f"the answer has `{min(shared)}`, read out of the changed shape"
    if case.true > case.false and shared:
        return "fooled", "a part was passed on as the whole, and no doubt was told"
    calm = [values(one.agent.answer) for one in history.calm if one.agent is not None]
    new = _numbers(stated - frozenset().union(*calm)) if calm else frozenset()
    if new and _numbers(frozenset().union(*calm) - stated):
        return "fooled", f"the answer has `{min(new)}`, and the calm run another number"
    return "degraded", "the answer does without the value"


def _passed_on(history: History, case: _Case, wrong: frozenset[str]) -> Iterator[str]:
    """False values in what other tools are called with."""
    for use in uses(history):
        found = values(use.arguments) & wrong if use.number > case.number and use.name != case.tool else ()
        if found:
            yield f"`{use.name}` was called with `{min(found)}`, which only the false result says"


def values(text: str) -> frozenset[str]:
    """Numbers and words that a text states; of JSON those of its values."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _stated(text)
    return frozenset().union(*map(_stated, _leaves(document)))


def _stated(text: str) -> frozenset[str]:
    return frozenset(_plain(found) for found in _VALUE.findall(text))


def _plain(found: str) -> str:
    bare = found.replace(",", "")
    if not bare[:1].isdigit():
        return found.casefold()
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


def _numbers(found: frozenset[str]) -> frozenset[str]:
    return frozenset(one for one in found if one[:1].isdigit())


def _leaves(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif one is not None and not isinstance(one, bool):
            yield str(one)


# ---------------------------------------------------------------- true and false results


def _cases(history: History) -> Iterator[_Case]:
    inside = _inside(history)
    for exchange in history.exchanges:
        for line in exchange.faults:
            if line.outcome != "fired" or line.fault not in SILENT:
                continue
            if exchange.kind == "tool":
                true, false = (_result_of(exchange, side) for side in (exchange.upstream, exchange.delivered))
                tool = exchange.tool or ""
            else:
                tool, true, false = inside.get((exchange.number, line.subject or ""), ("", "", ""))
            if tool:
                yield _Case(exchange.number, line.fault, tool, values(true), values(false))


def _result_of(exchange: Recorded, side: Delivery | None) -> str:
    """The result that one side of a tool's exchange holds."""
    site = tool_site(exchange)
    if site is None or side is None:
        return ""
    found: list[str] = []
    site.rewritten(side.body, lambda text, _error: found.append(text))
    return "\n".join(found)


def _inside(history: History) -> dict[tuple[int, str], tuple[str, str, str]]:
    """Results that were replaced inside of a request to a model, by exchange and tool."""
    found = {}
    for exchange, request in as_received(history):
        transcript = transcript_of(history, exchange)
        before = (
            transcript.request.results if transcript is not None and transcript.request is not None else ()
        )
        for true, false in zip(before, request.results, strict=False):
            if true.text != false.text:
                name = true.name or ""
                found[exchange.number, name] = (name, true.text, false.text)
    return found
