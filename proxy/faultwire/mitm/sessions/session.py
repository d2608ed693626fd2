"""One session: what its exchanges share, and what is counted of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultwire.events import past
from faultwire.exchange.tunnel import divide
from faultwire.mitm.sessions.handshakes import Handshakes, is_model_host
from faultwire.mitm.sessions.namespace_traffic import NamespaceTraffic
from faultwire.tape.format.bypassed import KEPT

if TYPE_CHECKING:
    from faultwire.events import Bypass, Exchange, FaultFired
    from faultwire.exchange.pipeline import SessionContext
    from faultwire.exchange.tunnel import TunnelProfiles

ROUTES_KEPT = 20
"""Routes that there are not whose calls are counted."""
VOIDS_KEPT = 20
"""Reasons that are kept word for word; more of them are only counted."""


@dataclass
class Session:
    """One session: what its exchanges share, how its traffic is recognised, and its counters."""

    context: SessionContext
    user: str
    token: str
    agent: str = ""
    path: str = ""
    """How paths of its calls in base-URL mode begin: with the token, and the name if clients gave it."""
    port: int = 0
    live: int = 0
    closing: bool = False
    exchanges: int = 0
    voided: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    voids: list[str] = field(default_factory=list)
    malformed: int = 0
    h2c: int = 0
    """Connections in which HTTP/2 was spoken without TLS."""
    requests_written: int = 0
    """Requests in the bytes that were written to servers for it."""
    requests_recorded: int = 0
    """Exchanges that ended, of those for which a request was written."""
    incomplete: str | None = None
    """Why part of its traffic is not on the tape, where it was let pass all the same."""
    bypassed: tuple[Bypass, ...] = ()
    """Where its agent's processes were seen connected past the proxy, and how many addresses more."""
    bypassed_more: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    """Calls in base-URL mode to routes that were not declared, by the route's name."""

    beyond: Counter[str] = field(default_factory=Counter)
    """Tunnels to hosts that the project's authority cannot vouch for, by host."""
    handshakes: Handshakes = field(default_factory=Handshakes)
    namespace: NamespaceTraffic = field(default_factory=NamespaceTraffic)
    """What its processes did in a network namespace of their own, where they have one."""

    def __post_init__(self) -> None:
        self.path = self.path or self.token
        self.stages: TunnelProfiles = divide(self.context.profile)
        self.inside: SessionContext = self.context
        if not self.stages.idle:
            self.inside = replace(self.context, profile=self.stages.inside)

    @property
    def name(self) -> str:
        """Its name, as in tapes and reports."""
        return self.context.name

    def void(self, reason: str) -> None:
        """Note why what happens here proves nothing."""
        self.voided += 1
        if len(self.voids) < VOIDS_KEPT and reason not in self.voids:
            self.voids.append(reason)

    def lose(self, route: str) -> None:
        """Note a call in base-URL mode to a route that there is not."""
        if route in self.lost or len(self.lost) < ROUTES_KEPT:
            self.lost[route[:64]] += 1

    def lose_unread(self, *, h2c: bool = False) -> None:
        """Note a request that nobody could read, or HTTP/2 without TLS."""
        self.h2c += h2c
        self.malformed += not h2c

    def uncovered(self, host: str) -> None:
        """Note a tunnel to a host that the project's authority cannot vouch for."""
        if host in self.beyond or len(self.beyond) < ROUTES_KEPT:
            self.beyond[host[:256]] += 1

    def see(self, bypassed: tuple[Bypass, ...], more: int) -> None:
        """Note where its agent's processes were seen connected past the proxy."""
        self.bypassed, self.bypassed_more = bypassed[:KEPT], len(bypassed[KEPT:]) + more

    def seen(self) -> dict[str, Any]:
        """What the end of the session on the tape says of its clients."""
        failed = self.handshakes.failed
        return {"bypassed": self.bypassed, "more": self.bypassed_more, "handshakes": failed}

    def judge_handshakes(self) -> None:
        """What a client says to a model is what the session is about: unseen, it proves nothing."""
        for one in self.handshakes.failed:
            if is_model_host(one.host):
                self.void(one.text)

    @property
    def notes(self) -> list[str]:
        """What did not become an exchange, in words."""
        notes = [
            f"{number_of_calls(count)} went to the route `{name}`, which is not declared (404)"
            for name, count in sorted(self.lost.items())
        ]
        notes += [
            f"{number_of_calls(count)} to `{host}` went nowhere (403): the project's certificate authority "
            "is limited to other hosts (`faultwire ca show`)"
            for host, count in sorted(self.beyond.items())
        ]
        if self.bypassed or self.bypassed_more:
            notes.append(past(self.bypassed, self.bypassed_more))
        notes += [one.text for one in self.handshakes.failed]
        notes += self.namespace.notes
        if self.incomplete:
            notes.append(self.incomplete)
        if self.malformed:
            notes.append(
                f"{number_of_calls(self.malformed)} had a malformed or oversized head and went nowhere"
            )
        if self.h2c:
            times = "1 connection" if self.h2c == 1 else f"{self.h2c} connections"
            notes.append(f"{times} spoke HTTP/2 without TLS (h2c), which is not served: use HTTP/1.1, or TLS")
        return notes

    def count(self, exchange: Exchange, faults: tuple[FaultFired, ...]) -> None:
        """Count an exchange that is over."""
        self.exchanges += 1
        self.by_kind[exchange.kind] += 1
        for fault in faults:
            if fault.outcome == "fired":
                self.fired[fault.id] += 1

    def summary(self, acknowledged: int) -> dict[str, Any]:
        """What the other side is told when the session closes."""
        return {
            "name": self.name,
            "acknowledged": acknowledged,
            "exchanges": self.exchanges,
            "by_kind": dict(self.by_kind),
            "fired": dict(self.fired),
            "voids": list(self.voids),
            "notes": self.notes,
            "incomplete": self.incomplete,
            "bypassed": [asdict(one) for one in self.bypassed],
            "bypassed_more": self.bypassed_more,
            "handshakes": [asdict(one) for one in self.handshakes.failed],
        }


def number_of_calls(count: int) -> str:
    """`1 call`, `2 calls`."""
    return "1 call" if count == 1 else f"{count} calls"
