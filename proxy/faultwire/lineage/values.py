"""What of a text is evidence: ids and numbers that hardly stand in two texts by chance."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed and linear
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.lineage.model import Span

LONGEST = 200
"""Characters of one value; what is longer is no id."""
DIGITS = 4
"""Digits that tell, of a whole number: 503 and 2024 stand in too many texts, and so does 5000."""

_TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_\-./@:+=~%]{0,198}[A-Za-z0-9=])?")
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,20})?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?")
_NAME = re.compile(r"v?\d+(?:\.\d+)+|[A-Za-z]+\d{1,3}")
"""A version, and a word with a short number behind it: sha256, step10."""
_EDGES = ".:/-+"


def values(leaves: Iterable[str]) -> dict[str, Span]:
    """The values in these leaves that are evidence, each with what it is."""
    found: dict[str, Span] = {}
    for leaf in leaves:
        found.update(_values(leaf))
    return found


@lru_cache(maxsize=4096)
def _values(leaf: str) -> dict[str, Span]:
    found: dict[str, Span] = {}
    for match in _TOKEN.finditer(leaf):
        token = match[0].strip(_EDGES)
        what = kind_of(token)
        if what is not None:
            found[token] = what
        if len(token) > 1 and set(token) & set("/@:+="):
            for piece in re.split(r"[/@:+=]", token):
                inner = kind_of(piece.strip(_EDGES))
                if inner is not None:
                    found[piece.strip(_EDGES)] = inner
    return found


def kind_of(token: str) -> Span | None:
    """Is this word an id or a number that tells? An id has digits among letters, or at least eight digits
    with marks between; a version such as 1.2.3 and a date are none."""
    if _NUMBER.fullmatch(token):
        return "number" if _is_specific(token) else None
    if not 5 <= len(token) <= LONGEST or _DATE.fullmatch(token) or _NAME.fullmatch(token):
        return None
    digits = sum(c.isdigit() for c in token)
    letters = sum(c.isalpha() for c in token)
    if letters and digits and (digits >= 3 or (digits >= 2 and len(token) >= 8)) and _mixed(token):
        return "id"
    return "id" if "@" in token and letters >= 5 else None


def _mixed(token: str) -> bool:
    """No `gpt-4o-mini-2024-07-18`, no `v1.0.0`, no `step10`: most such names end in a short number or hold
    a date."""
    bare = re.sub(r"\d{4}-\d\d-\d\d", "", token)
    digits = sum(c.isdigit() for c in bare)
    return digits >= 3 or (digits >= 2 and len(bare) >= 12)


def _is_specific(number: str) -> bool:
    whole, _, part = number.lstrip("-").partition(".")
    digits = (whole + part).strip("0")
    if part:
        return len(digits) >= 3
    return len(digits) >= DIGITS and not _YEAR.fullmatch(whole)
