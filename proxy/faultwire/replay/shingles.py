"""A small picture of a request's body, by which thousands are compared in milliseconds.

Of a JSON object the picture holds one number for each member, for each element of a member that is a
list, and for some of its words; two conversations that share turns share numbers, and of two that
differ in one turn those are nearer whose words are. What is no JSON object has the numbers of its lines.
"""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from faultwire.events import Request

MOST = 64
"""Numbers of one picture for elements; of longer conversations the beginning and the end are in it."""
WORDS = 20
"""Words that stand for all: those with the least hashes, so that like texts have like words (MinHash)."""


WORD_BYTES = 16 * 1024
"""Where words are looked for, from either end."""


def sketch(request: Request) -> frozenset[int]:
    """The picture of a request's body and query."""
    body = request.body or b""
    numbers = [hash(part) for part in request.path.partition("?")[2].split("&") if part]
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict):
        for name, value in found.items():
            if isinstance(value, list):
                numbers += [hash((name, at, orjson.dumps(one))) for at, one in enumerate(value)]
            else:
                numbers.append(hash((name, orjson.dumps(value))))
    else:
        numbers += map(hash, body.splitlines())
    if len(numbers) > MOST:
        numbers = numbers[: MOST // 2] + numbers[-MOST // 2 :]
    words = set(body[:WORD_BYTES].split())
    words.update(body[WORD_BYTES:][-WORD_BYTES:].split())
    return frozenset((*numbers, *nsmallest(WORDS, map(hash, words))))


def alike(one: frozenset[int], other: frozenset[int]) -> float:
    """From 0 (nothing in common) to 1 (the same)."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else float(not one and not other)
