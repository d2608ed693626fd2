"""Why a trigger did not act, in words for somebody who does not have the profile at hand. Pure.

The ledger names each decision by its own call (`exchange.trigger`); here those of one entry are put together.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BY_CHANCE = "by chance"
"""In the words about a decision that was left to the dice."""
_FORMS = (
    (
        re.compile(r"call \d+ of the first (?P<n>\d+) passes"),
        "its trigger leaves the first {calls} alone (`after_calls: {n}`)",
        ", and no later one matched",
    ),
    (
        re.compile(r"call \d+ is past the first (?P<n>\d+)"),
        "its trigger acts on the first {calls} only (`first: {n}`)",
        "",
    ),
    (
        re.compile(r"call \d+ is none of (?P<n>[\d, ]+)"),
        "its trigger acts on {listed} only (`calls: [{n}]`)",
        ", of which none matched",
    ),
    (
        re.compile(r"call \d+ is not one in (?P<n>\d+)"),
        "its trigger acts on one call in {n} (`every: {n}`)",
        ", and none of those matched",
    ),
    (
        re.compile(r"[\d.]+ s is not between (?P<n>\S+) and (?P<m>\S+) s"),
        "its trigger acts from {n} to {m} s of the session only (`between_s: [{n}, {m}]`)",
        ", and nothing matched then",
    ),
    (
        re.compile(r"rolled (?P<n>[\d.e-]+)(?: of stage (?P<stage>\d+))? or more"),
        "{chance} it was not to act on {which} (`probability: {n}`{stages})",
        "",
    ),
)
"""The ledger's reason, the words, and what follows where an entry has no other reason."""


def in_words(reasons: Sequence[str]) -> list[str]:
    """Each reason once, in its order; reasons that differ only in the number of the call are one."""
    worded: dict[str, str] = {}
    rolled = sum(reason.startswith("rolled ") for reason in reasons)
    for reason in reasons:
        words, alone = _words(reason, only=rolled == len(reasons))
        worded[words] = alone
    if len(worded) == 1:
        return [words + alone for words, alone in worded.items()]
    return list(worded)


def _words(reason: str, *, only: bool) -> tuple[str, str]:
    for pattern, words, alone in _FORMS:
        found = pattern.fullmatch(reason)
        if found is None:
            continue
        parts = found.groupdict()
        n, stage = parts["n"], parts.get("stage")
        about = {
            "n": n,
            "m": parts.get("m"),
            "calls": "call" if n == "1" else f"{n} calls",
            "listed": f"call {n}" if n.isdecimal() else f"calls {n}",
            "chance": BY_CHANCE,
            "which": "any call" if only and stage is None else "the other calls",
            "stages": f" in stage {stage}" if stage else "",
        }
        if stage:
            about["which"] = "the calls of that stage"
        return words.format(**about), alone
    return reason, ""
