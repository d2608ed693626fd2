"""What is planted: a text of the library or of the user's, with its canary in place."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from faultwire.faults.attack._library import Payload as Payload, registry

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

FAMILIES = ("override", "authority", "task_shift", "exfiltration", "tool_abuse", "obfuscated")
"""The families that a fault chooses from where none are named: what one seed chooses does not change as the
library grows."""


def _known(name: str) -> str:
    if name not in registry():
        near = get_close_matches(name, registry(), 1)
        meant = f" (did you mean `{near[0]}`?)" if near else ""
        raise ValueError(f"found family `{name}`{meant}, expected one of {', '.join(registry())}")
    return name


Family = Annotated[str, AfterValidator(_known)]
Text = Annotated[str, Field(min_length=1, max_length=100_000)]


def library(family: str) -> tuple[Payload, ...]:
    """The payloads of a family, in order."""
    return registry()[family].payloads


def pick(texts: tuple[str, ...] | None, families: tuple[str, ...], dice: FaultDice) -> Payload:
    """One payload: of the user's texts, or of the families where there are none."""
    if texts:
        at = int(dice.unit("payload") * len(texts))
        return Payload(f"payload {at + 1}", texts[at])
    return dice.choice([payload for family in families for payload in library(family)], "payload")


def marked(payload: Payload, dice: FaultDice, *, canary: bool) -> Payload:
    """The payload with its canary in place, or without one."""
    text, word = with_canary(payload.text, dice, wanted=canary)
    return payload._replace(text=text, canary=word)


def with_canary(text: str, dice: FaultDice, *, wanted: bool) -> tuple[str, str | None]:
    """The text with a canary in place, and that canary; where none is wanted, without one."""
    if not wanted:
        return text.replace("{canary}", "reference"), None
    word = f"fwc{int(dice.unit('canary') * 16**12):012x}"
    if "{canary}" in text:
        return text.replace("{canary}", word), word
    return f"{text} (reference {word})", word
