"""Random texts of a regular expression, for sets that write their examples as expressions."""

import random
import re
from typing import Any

PARSER: Any = getattr(re, "_parser")  # noqa: B009 - the standard library's parser has no public name
MOST = 20  # for repetitions without an upper bound
PRINTABLE = [chr(code) for code in range(33, 127)]
CLASSES = {
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
    "CATEGORY_SPACE": " ",
}


def sample(expression: str, dice: random.Random) -> str:
    """One text that the expression matches; borders and look-arounds are not kept."""
    return "".join(_part(str(kind), given, dice) for kind, given in PARSER.parse(expression))


def _all(parts: Any, dice: random.Random) -> str:
    return "".join(_part(str(kind), given, dice) for kind, given in parts)


def _part(kind: str, given: Any, dice: random.Random) -> str:
    if kind == "LITERAL":
        return chr(given)
    if kind == "IN":
        return dice.choice(_class(given))
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, parts = given
        top = int(most) if int(most) < 10_000 else max(int(least), MOST)
        return "".join(_all(parts, dice) for _ in range(dice.randint(int(least), top)))
    if kind == "SUBPATTERN":
        return _all(given[-1], dice)
    if kind == "BRANCH":
        return _all(dice.choice(given[1]), dice)
    if kind == "ANY":
        return dice.choice(PRINTABLE)
    if kind == "NOT_LITERAL":
        return dice.choice([one for one in PRINTABLE if one != chr(given)])
    assert kind in ("AT", "ASSERT", "ASSERT_NOT"), kind
    return ""


def _class(parts: Any) -> list[str]:
    chosen: list[str] = []
    negated = False
    for kind, given in parts:
        name = str(kind)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            chosen.append(chr(given))
        elif name == "RANGE":
            chosen += [chr(code) for code in range(given[0], given[1] + 1)]
        else:
            chosen += CLASSES[str(given)]
    return [one for one in PRINTABLE if one not in chosen] if negated else chosen
