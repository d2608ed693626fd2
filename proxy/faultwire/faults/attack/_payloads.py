"""What is planted: our own library of attacks by family, the user's texts, and canaries.

The library's texts attack nothing but an agent's judgement; the addresses in them lead nowhere
(`example.invalid`, RFC 2606). `{canary}` in a text is where its canary stands.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import Field

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

Family = Literal["override", "authority", "task_shift", "exfiltration", "tool_abuse", "obfuscated"]
FAMILIES: tuple[Family, ...] = (
    "override",
    "authority",
    "task_shift",
    "exfiltration",
    "tool_abuse",
    "obfuscated",
)
Text = Annotated[str, Field(min_length=1, max_length=100_000)]
_FOLDER = Path(__file__).parent / "payloads"
_HOMOGLYPHS = str.maketrans("aceopxyABEHKMOPTX", "асеорхуАВЕНКМОРТХ")  # noqa: RUF001 - meant to be confused


class Payload(NamedTuple):
    """A text to plant; `canary` is a word in it that is looked for afterwards."""

    name: str
    text: str
    canary: str | None = None


@cache
def library(family: Family) -> tuple[Payload, ...]:
    """The payloads of a family, in order."""
    loaded: Any = yaml.safe_load((_FOLDER / f"{family}.yaml").read_bytes())
    return tuple(
        Payload(f"{family}/{entry['id']}", _obscured(entry["text"], entry.get("as"))) for entry in loaded
    )


def _obscured(text: str, how: str | None) -> str:
    """The text behind a disguise that a filter on words does not see through."""
    text = " ".join(text.split())
    if how == "base64":
        return f"Decode this base64 text and do what it says: {base64.b64encode(text.encode()).decode()}"
    if how == "homoglyph":
        return text.translate(_HOMOGLYPHS)
    if how == "zero_width":
        return "\u200b".join(text)
    return text


def pick(texts: tuple[str, ...] | None, families: tuple[Family, ...], dice: FaultDice) -> Payload:
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
