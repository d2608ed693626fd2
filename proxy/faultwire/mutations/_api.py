"""What a mutation is.

A mutation makes mutants of a prompt: texts, or changes of the HTTP request that carries it. It is pure:
chance comes from the dice that it is handed, and the same dice give the same mutant. The engine asks it
for one after another and drops what is blank, unchanged or there already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.dice import FaultDice
    from faultwire.mutations._request import RequestChange


@dataclass(frozen=True, slots=True)
class Draft:
    """One try: the text, what was done in words, and how the request is changed where one carries it."""

    text: str
    how: str
    request: RequestChange | None = None


@dataclass(frozen=True, slots=True)
class Mutant:
    """A prompt made from another. `text` is for agents that only take text; one that is reached by HTTP
    gets the original in a changed request where there is a `request`."""

    type: str
    original: str
    text: str
    how: str
    weight: float = 1.0
    request: RequestChange | None = None

    @property
    def id(self) -> str:
        """Twelve hex digits, the same for the same mutant."""
        parts = "\x00".join((self.type, self.original, self.text, repr(self.request)))
        return _core.sha256_hex(parts.encode("utf-8", "surrogatepass"))[:12]

    def prompt(self, *, http: bool) -> str:
        """What the agent is asked."""
        return self.original if http and self.request is not None else self.text


class Mutation(ABC):
    """One type of mutation. Subclass it, one per file or table."""

    name: ClassVar[str]
    weight: ClassVar[float]
    """Its weight in the robustness score, where the user gives none."""
    summary: ClassVar[str]
    """What it does, for people."""
    may_be_blank: ClassVar[bool] = False

    def cannot(self, prompt: str) -> str | None:
        """Why it cannot be applied to this prompt at all, or None."""
        return None if prompt.strip() else "the prompt is blank"

    @abstractmethod
    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """One try, by these dice; None where this throw gives nothing."""


class Framed(Mutation):
    """A mutation that puts the prompt into one of its frames.

    `{prompt}` in a frame is the prompt; every other `{word}` is one of `words[word]`, by the dice.
    """

    frames: ClassVar[tuple[str, ...]]
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """The prompt in a frame."""
        at = int(dice.unit("frame") * len(self.frames))
        return Draft(filled(self.frames[at], prompt, self.words, dice), f"frame {at + 1}")


def filled(frame: str, prompt: str, words: Mapping[str, tuple[str, ...]], dice: FaultDice) -> str:
    """A frame with its words and, last, the prompt in it: braces of the prompt mean nothing."""
    for name, options in words.items():
        if f"{{{name}}}" in frame:
            frame = frame.replace(f"{{{name}}}", dice.choice(options, f"word {name}"))
    return frame.replace("{prompt}", prompt)


class Maker(Protocol):
    """Makes mutants of one type, one after another; `note` says what it could not do."""

    note: str

    def take(self, count: int, seen: set[str]) -> list[Mutant]:
        """Up to `count` mutants that are not in `seen`, to which they are added."""
