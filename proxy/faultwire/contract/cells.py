"""What a contract's matrix is made of: scenarios, prompts, invocations of the agent, and judged cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from faultwire.events import History, Verdict
    from faultwire.profile.model import Profile


class Invariant(Protocol):
    """What the matrix asks of a check."""

    @property
    def label(self) -> str:
        """Its word in tables, unique in a contract."""

    @property
    def severity(self) -> str:
        """critical, high, medium or low."""

    @property
    def when(self) -> str:
        """The scenarios in which it is judged."""

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Of those, the only ones in which it is judged, by name; empty: all of them."""

    def verdict(self, history: History) -> Verdict:
        """Its judgement of one invocation."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A profile used as a column."""

    name: str
    profile: Profile


@dataclass(frozen=True, slots=True)
class Prompt:
    """A golden prompt with the invariants that hold for it alone.

    `turns` are the user's turns of a conversation where there are several; `text` is then the last one.
    A `probe` is judged by its own invariants only. A mutant has the type that made it as its `origin`,
    the id of the prompt it was made from in `golden`, and its `weight` in a robustness score.
    """

    id: str
    text: str
    invariants: tuple[Invariant, ...] = ()
    turns: tuple[str, ...] = ()
    probe: bool = False
    weight: float = 1.0
    origin: str | None = None
    golden: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """What the agent is asked, turn by turn."""
        return self.turns or (self.text,)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One start of the agent. `id` is its session's name: stable between runs, the dice use it."""

    scenario: Scenario
    prompt: Prompt
    repeat: int = 1
    phase: str = ""
    """The part of a run that it belongs to, where the run has several."""

    @property
    def id(self) -> str:
        """For example `calm/p1/r1`, or `contract/calm/p1/r1` in a phase."""
        phase = f"{self.phase}/" if self.phase else ""
        return f"{phase}{slug(self.scenario.name)}/{slug(self.prompt.id)}/r{self.repeat}"


def slug(name: str) -> str:
    """A name with `-` for every character that a session's name does not hold: a scenario may be called
    anything."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-#@:+") else "-" for c in name)


@dataclass(frozen=True, slots=True)
class Cell:
    """One invariant judged on one invocation."""

    invariant: str
    severity: str
    invocation: Invocation
    verdict: Verdict
