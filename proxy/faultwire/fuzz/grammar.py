"""What cases begin with, and how one is made of another: the only place where a case is generated.

Pure: the same case, change, throw and seed give the same text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire._core import sha256_hex
from faultwire.dice import Dice, FaultDice
from faultwire.evolution.mutant import Evolved, child as mutant, types
from faultwire.fuzz.answers import documents, is_stream, with_document
from faultwire.fuzz.case import Case, Part, Step, Target
from faultwire.fuzz.schemas import Validity, generated, validity
from faultwire.fuzz.values import CHANGES, damaged, inner, room

if TYPE_CHECKING:
    from collections.abc import Mapping

GENERATED = "generated"
"""The change that makes a new value of the schema."""
INNER = "inner_"
"""Before a change of an answer: at a document inside of it, as the arguments of a call are."""
PROMPT_CHANGES = ("encoding", "truncated", "empty", "unicode", "long")
"""Changes of a prompt beside the types of mutation."""


INNER_CHANGES = ("wrong_type", "null", "missing", "huge_number", "empty", "unicode", "truncated", "not_json")
PROMPT_ROOM = 3
"""Texts of one change of a prompt that are taken to differ."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a target's texts begin with, by name, and the schema of its results, where one is known."""

    target: Target
    bases: Mapping[str, str]
    schema: Mapping[str, Any] | None = None

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes that this target can have."""
        if self.target.kind == "prompt":
            return (*types(), *PROMPT_CHANGES)
        if self.target.kind == "answer":
            return (*CHANGES, *(f"{INNER}{one}" for one in INNER_CHANGES))
        return (*CHANGES, *((GENERATED,) if self.schema is not None and self.target.kind == "result" else ()))

    def room(self, text: str) -> Mapping[str, int]:
        """At how many places of a text each change can be made, as far as that is known."""
        if self.target.kind == "prompt":
            return dict.fromkeys(self.changes, PROMPT_ROOM)
        return room(text)

    def first(self, name: str) -> Part:
        """A text as it is."""
        return Part(self.target, name, self.bases[name])

    def validity(self, text: str) -> Validity:
        """Is a text valid by the schema of the tool's results?"""
        return validity(self.schema, text)


def step(part: Part, source: Source, change: str, throw: int, seed: int) -> Part | None:
    """The part with one more change; None where this throw gives nothing, or nothing that can be sent."""
    key = sha256_hex(part.text.encode("utf-8", "surrogatepass"))
    dice = Dice(seed, "fuzz").held(change, key, throw)
    if part.target.kind == "prompt" and change not in PROMPT_CHANGES:
        made = mutant(Evolved(0, part.text), change, throw, seed)
        text, how = (None, "") if made is None else (made.text, made.lineage[-1].how)
    elif change == GENERATED:
        text = None if source.schema is None else generated(source.schema, dice)
        how = "a new value of the schema"
    elif part.target.kind == "answer":
        text, how = _in_an_answer(part.text, change, dice)
    elif part.target.kind == "message":
        text, how = _in_a_message(part.text, change, throw, dice.dice)
    else:
        found = damaged(part.text, change, dice)
        text, how = (None, "") if found is None else found
    if text is None or text == part.text or (part.target.kind == "prompt" and "\0" in text):
        return None
    return replace(part, text=text, steps=(*part.steps, Step(change, throw, how)))


def _in_an_answer(text: str, change: str, dice: FaultDice) -> tuple[str | None, str]:
    """Damage an answer, or one event of a stream; each event stays on its line."""
    events = documents(text) if is_stream(text) else []
    at = int(dice.unit("event") * len(events))
    document = events[at][1] if events else text
    plain = change.removeprefix(INNER)
    found = damaged(document, plain, dice) if plain == change else inner(document, plain, dice)
    if found is None:
        return None, ""
    if not events:
        return found
    return with_document(text, events[at][0], found.text), f"{found.how} of event {at + 1}"


def _in_a_message(text: str, change: str, throw: int, dice: Dice) -> tuple[str | None, str]:
    """Damage one of several messages; each stays on its line."""
    lines = text.split("\n")
    held = dice.held(change, sha256_hex(text.encode("utf-8", "surrogatepass")), throw)
    at = int(held.unit("message") * len(lines))
    found = damaged(lines[at], change, held)
    if found is None:
        return None, ""
    lines[at] = found.text.replace("\r", " ").replace("\n", " ")
    return "\n".join(lines), found.how if len(lines) == 1 else f"{found.how} of message {at + 1}"


def child(case: Case, source: Source, base: str, change: str, throw: int, seed: int) -> Case | None:
    """The case with one more change at a target; without a part there, of a text that it begins with."""
    part = case.part(source.target) or source.first(base)
    made = step(part, source, change, throw, seed)
    return None if made is None else case.with_part(made)


def made_again(part: Part, source: Source, seed: int) -> Part | None:
    """A part anew from its base and its steps; None where they give nothing any more."""
    found: Part | None = source.first(part.base) if part.base in source.bases else None
    for one in part.steps:
        if found is None:
            return None
        found = step(found, source, one.change, one.throw, seed)
    return found
