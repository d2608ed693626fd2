"""The topology of an invocation in a report: who called whom, and a picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.lineage.topology import learn
from faultwire.report.text import clip, redacted

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import History
    from faultwire.profile.model import Profile

EXCHANGES = 2_000
"""Exchanges of the longest invocation whose topology a report shows; `tape show --topology` reads any."""
EDGES = 100
NAME = 60
"""Characters of a name."""
BOX = (150, 26)
"""Width and height of a place in the picture."""
COLUMN, ROW = 250, 44
_GLOB = frozenset("*?[")


def expected_edges(profile: Profile) -> list[tuple[str, str]]:
    """The edges that a profile's entries name outright, without globs."""
    pairs = [pair for entry in profile.entries for pair in entry.on.edges]
    return [(a, b) for a, b in pairs if not _GLOB & set(a + b)]


def topology_part(history: History, profile: Profile, redact: Callable[[str], str]) -> dict[str, Any] | None:
    """Who called whom; None where no agent called another and none is known by its marks, or an invocation
    is too long for a report."""
    exchanges = history.exchanges
    if len(exchanges) > EXCHANGES:
        return None
    found = learn(exchanges, profile.agents, expected_edges(profile))
    if not found.connects:
        return None
    made: dict[str, Any] = redacted(found.as_json(), redact)
    for place in (*made["places"], *(edge[end] for edge in made["edges"] for end in ("sender", "receiver"))):
        place["name"] = None if place["name"] is None else clip(place["name"], NAME)
    for edge in made["edges"]:
        edge["exchanges"] = [one["number"] for one in edge["exchanges"]]
    made["edges_not_shown"] = max(0, len(made["edges"]) - EDGES)
    made["edges"] = made["edges"][:EDGES]
    return made


def drawing(part: dict[str, Any]) -> dict[str, Any]:
    """Places in columns by their distance from those that nobody calls, edges as curves between them."""
    edges = [(_key(edge["sender"]), _key(edge["receiver"]), edge) for edge in part["edges"]]
    ranks = _ranks([key for a, b, _ in edges for key in (a, b)], [(a, b) for a, b, _ in edges])
    columns: dict[int, list[str]] = {}
    for key in sorted(ranks, key=lambda one: (ranks[one], one)):
        columns.setdefault(ranks[key], []).append(key)
    at = {
        key: (8 + COLUMN * rank, 8 + ROW * row)
        for rank, keys in columns.items()
        for row, key in enumerate(keys)
    }
    names = {_key(end): end for _, _, edge in edges for end in (edge["sender"], edge["receiver"])}
    boxes = [
        {
            "x": x,
            "y": y,
            "width": BOX[0],
            "height": BOX[1],
            "kind": names[key]["kind"],
            "label": _label(names[key]),
        }
        for key, (x, y) in at.items()
    ]
    return {
        "width": 16 + COLUMN * (max(columns, default=0) + 1),
        "height": 16 + ROW * max(map(len, columns.values()), default=1),
        "boxes": boxes,
        "arrows": [_arrow(at[a], at[b], edge) for a, b, edge in edges],
    }


def words(edge: dict[str, Any]) -> str:
    """An edge in words, for a list beside the picture and for those who do not see it."""
    calls = f"{edge['calls']} call{'' if edge['calls'] == 1 else 's'}"
    failed = f", {edge['failed']} failed" if edge["failed"] else ""
    faults = ", ".join(f"{name} ({count})" for name, count in edge["faults"].items())
    fired = f"; faults fired: {faults}" if faults else ""
    ends = f"{_label(edge['sender'])} -> {_label(edge['receiver'])}"
    return f"{ends} by {edge['transport']}: {calls}{failed}{fired}"


def _key(place: dict[str, Any]) -> str:
    return f"{place['kind']} {place['name'] or ''}"


def _label(place: dict[str, Any]) -> str:
    if place["name"] is None:
        return "(unknown)"
    return place["name"] if place["kind"] == "agent" else f"{place['name']} ({place['kind']})"


def _ranks(keys: list[str], pairs: list[tuple[str, str]]) -> dict[str, int]:
    """The column of each place. In a circle the first of its places in the order of names begins."""
    called = {b for a, b in pairs if a != b}
    waiting = sorted(set(keys) - called) or sorted(set(keys))[:1]
    ranks = dict.fromkeys(waiting, 0)
    while len(ranks) < len(set(keys)):
        found = sorted({b for a, b in pairs if a in ranks and b not in ranks})
        if not found:  # a circle that nobody outside calls
            found = sorted(set(keys) - set(ranks))[:1]
            ranks |= dict.fromkeys(found, 0)
            continue
        ranks |= {b: 1 + min(ranks[a] for a, one in pairs if one == b and a in ranks) for b in found}
    return ranks


def _arrow(start: tuple[int, int], end: tuple[int, int], edge: dict[str, Any]) -> dict[str, Any]:
    (width, height), middle = BOX, BOX[1] // 2
    if start == end:
        x, y = start[0] + width // 2, start[1]
        path = f"M{x - 20} {y} C{x - 20} {y - 14} {x + 20} {y - 14} {x + 20} {y}"
    elif start[0] < end[0]:
        x1, y1, x2, y2 = start[0] + width, start[1] + middle, end[0] - 6, end[1] + middle
        path = f"M{x1} {y1} C{x1 + 50} {y1} {x2 - 50} {y2} {x2} {y2}"
    else:  # back, or within a column: below the boxes
        x1, y1, x2, y2 = start[0] + 20, start[1] + height, end[0] + width - 20, end[1] + height
        path = f"M{x1} {y1} C{x1} {y1 + 30} {x2} {y2 + 30} {x2} {y2}"
    kind = "faulted" if edge["faults"] else "failed" if edge["failed"] else "calm"
    return {"path": path, "kind": kind, "words": words(edge)}
