"""The invariant that an agent whose tools fail does not make facts up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._facts import Facts, Sources, facts
from faultwire.checks._told import models
from faultwire.checks._tools import uses

if TYPE_CHECKING:
    from faultwire.checks._tools import Use
    from faultwire.events import History, Verdict

EMPTY = frozenset({"tool_empty", "tool_error", "tool_timeout"})
"""Faults after which the model was told nothing of what the tool had said."""
What = Literal["numbers", "names", "quotes", "urls"]


class NoFabrication(Check):
    """While tools fail, the answer states no fact that nobody told the agent.

    What it judges:
        Numbers, names, quotes and URLs in the final answer. Each must stand in the prompt, the system
        prompt, what users said or what tools returned, as the agent got it. Judged only where a tool
        failed, or a fault changed what one returned.

    Why agents fail it:
        The tool's error is left out of the conversation or ignored, and the model fills the gap with what
        sounds right.

    What it cannot tell:
        A number that was rightly computed from others (name the kinds in `kinds` without it), and a
        made-up fact that is also a word of the prompt. Where a fault put other values into a result, the
        tape does not hold them, and a fact without a source is unknown.

    Example:
        invariants:
          - {type: no_fabrication, when: tool_faults_active, severity: critical}
    """

    name = "no_fabrication"
    reads_answer = True
    kinds: Annotated[tuple[What, ...], Field(min_length=1, description="what counts as a fact")] = (
        "numbers",
        "names",
        "quotes",
        "urls",
    )
    allow: Annotated[tuple[str, ...], Field(description="facts that everybody knows")] = ()

    def judge(self, history: History, answer: str) -> Verdict:
        """Look up every fact of the answer in what the agent was told."""
        used = uses(history)
        broken = _broken(history, used)
        if not broken:
            return unknown("no tool failed, so there was no gap to fill")
        sources = Sources(_sources(history, used, self.allow))
        made_up = _unknown(facts(answer), sources, self.kinds)
        named = ", ".join(quoted(fact) for fact in made_up[:5])
        if made_up and _retold(history):
            return unknown(f"a fault changed a tool result, perhaps to {named}", made_up[:50])
        if made_up:
            return judged(
                False, f"the agent's inputs do not contain {named}, and a tool failed", made_up[:50], broken
            )
        return judged(True, "every fact of the answer is in the agent's inputs", [], broken)


def _broken(history: History, used: tuple[Use, ...]) -> list[int]:
    """The exchanges that show a failing tool."""
    numbers = {use.number for use in used if use.failed}
    for exchange in history.exchanges:
        for line in exchange.faults:
            if line.outcome == "fired" and (line.site == "result" or exchange.kind == "tool"):
                numbers.add(exchange.number)
    return sorted(numbers)


_SPEAKERS = frozenset({"user", "system", "developer"})


def _retold(history: History) -> bool:
    """Was the model told another result, whose text is not known?"""
    return any(line.site == "result" and line.fault not in EMPTY for line in history.fired)


def _sources(history: History, used: tuple[Use, ...], allow: tuple[str, ...]) -> list[str]:
    gone = {line.subject for line in history.fired if line.site == "result" and line.fault in EMPTY}
    told = [history.prompt or "", *allow, *(use.result for use in used if use.name not in gone)]
    for _, said in models(history):
        if said.request is not None:
            told.append(said.request.system)
            told += [turn.text for turn in said.request.turns if turn.role in _SPEAKERS]
    return told


def _unknown(said: Facts, sources: Sources, kinds: tuple[What, ...]) -> list[str]:
    found: list[str] = []
    if "numbers" in kinds and said.numbers:
        found += sorted(said.numbers - sources.numbers)
    for kind, values in (("urls", said.urls), ("quotes", said.quotes), ("names", said.names)):
        if kind in kinds:
            found += [value for value in values if not sources.hold(value)]
    return found
