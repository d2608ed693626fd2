"""Why two runs of the same program differ, derived from the values that differ.

This is a judgement from shapes: a value that looks like a time is taken for one. What no shape explains is
put down to the program itself.
"""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns
from typing import TYPE_CHECKING, Any, Literal

from faultwire.replay.volatile_values import MINTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Path

Cause = Literal["order", "clock", "random value", "model answer", "server answer", "fault", "code"]

_CLOCKS = frozenset({"instant", "epoch"})
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?![\d:])")
"""A date (RFC 3339) or a time of day."""
_NUMBERED = re.compile(r"[0-9A-Za-z]*\d[0-9A-Za-z]*(?:\.\d+(?:[eE][+-]?\d+)?)?(?:(?<=\de)[+-]?\d+)?")
"""A number, or a word with a digit in it, as random ids are."""
_SAME = "\x00"
_WORDS = re.compile(r"\w+")


def cause_of(places: Sequence[tuple[Path, Any, Any]]) -> Cause:
    """Why these places (path, value of one run, value of the other) of a request differ.

    Where one of them has no other explanation than the program, that is the cause; else that of the first.
    """
    found = [_cause(old, new) for _, old, new in places]
    if not found:
        return "code"
    if "code" not in found:
        return found[0]
    same_values = sorted(str(old) for _, old, _ in places) == sorted(str(new) for _, _, new in places)
    return "order" if same_values else "code"


def _cause(old: Any, new: Any) -> Cause:
    one, other = _text(old), _text(new)
    if one is None or other is None:
        return "code"
    if _TIME.sub(_SAME, _without_clocks(one)) == _TIME.sub(_SAME, _without_clocks(other)):
        return "clock"
    if _without_chance(one) == _without_chance(other):
        return "random value"
    if sorted(_WORDS.findall(one)) == sorted(_WORDS.findall(other)):
        return "order"
    return "code"


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _without_clocks(text: str) -> str:
    return MINTED.sub(lambda found: _SAME if found.lastgroup in _CLOCKS else found[0], text)


def _without_chance(text: str) -> str:
    return _NUMBERED.sub(_SAME, MINTED.sub(_SAME, text))
