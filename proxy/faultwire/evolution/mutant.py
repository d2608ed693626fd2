"""A mutant with its lineage: which types of mutation made it, one after the other, of which prompt.

Pure. A lineage can be made again from the prompt, the types and their throws: nothing else is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from faultwire._core import sha256_hex
from faultwire.dice import Dice
from faultwire.mutations._registry import find, registry, unpacked
from faultwire.mutations.custom import Custom

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 20_000
"""Characters of a mutant: types that repeat a text would double it in each generation."""


class Step(NamedTuple):
    """One mutation: its type, the number of its throw, and what it did in words."""

    type: str
    throw: int
    how: str


@dataclass(frozen=True, slots=True)
class Evolved:
    """A text, the prompt that it comes from (by number), and the steps between both."""

    prompt: int
    text: str
    lineage: tuple[Step, ...] = ()

    @property
    def id(self) -> str:
        """Twelve hex digits, the same for the same text of the same prompt."""
        return sha256_hex(f"{self.prompt}\x00{self.text}".encode("utf-8", "surrogatepass"))[:12]


def types() -> tuple[str, ...]:
    """The types that are chosen from where none is named: no packs, and no templates of a user, of which
    there are none here."""
    return tuple(name for name in unpacked() if name != Custom.name)


def known() -> tuple[str, ...]:
    """Those that can be named: packs, too."""
    return tuple(name for name in registry() if name != Custom.name)


def child(parent: Evolved, type_: str, throw: int, seed: int) -> Evolved | None:
    """A mutant of a mutant by one more mutation; None where the type gives none by this throw, or one that is
    blank, too long, or has a character that no argument can carry."""
    mutation = find(type_)()
    if mutation.cannot(parent.text) is not None:
        return None
    key = sha256_hex(parent.text.encode("utf-8", "surrogatepass"))
    draft = mutation.draft(parent.text, Dice(seed, "evolution").held(type_, key, throw))
    if draft is None or draft.text == parent.text or not _can_be_asked(draft.text):
        return None
    return Evolved(parent.prompt, draft.text, (*parent.lineage, Step(type_, throw, draft.how)))


def _can_be_asked(text: str) -> bool:
    sayable = text.encode("utf-8", "replace").decode() == text
    return bool(text.strip()) and len(text) <= LONGEST and "\0" not in text and sayable


def made_again(prompt: str, number: int, lineage: Iterable[Step], seed: int) -> Evolved | None:
    """The mutant of a lineage; None where it cannot be made (another version, another seed)."""
    found: Evolved | None = Evolved(number, prompt)
    for step in lineage:
        if found is None:
            return None
        found = child(found, step.type, step.throw, seed)
    return found
