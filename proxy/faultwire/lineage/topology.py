"""Who called whom: the graph of a recorded system, learned from its requests.

A receiver is known from the request itself: an agent by the profile, by its card or by its address, an MCP
server by the name that it gave or by its address, a tool and a model by theirs. A sender is known only by a
declared mark (`wire.senders`); every other one is *unknown*, and its requests count as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from faultwire import wire
from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.a2a import card as a2a_card
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.framing import content_coding
from faultwire.wire.mcp.jsonrpc import messages
from faultwire.wire.recognition.peers import Peers
from faultwire.wire.senders import marks_of, sender

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from faultwire.events import Delivery, Recorded, Request
    from faultwire.wire.classify import Site
    from faultwire.wire.senders import Declared, Mark

    class Agent(Site, Declared, Protocol):
        """An agent of a profile."""


UNKNOWN = "(unknown)"
"""The word for a sender that nothing tells. An agent that is called so is still another place."""
Kind = Literal["agent", "mcp", "tool", "model", "unknown"]
Transport = Literal["a2a", "mcp", "http"]
NUMBERS = 20
"""Exchanges of an edge that are named."""
_METHODS = (
    "/.well-known/",
    "/v1/message",
    "/message:",
    "/v1/tasks",
    "/tasks",
    "/v1/card",
    "/extendedAgentCard",
)
"""Behind these an agent's address goes on with what is asked of it."""
CARD = 1 << 20
"""Bytes of a card, or of a handshake, that are read."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One end of an edge. Two things of one name and different kinds are two places."""

    kind: Kind
    name: str

    @property
    def text(self) -> str:
        """For example `writer`, `search (tool)` or `(unknown)`."""
        return self.name if self.kind in ("agent", "unknown") else f"{self.name} ({self.kind})"


NOBODY = Place("unknown", UNKNOWN)


@dataclass(slots=True)
class Edge:
    """All requests from one place to another over one transport. `failed` of the `calls` got no answer, or
    one of 4xx or 5xx; `other` are cards, handshakes and lists, which ask nothing to be done."""

    sender: Place
    receiver: Place
    transport: Transport
    calls: int = 0
    failed: int = 0
    other: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    why: dict[str, int] = field(default_factory=dict)
    """Why senders are unknown, with how many requests."""
    exchanges: list[tuple[str, int]] = field(default_factory=list)
    """The first of its requests: session and number."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The graph, and edges that a profile names and that no request took."""

    edges: tuple[Edge, ...]
    unseen: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    """Exchanges of other kinds: telemetry, lists of models, tokens."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Every end of an edge, once."""
        return tuple(sorted({place for edge in self.edges for place in (edge.sender, edge.receiver)}))

    @property
    def unknown(self) -> int:
        """Requests whose sender nothing tells."""
        return sum(edge.calls + edge.other for edge in self.edges if edge.sender == NOBODY)

    @property
    def connects(self) -> bool:
        """Does any agent, known by its mark or called by another, stand in it?"""
        return any(place.kind == "agent" for place in self.places)

    def as_json(self) -> dict[str, Any]:
        """For programs; the name of an unknown sender is null."""
        return {
            "places": [_place(one) for one in self.places],
            "edges": [_edge(one) for one in self.edges],
            "unseen": [{"sender": a, "receiver": b} for a, b in self.unseen],
            "unknown_senders": self.unknown,
            "left_out": self.left_out,
        }


def learn(
    exchanges: Iterable[Recorded],
    agents: Mapping[str, Agent],
    expected: Iterable[tuple[str, str]] = (),
) -> Topology:
    """The topology of exchanges in their order, of any number of sessions.

    `agents` are those of a profile, `expected` the edges that it names, without globs.
    """
    readers: dict[str, _Session] = {}
    edges: dict[tuple[Place, Place, Transport], Edge] = {}
    marks, left_out = marks_of(agents), 0
    for recorded in exchanges:
        session = readers.setdefault(recorded.session, _Session(agents))
        found = session.receiver(recorded)
        if found is None:
            left_out += 1
            continue
        _count(edges, recorded, *found, marks)
    made = tuple(sorted(edges.values(), key=lambda one: (one.sender, one.receiver, one.transport)))
    seen = {(one.sender.name, one.receiver.name) for one in made if one.sender != NOBODY}
    return Topology(made, tuple(pair for pair in dict.fromkeys(expected) if pair not in seen), left_out)


def _count(
    edges: dict[tuple[Place, Place, Transport], Edge],
    recorded: Recorded,
    receiver: Place,
    transport: Transport,
    asks: bool,
    marks: tuple[Mark, ...],
) -> None:
    who = sender(marks, recorded)
    source = NOBODY if who.name is None else Place("agent", who.name)
    edge = edges.setdefault((source, receiver, transport), Edge(source, receiver, transport))
    edge.calls += asks
    edge.other += not asks
    edge.failed += asks and not _answered(recorded.delivered)
    if who.name is None:
        edge.why[who.why] = edge.why.get(who.why, 0) + 1
    for line in recorded.faults:
        if line.outcome == "fired":
            edge.faults[line.id] = edge.faults.get(line.id, 0) + 1
    if len(edge.exchanges) < NUMBERS:
        edge.exchanges.append((recorded.session, recorded.number))


class _Session:
    """What the exchanges of one session have told so far of who is where."""

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self._agents = agents
        self._peers = Peers()
        self._servers: dict[str, str] = {}
        """The names that servers gave at their handshakes, by address; the first one at another has it."""

    def receiver(self, recorded: Recorded) -> tuple[Place, Transport, bool] | None:
        """Who is asked, by what, and whether to do something; None for what is no call of anybody."""
        request = recorded.request
        found = wire.classify(request, {}, self._agents, self._peers)
        if found.kind == "agent" or recorded.kind == "agent":
            card = is_card(request)
            read = self._read_card(recorded.delivered) if card else None
            a2a = found.protocol is not None and found.protocol.name in ("a2a", "a2a_http")
            named = found.agent if found.agent != request.host else None
            name = named or read or _address(request)
            return Place("agent", name), "a2a" if a2a else "http", not card
        if recorded.protocol == "mcp":
            return self._server(recorded), "mcp", recorded.kind == "tool"
        if recorded.kind == "tool":
            return Place("tool", recorded.tool or request.host), "http", True
        if recorded.kind == "llm":
            return Place("model", recorded.provider or request.host), "http", True
        return None

    def _read_card(self, delivered: Delivery | None) -> str | None:
        """The name on a card, from now on that of the addresses on it."""
        body = _body(delivered)
        if body is None:
            return None
        try:
            card = a2a_card.read(body)
        except WireError:
            return None
        self._peers.add(card.name, card.urls)
        return card.name or None

    def _server(self, recorded: Recorded) -> Place:
        request = recorded.request
        where = f"{request.host}:{request.port}{request.path.partition('?')[0]}"
        if where not in self._servers:
            body = _body(recorded.delivered)
            named = _server_name(body) if body is not None else ""
            if not named:
                return Place("mcp", where)
            self._servers[where] = f"{named} at {where}" if named in self._servers.values() else named
        return Place("mcp", self._servers[where])


def _address(request: Request) -> str:
    """Where an agent is reached that neither a profile nor a card names: several may share a host."""
    path = request.path.partition("?")[0]
    cut = min((path.find(one) for one in _METHODS if one in path), default=len(path))
    return f"{request.host}:{request.port}{path[:cut].rstrip('/')}"


def _server_name(body: bytes) -> str:
    """What a server calls itself in the answer to a handshake, as JSON or as events; empty without one."""
    pieces = [line[5:] for line in body.splitlines() if line.startswith(b"data:")] or [body]
    for piece in pieces:
        try:
            found = messages(piece)
        except WireError:
            continue
        for message in found:
            name = json_bytes.member(message.result, "serverInfo", "name")
            if isinstance(name, str) and name:
                return name
    return ""


def _body(delivered: Delivery | None) -> bytes | None:
    """The body of a good answer, unpacked; None where there is none of a size to be read."""
    if delivered is None or delivered.status >= 300 or len(delivered.body) > CARD:
        return None
    try:
        return content_coding.at_once(delivered.body, delivered.headers)[0]
    except WireError:
        return None


def _answered(delivered: Delivery | None) -> bool:
    return delivered is not None and delivered.status < 400


def _place(place: Place) -> dict[str, Any]:
    return {"kind": place.kind, "name": None if place == NOBODY else place.name}


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "sender": _place(edge.sender), "receiver": _place(edge.receiver), "transport": edge.transport,
        "calls": edge.calls, "failed": edge.failed, "other": edge.other, "faults": edge.faults,
        "why_unknown": edge.why,
        "exchanges": [{"session": session, "number": number} for session, number in edge.exchanges],
    }  # fmt: skip
