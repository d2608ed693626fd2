"""Plausible other values: what a careless or outdated source would say in place of the right ones."""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns below are fixed and linear
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from faultwire import _core

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

_DATE = r"(?P<date>\b[12][0-9]{3}-[01][0-9]-[0-3][0-9]\b)"
_NUMBER = r"(?P<number>(?<![\w.])[0-9]{1,15}(?:\.[0-9]{1,6})?(?![\w]))"
_NAME = r"(?P<name>\b(?:Alice|Bob|Carol|David|Emma|Paris|London|Berlin|Madrid|Tokyo)\b)"
_FACT = re.compile(f"{_DATE}|{_NAME}|{_NUMBER}")
_NAMES = ("Alice", "Bob", "Carol", "David", "Emma")
_PLACES = ("Paris", "London", "Berlin", "Madrid", "Tokyo")
_IDENTIFIERS = frozenset(("id", "uuid", "type", "object", "index", "version", "url", "uri", "href"))


def altered(text: str, dice: FaultDice) -> str:
    """The text with its numbers, dates and well-known names changed; JSON stays JSON, and keys stay."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _prose(text, dice, "text")
    if not isinstance(document, dict | list):
        return _prose(text, dice, "text")
    data = text.encode("utf-8", "surrogatepass")
    try:
        edits = list(_leaves(data, (), document, dice))
        return _core.json_splice(data, edits).decode("utf-8", "surrogatepass")
    except ValueError:
        return text  # JSON that only Python reads is left alone


def _leaves(
    data: bytes, path: tuple[str | int, ...], value: Any, dice: FaultDice
) -> list[tuple[int, int, bytes]]:
    edits: list[tuple[int, int, bytes]] = []
    for key, start, end in _core.json_children(data, list(path)):
        child = value[key]
        place = (*path, key)
        if isinstance(child, dict | list):
            edits += _leaves(data, place, child, dice)
        elif isinstance(child, bool):
            continue
        elif isinstance(child, str) and key not in _IDENTIFIERS:
            new = _prose(child, dice, repr(place))
            edits += [(start, end, json.dumps(new, ensure_ascii=False).encode())] if new != child else []
        elif isinstance(child, int | float) and key not in _IDENTIFIERS:
            edits.append((start, end, _number(data[start:end].decode(), dice, repr(place)).encode()))
    return edits


def _prose(text: str, dice: FaultDice, where: str) -> str:
    def other(found: re.Match[str]) -> str:
        purpose = f"{where} {found.start()}"
        if found["date"]:
            return _date(found[0], dice, purpose)
        if found["name"]:
            pool = _NAMES if found[0] in _NAMES else _PLACES
            return dice.choice([name for name in pool if name != found[0]], purpose)
        return _number(found[0], dice, purpose)

    return _FACT.sub(other, text)


def _date(text: str, dice: FaultDice, purpose: str) -> str:
    try:
        day = date.fromisoformat(text)
        return (day + timedelta(days=dice.choice((-30, -7, -1, 1, 7, 30), purpose))).isoformat()
    except (ValueError, OverflowError):
        return text


def _number(text: str, dice: FaultDice, purpose: str) -> str:
    """Another number of the same form, 5 to 40 % away and never the same."""
    try:
        value = float(text)
    except ValueError:
        return text
    decimals = len(text.partition(".")[2]) if "e" not in text.lower() else 0
    step = 10.0**-decimals
    away = max(step, abs(value) * dice.uniform(0.05, 0.4, purpose))
    up = dice.unit(f"{purpose} up") < 0.5 or 0 <= value < away
    made = f"{value + (away if up else -away):.{decimals}f}"
    return made if made != text else f"{value + step:.{decimals}f}"
