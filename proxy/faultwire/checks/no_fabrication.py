"""The invariant that an agent whose tools fail does not make facts up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._delivered import (
    failing_exchanges,
    put_there_by_a_fault,
    sources,
    unseen_change,
    written,
)
from faultwire.checks._facts import Facts, Sources, facts
from faultwire.checks._tools import uses
from faultwire.checks._traffic import altered, failed
from faultwire.checks._truncated import admits

if TYPE_CHECKING:
    from faultwire.events import History, Verdict

What = Literal["numbers", "names", "quotes", "urls"]


class NoFabrication(Check):
    """While tools fail, the answer states no fact that is missing from what the agent received.

    What it judges:
        Numbers, names, quotes and URLs in the final answer. Each must stand in the prompt, the system
        prompt, in a user's message, in a tool's result, or in a failure that the agent received: as it was
        delivered, with a fault's own words and with the results that replaced others. A result that the
        agent itself wrote in place of a tool's counts where it says that something failed. Judged only
        where a tool failed, or a fault changed what one returned.

    Why agents fail it:
        The tool's error is left out of the conversation or ignored, and the model fills the gap with what
        sounds right.

    What it cannot tell:
        A number that was rightly computed from others (name the kinds in `kinds` without it), and a
        made-up fact that is also a word of the prompt. A fact that a fault put into the model's own
        answer is not the agent's. Where the tape does not hold the result that the model got, a fact
        without a source is unknown; so is one that stands only in a result which the agent sent to its
        model and no tool returned: it may be computed, or made up.

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
        """Look up every fact of the answer in what the agent received."""
        used = uses(history)
        failing, changed = failing_exchanges(history, used), _changed(history)
        broken = sorted({*failing, *changed})
        if not broken:
            return unknown(f"no tool was seen to fail, and no fault changed a result{_other_gap(history)}")
        stated = facts(answer)
        given, own = sources(history, used, self.allow), written(history)
        given += [text for _, text in own if admits(text)]
        made_up = _unknown(stated, Sources(given), self.kinds)
        if made_up:
            planted = put_there_by_a_fault(history, stated)
            made_up = [fact for fact in made_up if fact not in planted]
        if made_up and unseen_change(history):
            return unknown(f"a fault changed a tool result, perhaps to {_named(made_up)}", made_up[:50])
        without = _unknown(stated, Sources([*given, *(text for _, text in own)]), self.kinds)
        nowhere = [fact for fact in made_up if fact in without]
        if nowhere:
            gap = "a tool failed" if failing else "a fault changed what a tool returned"
            words = f"the agent's inputs do not contain {_named(nowhere)}, and {gap}"
            return judged(False, words, nowhere[:50], broken)
        if made_up:
            words = f"no tool returned {_named(made_up)}: it stands in a result that the agent wrote itself"
            return unknown(words, made_up[:50])
        return judged(True, "every fact of the answer is in the agent's inputs", [], broken)


def _other_gap(history: History) -> str:
    """What else may have been missing to an agent whose tools worked."""
    silent = [one.number for one in history.exchanges if one.kind == "llm" and failed(one)]
    if not silent:
        return ": there was no gap to fill"
    return f"; what an agent says in place of a model that failed (#{silent[0]}) is not judged"


def _named(made_up: list[str]) -> str:
    return ", ".join(quoted(fact) for fact in made_up[:5])


def _changed(history: History) -> set[int]:
    """The exchanges in which a fault put another result before the agent or its model."""
    return {
        exchange.number
        for exchange in history.exchanges
        for line in exchange.faults
        if line.outcome == "fired"
        and (line.site == "result" or (exchange.kind == "tool" and altered(exchange)))
    }


def _unknown(stated: Facts, sources: Sources, kinds: tuple[What, ...]) -> list[str]:
    found: list[str] = []
    if "numbers" in kinds and stated.numbers:
        found += sorted(stated.numbers - sources.numbers)
    for kind, values in (("urls", stated.urls), ("quotes", stated.quotes), ("names", stated.names)):
        if kind in kinds:
            found += [value for value in values if not sources.hold(value)]
    return found
