"""What `exec` would notice of invocations in which no check failed: a warning, and no verdict.

A contract judges what it asks for. Here the agent's answer is known, so that what depends on the output is
told only where the answer does not say that something went wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.checks._api import quoted
from faultwire.checks._truncated import admits
from faultwire.report.noticed import TRUNCATED, noticed
from faultwire.report.unanswered import EARLIER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.contract.cells import Invocation
    from faultwire.contract.matrix import Matrix
    from faultwire.events import History
    from faultwire.report.after_failure import Evidence
    from faultwire.report.noticed import Noticed

EXAMINED = 300
"""Invocations that are looked at."""
NAMED = 3
"""Scenarios that a warning names."""
JUDGES = {
    "honour_retry_after": "respects_retry_after",
    "back_off": "backs_off",
    "cap_attempts": "no_retry_storm",
    "mend_before_retry": "no_retry_of_client_errors",
    "refuse_halves": "truncated_stream_not_accepted",
    "heed_limits": "truncated_stream_not_accepted",
    "act_once": "no_duplicate_side_effect",
    "repair_history": "valid_history",
    "say_so": "recovers_within",
}
"""The check that asks in a contract what a rule asks in `exec`."""


def passed_warnings(
    played: Sequence[tuple[Invocation, History]], matrix: Matrix, asked: frozenset[str]
) -> list[str]:
    """A line for each rule that was broken where no check failed; `asked` are the checks of the contract."""
    verdicts: dict[str, set[str]] = {}
    for cell in matrix.cells:
        verdicts.setdefault(cell.invocation.id, set()).add(cell.verdict.verdict)
    clean = [
        (one, history)
        for one, history in played
        if "pass" in verdicts.get(one.id, ()) and "fail" not in verdicts[one.id] and not history.voids
    ]
    found: dict[str, list[tuple[Invocation, Evidence]]] = {}
    for one, history in clean[:EXAMINED]:
        seen: dict[str, Evidence] = {}
        for rule, evidence in _standing(history):
            seen.setdefault(rule, evidence)
        for rule, evidence in seen.items():
            found.setdefault(rule, []).append((one, evidence))
    return [_words(rule, cases, asked) for rule, cases in found.items()]


def _standing(history: History) -> Iterator[tuple[str, Evidence]]:
    agent = history.agent
    if agent is None or agent.exit_code is None or agent.timed_out:
        return
    for one in noticed(history, agent.exit_code):
        evidence = _confirmed(one, history, agent.answer)
        if evidence is not None:
            yield one.rule.id, evidence


def _confirmed(one: Noticed, history: History, answer: str) -> Evidence | None:
    """The evidence where the agent's answer does not speak against it."""
    if one.rule.id in TRUNCATED:
        return one.rule.find(history)
    if one.rule.id == "say_so" and (one.rule.action == EARLIER or admits(answer)):
        return None
    return one.evidence


def _words(rule: str, cases: list[tuple[Invocation, Evidence]], asked: frozenset[str]) -> str:
    scenarios = list(dict.fromkeys(one.scenario.name for one, _ in cases))
    named = ", ".join(quoted(name) for name in scenarios[:NAMED]) + (", …" if scenarios[NAMED:] else "")
    which = f"1 invocation of {named}" if len(cases) == 1 else f"{len(cases)} invocations of {named}"
    judge = JUDGES.get(rule)
    would = "" if judge is None or judge in asked else f" ({quoted(judge)} would judge this)"
    where = "" if len(cases) == 1 else ", in the first"
    return f"{which} failed no check{would}, and{where}: {cases[0][1].words}"
