"""A lineage graph: parts of exchanges, and the edges that recorded bytes prove. Frozen values.

An edge states what stands where, never why: the same bytes may have come another way.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

EdgeKind = Literal["exact", "near", "canary", "history"]
Span = Literal["id", "number", "quoted value", "text", "words", "call", "call id", "canary", "turn"]
"""What the evidence of an edge is."""
Side = Literal["request", "answer", "output"]
OUTPUT = 0
"""The number in place of an exchange's: what the agent printed at its end."""
SHOWN = 80
"""Characters of a span that are printed."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A place in an exchange: `answer` of exchange 2, or `result lookup` in the request of exchange 3."""

    exchange: int
    side: Side
    name: str
    message: int = 0
    """Of a WebSocket: the number of the message in which it begins; 0 elsewhere."""
    until: int = 0
    """And of the one in which it ends."""

    @property
    def text(self) -> str:
        """For example `the body in the answer of exchange 2`."""
        if self.side == "output":
            return "the agent's output"
        if self.message:
            return f"{self.name} in {self._messages} of exchange {self.exchange}"
        return f"{self.name} in the {self.side} of exchange {self.exchange}"

    @property
    def _messages(self) -> str:
        if self.until > self.message:
            return f"WebSocket messages {self.message} to {self.until}"
        return f"WebSocket message {self.message}"

    @property
    def where(self) -> str:
        """The exchange, and the message of a WebSocket."""
        return (
            f"{self._messages} of exchange {self.exchange}" if self.message else f"exchange {self.exchange}"
        )


@dataclass(frozen=True, slots=True)
class Edge:
    """Bytes of `source` stand in `target`, which came later.

    `span` is the longest piece of evidence and `pieces` how many there are; `others` is how many other
    sources brought the same bytes, so that it may have come from them. Of a history edge, `later` are the
    exchanges after the target's that repeat the same.
    """

    source: Part
    target: Part
    kind: EdgeKind
    what: Span
    span: str
    pieces: int = 1
    others: int = 0
    later: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """The evidence in words; what stands in backticks came from the wire."""
        shown = self.span if len(self.span) <= SHOWN else f"{self.span[: SHOWN - 1]}…"
        if self.kind == "history":
            count = len(self.later)
            more = f" and {count} later {'one' if count == 1 else 'ones'}" if count else ""
            return f"{self.source.text} is repeated in {self.target.where}{more}"
        more = f" (and {self.pieces - 1} more)" if self.pieces > 1 else ""
        one = "1 other source" if self.others == 1 else f"{self.others} other sources"
        either = f"; {one} brought it, too" if self.others else ""
        return f"{self.what} `{shown}`{more} of {self.source.text} is in {self.target.text}{either}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "source": _part(self.source), "target": _part(self.target), "kind": self.kind, "what": self.what,
            "span": self.span[:1000], "pieces": self.pieces, "other_sources": self.others,
            "later": list(self.later),
        }  # fmt: skip


def _part(part: Part) -> dict[str, Any]:
    messages = [part.message, part.until] if part.message else None
    return {"exchange": part.exchange or None, "side": part.side, "part": part.name, "messages": messages}


@dataclass(frozen=True, slots=True)
class Node:
    """An exchange in the graph. `unread` says why its bytes could not be looked at, where that is so."""

    number: int
    label: str
    kind: str
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """The lineage of one session."""

    session: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    _after: dict[int, set[int]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the edges by exchange."""
        for edge in self.edges:
            reached = self._after.setdefault(edge.source.exchange, set())
            reached.update((edge.target.exchange, *edge.later))

    def reached(self, number: int) -> frozenset[int]:
        """The exchanges that bytes of this one reached, over any number of edges; `OUTPUT` is the agent's
        output. Neither does a missing edge prove that nothing reached it, nor an edge that it mattered."""
        found: set[int] = set()
        waiting = deque(self._after.get(number, ()))
        while waiting:
            at = waiting.popleft()
            if at not in found and at != number:
                found.add(at)
                waiting.extend(self._after.get(at, ()))
        return frozenset(found)

    def unread(self) -> Iterable[Node]:
        """The exchanges that could not be looked at."""
        return (node for node in self.nodes if node.unread is not None)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "session": self.session,
            "exchanges": [
                {"number": n.number, "label": n.label, "kind": n.kind, "unread": n.unread} for n in self.nodes
            ],
            "edges": [edge.as_json() for edge in self.edges],
        }
