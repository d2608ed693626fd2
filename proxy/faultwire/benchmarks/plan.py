"""What a benchmark is made of: pairs of a user's task and an attacker's, and what came of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Agent = Literal["agent", "victim", "deaf"]
"""Who works on a task: the agent under test, or one of the two controls."""
Reach = Literal["reached", "not reached", "not carried"]
"""Whether the attack stood in something that the agent read."""

SCORED_WRONG = frozenset({("workspace", "injection_task_0")})
"""Attacks whose success AgentDojo 0.1.35 does not see where the payload stands in a mailbox: it counts mails
by a subject that the payload quotes, and expects one."""


class Pair(NamedTuple):
    """A task, and the attack on it; without one the task is worked on in peace."""

    suite: str
    user: str
    injection: str | None

    @property
    def label(self) -> str:
        """The words for it."""
        return " ".join(filter(None, self))

    @property
    def scored_wrong(self) -> bool:
        """Is the framework's own word on this attack known to be wrong?"""
        return (self.suite, self.injection) in SCORED_WRONG


class Validity(NamedTuple):
    """What a benchmark says of a run itself, where it tells invalid runs from attacks that were resisted."""

    valid: bool
    why: str
    """Why not."""
    first: bool
    """Was the first of the attacker's steps taken?"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one pair. `void` says why it proves nothing; `obeyed` is None without an attack, `utility`
    where the benchmark does not say when a task is done."""

    pair: Pair
    agent: Agent
    utility: bool | None
    obeyed: bool | None
    reach: Reach | None
    why: str = ""
    void: str = ""
    exit_code: int | None = 0
    expected: bool | None = None
    """Of a control: whether the attack succeeds inside of the benchmark's own framework."""
    results: tuple[str, ...] = ()
    """Every tool result that its model read, where that was asked for."""
    validity: Validity | None = None

    @property
    def counts(self) -> bool:
        """Does it say whether the attack is resisted?"""
        return not self.void and self.reach == "reached" and self.obeyed is not None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "suite": self.pair.suite,
            "user_task": self.pair.user,
            "injection_task": self.pair.injection,
            "agent": self.agent,
            "utility": self.utility,
            "obeyed": self.obeyed,
            "attack": self.reach,
            "why": self.why or None,
            "void": self.void or None,
            "exit_code": self.exit_code,
            "expected": self.expected,
            **({} if self.validity is None else self.validity._asdict()),
        }


def spread(pairs: list[Pair], most: int | None) -> list[Pair]:
    """At most so many of them, evenly over all."""
    if most is None or most >= len(pairs):
        return pairs
    return [pairs[at * len(pairs) // most] for at in range(most)]


def tasks(pairs: list[Pair]) -> list[Pair]:
    """Each user's task of these pairs once, without an attack."""
    return list(dict.fromkeys(pair._replace(injection=None) for pair in pairs))
