"""Cutting a whole answer short: its parts in order, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.wire import json_bytes
from faultwire.wire.editing.token_budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Path


class Part(NamedTuple):
    """One text or tool call. `place` goes whole where it does not fit; `words` is the JSON string that
    can be cut instead, whose text stands behind the first `lead` characters of `text` (a call's name)."""

    place: Path
    text: str
    words: Path | None = None
    lead: int = 0


KEPT_EMPTY = -1
"""As `lead`: the string stays where nothing of it is left, as an empty one."""


def cut_parts(body: bytes, parts: Iterable[Part], budget: Budget) -> bytes:
    """The body with its parts cut; `budget.spent` says afterwards whether anything was."""
    gone: list[Path] = []
    for part in parts:
        kept = budget.take(part.text) if budget.enter(part.place) else ""
        if kept == part.text and (part.text or not budget.spent):
            continue
        if part.words is not None and (len(kept) > part.lead or len(kept) == part.lead > 0):
            body = json_bytes.put(body, part.words, json_bytes.dump(kept[max(part.lead, 0) :]))
        else:
            gone.append(part.place)
    for place in reversed(gone):
        body = json_bytes.drop(body, place)
    return body


def put_count(
    body: bytes, path: Path, counted: object, limit: int, total: tuple[Path, object] | None = None
) -> bytes:
    """A count of output brought down to `limit`, and the total with it, where they were above."""
    excess = json_bytes.count(counted) - limit
    if excess <= 0:
        return body
    body = json_bytes.put(body, path, json_bytes.dump(limit))
    if total is not None and json_bytes.count(total[1]) > excess:
        body = json_bytes.put(body, total[0], json_bytes.dump(json_bytes.count(total[1]) - excess))
    return body
