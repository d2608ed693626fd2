"""Packs: data from which a mutation is made, for a domain or for a locale.

A pack puts the prompt into a frame of its domain or language, with entities of it. That of a locale also
writes the numbers and dates of the prompt as people there do (Unicode CLDR 45). Persons are given
names alone, addresses are of `example.com` (RFC 2606), organisations are made up.

A package adds one by the entry-point group `faultwire.mutations`, with `packed(Pack(...))` as its value.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed and linear
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from faultwire.mutations._api import Draft, Mutation, filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.dice import FaultDice

_DATE = re.compile(r"(?<![\w.-])(\d{4})-(\d{2})-(\d{2})(?![\w-])")
_NUMBER = re.compile(r"(?<![\w.,:/-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w:/-]|[.,]\d)")
BARE = 5
"""Digits from which on a number without a sign between them is taken for an id, which is written one way."""
_ISOLATE, _END = "\u2067", "\u2069"
"""RIGHT-TO-LEFT ISOLATE and POP DIRECTIONAL ISOLATE (Unicode TR 9)."""


def _is_id(found: re.Match[str]) -> bool:
    """Is a number one without any sign, too long to be written so as an amount?"""
    return found[0].isdigit() and len(found[0]) >= BARE


@dataclass(frozen=True, slots=True)
class Format:
    """How a locale writes numbers and dates. `date` has `{y}`, `{m}`, `{d}` (two digits) and `{D}`, `{M}`
    (without a zero in front); `digits` are its ten digits."""

    decimal: str
    group: str
    date: str
    digits: str = "0123456789"
    indian: bool = False
    """Groups of two in front of the last three digits (1,23,45,678)."""

    def number(self, whole: str, fraction: str) -> str:
        """Digits, and those behind the decimal point, as people there write them."""
        size, groups, rest = 3, list[str](), whole
        while rest:
            groups.insert(0, rest[-size:])
            rest, size = rest[:-size], 2 if self.indian else 3
        text = self.group.join(groups) if len(whole) > 4 or self.indian else whole
        return self.own(f"{text}{self.decimal}{fraction}" if fraction else text)

    def day(self, year: str, month: str, day: str) -> str:
        """A date."""
        return self.own(self.date.format(y=year, m=month, d=day, M=int(month), D=int(day)))

    def own(self, text: str) -> str:
        """With its digits."""
        return text.translate(str.maketrans("0123456789", self.digits))

    def written(self, text: str) -> tuple[str, int]:
        """A text with its dates (2026-03-01) and numbers (1,234.5) written so, and how many were."""
        text, dates = _DATE.subn(lambda found: f"\0{self.day(*found.groups())}\0", text)
        parts = text.split("\0")  # what was written already is left alone
        count = dates
        for at in range(0, len(parts), 2):
            ids = sum(map(_is_id, _NUMBER.finditer(parts[at])))
            parts[at], more = _NUMBER.subn(self._number, parts[at])
            count += more - ids
        return "".join(parts), count

    def _number(self, found: re.Match[str]) -> str:
        whole = found[1].replace(",", "")
        if len(whole) == 4 and "," not in found[1] and not found[2]:
            return self.own(found[1])  # a year
        if _is_id(found):
            return whole
        return self.number(whole, (found[2] or "")[1:])


@dataclass(frozen=True, slots=True)
class Pack:
    """The data. `frames` have `{prompt}` and words; `words` are what the others may be."""

    name: str
    version: str
    kind: Literal["domain", "locale"]
    summary: str
    frames: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    format: Format | None = None
    rtl: bool = False
    """Is it written from right to left? The prompt is then isolated in it."""


class Packed(Mutation):
    """A mutation made from a pack."""

    pack: ClassVar[Pack]
    weight = 1.0

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """The prompt in a frame, with its numbers and dates as people there write them."""
        pack = self.pack
        at = int(dice.unit("frame") * len(pack.frames))
        text, changed = (prompt, 0) if pack.format is None else pack.format.written(prompt)
        text = filled(pack.frames[at], text, pack.words, dice)
        if pack.rtl:
            text = f"{_ISOLATE}{text}{_END}"
        written = f", {changed} numbers and dates as written there" if changed else ""
        return Draft(text, f"pack {pack.name} {pack.version}, frame {at + 1}{written}")


def packed(pack: Pack) -> type[Packed]:
    """The type of mutation that a pack makes."""
    return type(
        f"Pack_{pack.name}",
        (Packed,),
        {"name": pack.name, "summary": pack.summary, "pack": pack, "__doc__": pack.summary},
    )
