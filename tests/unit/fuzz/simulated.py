"""An agent in memory: it reads one result, crashes by a rule, and tells call shapes as the wire would."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from faultwire.fuzz.case import Case, Target
from faultwire.fuzz.corpus import Corpus
from faultwire.fuzz.crash import Crash
from faultwire.fuzz.grammar import Source
from faultwire.fuzz.search import Result, Search, Seen

ORDER = Target("result", "order")
DOCUMENT = {
    "id": 7,
    "status": "shipped",
    "total": 39.9,
    "address": {"city": "Paris", "zip": "75011", "country": "FR"},
    "items": [{"sku": "tea", "count": 2}, {"sku": "cup", "count": 1}],
    "note": "gift",
}
SOURCE = Source(ORDER, {"seen": json.dumps(DOCUMENT)})
CRASH = Crash("exit", "planted", "exited 7")
Rule = Callable[[Any], tuple[frozenset[str], Crash | None]]


def behind_two(order: Any) -> tuple[frozenset[str], Crash | None]:
    """A status that is no text makes it call another tool; only then a large count ends it."""
    try:
        status, count = order["status"], order["items"][0]["count"]
    except (LookupError, TypeError):
        return frozenset({"refused"}), None
    if isinstance(status, str):
        return frozenset({"usual"}), None
    large = isinstance(count, int | float) and abs(count) > 1e9
    return frozenset({"usual", "audit"}), CRASH if large else None


def player(rule: Rule, log: list[str] | None = None) -> Callable[..., Seen]:
    def play(case: Case, number: int, phase: str) -> Seen:
        part = case.part(ORDER)
        text = SOURCE.bases["seen"] if part is None else part.text
        if log is not None:
            log.append(f"{number} {phase} {case.id}")
        try:
            order = json.loads(text)
        except (ValueError, RecursionError):
            return Seen(("agent",), frozenset({"refused"}))
        features, crash = rule(order)
        return Seen(("agent",), features, crash)

    return play


def searched(rule: Rule, seed: int, budget: int, *, guided: bool = True, **options: Any) -> Result:
    log = options.pop("log", None)
    corpus = Corpus((SOURCE,), seed, guided=guided)
    search = Search(corpus, player(rule, log), budget, **options)
    search.novelty.new({"usual"})
    return search.run()
