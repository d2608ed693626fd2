"""Comparing an answer with another text, in the words of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from faultwire.checks._api import judged, quoted, unknown
from faultwire.errors import UsageError
from faultwire.patterns import compare

if TYPE_CHECKING:
    from faultwire.events import Verdict

LONGEST = 1 << 16
"""Characters of texts that are compared; the cost grows with the product of both."""


def compared(
    expected: str, answer: str, what: str, least: float | None, engine: Literal["words", "semantic"]
) -> Verdict:
    """Does the answer say the same as `expected`, which is called `what`?"""
    if expected == answer:
        return judged(True, f"the answer equals {what}", 1.0)
    if len(expected) > LONGEST or len(answer) > LONGEST:
        return unknown(f"found texts of {len(expected)} and {len(answer)} characters, compared are {LONGEST}")
    try:
        found = compare(_clean(expected), _clean(answer), engine=engine, threshold=least)
    except UsageError as error:
        return unknown(f"{error.message}{f' ({error.hint})' if error.hint else ''}")
    score = round(found.similarity, 4)
    if found.same:
        return judged(True, f"the answer says the same as {what}, similarity {score:.2f}", score)
    why = quoted("; ".join(found.reasons), 200) if found.reasons else f"similarity {score:.2f} is too little"
    if found.outcome == "unknown":
        return unknown(
            f"whether the answer {quoted(answer)} says the same as {what} cannot be decided: {why}", score
        )
    return judged(False, f"the answer {quoted(answer)} differs from {what}: {why}", score)


def _clean(text: str) -> str:
    """Without lone surrogates, which no text of Unicode has."""
    return text.encode("utf-8", "replace").decode()
