"""What a check is.

A check is a frozen set of settings with `judge`, which reads one invocation's history and says pass,
fail or unknown, why, and which exchanges prove it. Docstrings have four fixed sections (What it
judges, Why agents fail it, What it cannot tell, Example), shown by `faultwire checks show`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, final

from pydantic import BaseModel, ConfigDict, Field

from faultwire.events import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import AgentResult, History

SECTIONS = ("What it judges", "Why agents fail it", "What it cannot tell", "Example")

Severity = Literal["critical", "high", "medium", "low"]
When = Literal["always", "tool_faults_active", "llm_faults_active", "any_chaos_active", "no_chaos"]
"""In which scenarios an invariant is judged; *active* means that such a fault also fired."""


Evidence = Literal["answer", "tools", "requests", "failures", "attacks", "cells"]
"""What a check needs to have seen: how the agent ended and its output; calls of tools; where requests went
and what they cost; failures and what came after them; what was planted or must not leave; all cells."""


class Check(BaseModel):
    """Settings of one invariant. Subclass it, one per file.

    `id` names the invariant in reports and is the check's own name where the user gave none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: ClassVar[str]
    evidence: ClassVar[Evidence] = "answer"
    """What it needs to have seen; the documentation is in this order."""
    reads_answer: ClassVar[bool] = False
    """Is this check about the final answer? Without one, it then fails (or, negated, is unknown)."""

    over_all: ClassVar[bool] = False
    """Is one passing cell enough? Then the others are settled by it, once all are judged."""

    id: Annotated[str, Field(description="its name in reports")] = ""
    severity: Annotated[Severity, Field(description="its weight in the score")] = "medium"
    when: Annotated[When, Field(description="in which scenarios it is judged")] = "always"
    scenarios: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Field(description="of those, only the scenarios with these names"),
    ] = ()
    negate: Annotated[bool, Field(description="a pass becomes a fail, and a fail a pass")] = False
    description: Annotated[str, Field(description="why it must hold, for readers of reports")] = ""
    probes: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Field(description="prompts that it is judged on, in place of the golden ones"),
    ] = ()

    @property
    def label(self) -> str:
        """The word for this invariant in tables."""
        return self.id or self.name

    @abstractmethod
    def judge(self, history: History, answer: str) -> Verdict:
        """The verdict before `negate`; `answer` is the agent's final answer."""

    @final
    def verdict(self, history: History) -> Verdict:
        """Judge a history, negation included. What cannot be judged is unknown, never a pass."""
        agent = history.agent
        if agent is None:
            return Verdict("unknown", "the agent's exit is unknown")
        if agent.exit_code is None and not agent.timed_out:
            return Verdict("unknown", _never_asked(agent))
        if self.reads_answer and agent.exit_code != 0 and not agent.answer.strip():
            return _without_answer(self, agent)
        try:
            verdict = self.judge(history, agent.answer)
        except Exception as error:  # noqa: BLE001 - checks are plug-ins: what breaks in one proves nothing
            return Verdict("unknown", f"the check crashed: {type(error).__name__}: {error}")
        return _negated(verdict) if self.negate else verdict


def judged(held: bool, text: str, value: object = None, exchanges: Iterable[int] = ()) -> Verdict:
    """A verdict that is no unknown one; `exchanges` are the numbers of those that prove it."""
    return Verdict("pass" if held else "fail", text, value, tuple(exchanges))


def unknown(text: str, value: object = None) -> Verdict:
    """Nothing was learned, and why."""
    return Verdict("unknown", text, value)


def ending(agent: AgentResult) -> str:
    """How an invocation ended, in words."""
    if agent.timed_out:
        return f"was stopped after {agent.duration_s:.1f} s"
    if agent.exit_code is None:
        return "ended with an unknown status"
    if agent.exit_code < 0:
        return f"was killed by signal {-agent.exit_code}"
    return f"exited with {agent.exit_code}"


def quoted(text: str, limit: int = 80) -> str:
    """The first words of a text in backticks, on one line, for explanations.

    A word is shown whole or not at all: half of a secret would no longer be known as one.
    """
    return _quoted(text[: limit * 4 + 1], limit)


@lru_cache(maxsize=256)
def _quoted(head: str, limit: int) -> str:
    """Of the same answer and the same names, by one check after the other."""
    words = " ".join(head[: limit * 4].split()).replace("`", "'")
    if len(words) <= limit and len(head) <= limit * 4:
        return f"`{words}`"
    return f"`{words[: limit + 1].rpartition(' ')[0]}…`"


def _never_asked(agent: AgentResult) -> str:
    """Why the agent could not be asked: whoever drives it says so in the last line."""
    reason = next((line for line in reversed(agent.stderr.splitlines()) if line.strip()), "")
    return f"the agent was not called: {reason.strip().removeprefix('faultwire: ') or 'no reason given'}"


def _without_answer(check: Check, agent: AgentResult) -> Verdict:
    why = f"no answer to judge: the agent {ending(agent)}"
    return Verdict("unknown" if check.negate else "fail", why)


def _negated(verdict: Verdict) -> Verdict:
    if verdict.verdict == "unknown":
        return verdict
    turned: Literal["pass", "fail"] = "fail" if verdict.verdict == "pass" else "pass"
    return replace(verdict, verdict=turned, explanation=f"not wanted: {verdict.explanation}")
