"""Damage to a text along its structure: one change of a JSON document, or of the text itself.

Pure. Chance comes from the dice. What the changes are is the field's usual list (boundary values of JSON:
Nicolas Seriot, Parsing JSON is a Minefield, 2016; structure-aware mutation: Pham and others, AFLSmart, 2019).
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - the pattern is fixed
from collections import Counter
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.dice import FaultDice

Place = tuple[str | int, ...]
LONGEST = 200_000
"""Characters of a text."""
DEPTHS = (30, 300, 3000)
LONG = (300, 5_000, 60_000)
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around what stands in the text as it is, without quotation marks: private characters, of which a document
that has some is changed as a text."""
_RAW = re.compile(f'"{_OPEN}(.*?){_CLOSE}"')
_OTHERS: tuple[Any, ...] = ("", "text", 0, True, [], {}, ["text"], {"value": 1})
_HUGE = (
    "1e999",
    "9" * 400,
    "9223372036854775808",
    "-9223372036854775809",
    "9007199254740993",
    "1e308",
)
DIGITS = 5000
"""More than Python reads (4,300), so that most such texts end at the parser: rarer than the others."""
_TINY = ("5e-324", "-0.0", "0", "-1", "1e-400", "NaN", "-Infinity", "0.1")
_LETTERS = (
    "\u202etxet\u202c", "e\u0301\u0327\u0323", "\U0001f469\u200d\U0001f4bb", "\u0000", "\uffff", "\u2028",
    "\u0130\u0131\u00df", "\u5bff\u53f8", "\u0645\u0631\u062d\u0628\u0627", f"{_OPEN}\"\\ud800\"{_CLOSE}",
)  # fmt: skip


class Damaged(NamedTuple):
    """The text, and what was changed where, in words."""

    text: str
    how: str


class Deep(NamedTuple):
    """A value inside of so many lists."""

    depth: int


def parsed(text: str) -> Any:
    """The JSON document that a text is; the text itself where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if _OPEN in text or isinstance(found, str) else found


def inner(text: str, change: str, dice: FaultDice) -> Damaged | None:
    """The text with one change in a document that is the text of one of its members, as the arguments of a
    call are; None where there is none."""
    document = parsed(text)
    where = [one for one in places(document) if one and _holds_document(one, at(document, one))]
    if not where:
        return None
    place = where[_turn(len(where), dice)]
    made = damaged(at(document, place), change, dice)
    if made is None:
        return None
    return Damaged(written(with_value(document, place, made.text)), f"{made.how} inside of {shown(place)}")


def _holds_document(place: Place, value: Any) -> bool:
    return isinstance(value, str) and (place[-1] == "arguments" or not isinstance(parsed(value), str))


def written(document: Any) -> str:
    """A document as text; a text as it is."""
    if isinstance(document, str):
        return document.removeprefix(f"{_OPEN}").removesuffix(f"{_CLOSE}")
    text = json.dumps(document, ensure_ascii=False)
    return _RAW.sub(lambda found: json.loads(f'"{found[1]}"'), text)


def places(document: Any, place: Place = ()) -> Iterator[Place]:
    """Every value of a document, the whole first."""
    yield place
    if isinstance(document, dict | list) and len(place) < 40:
        for key, child in document.items() if isinstance(document, dict) else enumerate(document):
            yield from places(child, (*place, key))


def at(document: Any, place: Place) -> Any:
    """The value that stands there."""
    for key in place:
        document = document[key]
    return document


def with_value(document: Any, place: Place, value: Any) -> Any:
    """The document with another value there; what is not on the way is shared."""
    if not place:
        return value
    key, *rest = place
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    copy[key] = with_value(document[key], tuple(rest), value)
    return copy


def raw(text: str) -> str:
    """What stands in the document as it is."""
    return f"{_OPEN}{text}{_CLOSE}"


def _other_type(value: Any, dice: FaultDice) -> Any:
    options = [one for one in _OTHERS if type(one) is not type(value)]
    options += [[value], {"value": value}, *([str(value)] if not isinstance(value, str) else [])]
    return dice.choice(options, "type")


def _huge(_value: Any, dice: FaultDice) -> Any:
    number = dice.choice(_HUGE, "number")
    return raw("9" * DIGITS if number == "9" * 400 and dice.unit("digits") < 0.3 else number)


def _empty(value: Any, _dice: FaultDice) -> Any:
    return type(value)()


def _deep(_value: Any, dice: FaultDice) -> Any:
    depth = dice.choice(DEPTHS, "depth")
    return raw("[" * depth + "]" * depth)


def _unicode(value: Any, dice: FaultDice) -> Any:
    letters = dice.choice(_LETTERS, "letters")
    if letters.startswith(_OPEN):
        return letters
    middle = int(dice.unit("middle") * (len(value) + 1))
    return f"{value[:middle]}{letters}{value[middle:]}"


def _long(value: Any, dice: FaultDice) -> Any:
    length = dice.choice(LONG, "length")
    if isinstance(value, str):
        return (value or "x") * (length // max(1, len(value)) + 1)
    return value * min(length // max(1, len(value)) + 1, 2000)


def _other_value(value: Any, dice: FaultDice) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        if not abs(value) < 1e15:
            return 1
        return dice.choice((value + 1, value - 1, -value, value * 1000, value / 3), "value")
    return value[::-1] if isinstance(value, str | list) else value


VALUES: dict[str, Callable[[Any, FaultDice], Any]] = {
    "wrong_type": _other_type,
    "null": lambda _value, _dice: None,
    "huge_number": _huge,
    "tiny_number": lambda _value, dice: raw(dice.choice(_TINY, "number")),
    "empty": _empty,
    "deep": _deep,
    "unicode": _unicode,
    "long": _long,
    "other_value": _other_value,
}
"""Changes of one value."""


def _missing(document: Any, place: Place) -> Any:
    copy: Any = at(document, place[:-1]).copy()
    del copy[place[-1]]
    return with_value(document, place[:-1], copy)


def _extra(document: Any, place: Place, dice: FaultDice) -> Any:
    value = at(document, place)
    if isinstance(value, dict):
        return with_value(document, place, {**value, dice.choice(("__proto__", "", "extra"), "key"): 1})
    return with_value(document, place, [*value, dice.choice(_OTHERS, "item")])


def _repeated_key(document: Any, place: Place, dice: FaultDice) -> str:
    """The same member twice, with two values."""
    whole = at(document, place[:-1])
    mark = f"{_OPEN}again{_CLOSE}"
    other = _other_type(whole[place[-1]], dice)
    text = written(with_value(document, place[:-1], {**whole, f"{place[-1]}{mark}": other}))
    return text.replace(mark, "")


def _encoded(text: str, dice: FaultDice) -> str:
    how = dice.choice(("bom", "latin", "twice", "nul"), "encoding")
    if how == "bom":
        return f"\ufeff{text}"
    if how == "twice":
        return json.dumps(text)
    return (
        text.encode("utf-8", "replace").decode("latin-1") + "\u00e9"
        if how == "latin"
        else "\0".join(text[:200])
    )


TEXTS = ("duplicate_key", "truncated", "encoding", "not_json")
"""Changes of the whole text."""
CHANGES = (*VALUES, "missing", "extra", *TEXTS)


def room(text: str) -> Counter[str]:
    """At how many places each change can be made; 1 for a change of the whole text."""
    document = parsed(text)
    found = Counter(
        change for place in places(document) for change in CHANGES if _suits(change, document, place)
    )
    return Counter({name: 1 if name in TEXTS[1:] else count for name, count in found.items()})


def _turn(count: int, dice: FaultDice) -> int:
    """Which of so many places this throw has: each comes before one comes again, neighbours far apart."""
    stride = next(step for step in range(int(count * 0.618) or 1, count + 2) if gcd(step, count) == 1)
    first = int(dice.dice.roll(dice.fault, dice.key, 0, "place") * count)
    return (first + dice.n * stride) % count


def damaged(text: str, change: str, dice: FaultDice) -> Damaged | None:
    """The text with one change, at the place whose turn it is; None where that changes nothing."""
    document = parsed(text)
    where = [one for one in places(document) if _suits(change, document, one)]
    if not where:
        return None
    place = where[_turn(len(where), dice)]
    if change == "truncated":
        made = text[: int(dice.unit("cut") * len(text))]
    elif change == "encoding":
        made = _encoded(text, dice)
    elif change == "not_json":
        made = dice.choice(
            ("<html><body>502 Bad Gateway</body></html>", "null", "[]", "OK", "{", text + text), "page"
        )
    elif change == "duplicate_key":
        made = _repeated_key(document, place, dice)
    else:
        made = written(_changed(document, place, change, dice))
    if made == text or len(made) > LONGEST or made.encode("utf-8", "replace").decode() != made:
        return None
    return Damaged(made, f"{change} at {shown(place) if change not in TEXTS[1:] else 'the text'}")


_SUITS: dict[str, tuple[type, ...]] = {
    "huge_number": (int, float),
    "tiny_number": (int, float),
    "empty": (str, list, dict),
    "unicode": (str,),
    "long": (str, list),
    "extra": (list, dict),
}


def _suits(change: str, document: Any, place: Place) -> bool:
    """Can a change do something to the value there?"""
    if change in ("missing", "duplicate_key"):
        return bool(place) and (change == "missing" or isinstance(place[-1], str))
    value = at(document, place)
    return change not in _SUITS or (isinstance(value, _SUITS[change]) and not isinstance(value, bool))


def _changed(document: Any, place: Place, change: str, dice: FaultDice) -> Any:
    if change == "missing":
        return _missing(document, place) if place else document
    if change == "extra":
        return _extra(document, place, dice)
    return with_value(document, place, VALUES[change](at(document, place), dice))


def shown(place: Place) -> str:
    """A place as a JSON path."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
