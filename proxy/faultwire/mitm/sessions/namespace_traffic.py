"""What a session's processes did in their network namespace besides what became an exchange. Counters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from faultwire.mitm.network.egress_guard import is_local

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Bypass
    from faultwire.mitm.network.refused_packets import RefusedPacket

KEPT = 20
"""Places that are counted one by one; of others only how many connections there were."""
TAKEN = 10_000
"""Places of connections that came by a tunnel, or an interface."""
QUIC = 443

Place = tuple[str, int]
"""A host, by name where it is known, and a port."""


class NamespaceTraffic:
    """Counted by place, and told in words."""

    def __init__(self) -> None:
        self.refused: Counter[tuple[str, str, int]] = Counter()
        """Transport, host and port at which nobody listens."""
        self.foreign: Counter[Place] = Counter()
        """Connections in which neither HTTP nor TLS was spoken."""
        self.silent: Counter[Place] = Counter()
        """Connections in which their client never said anything."""
        self.relayed: Counter[Place] = Counter()
        """Connections that a rule of the user's passes on unread."""
        self.unreached: dict[Place, str] = {}
        """Why such a connection came to nothing."""
        self.packets = ""
        """What it came through, where that is no namespace of ours but a tunnel or an interface."""
        self.arrived: Counter[str] = Counter()
        """Connections that came through it, by the address of their client."""
        self._taken: set[tuple[str, str, int]] = set()
        self.unreset = 0
        """Of these, those that we reset, of which their client saw no more than an end."""
        self.others = 0
        self.lost = 0
        """Packets that the kernel had no room for."""

    def refuse(self, packet: RefusedPacket, host: str) -> None:
        """A packet says that something was refused."""
        self._count(self.refused, (packet.transport, host, packet.port))

    def arrive(self, client: str) -> None:
        """A connection came by a tunnel, or an interface."""
        name = f"`{client}`"
        known = name in self.arrived or len(self.arrived) < KEPT
        self.arrived[name if known else "other clients"] += 1

    def take(self, transport: str, address: str, port: int) -> None:
        """What goes to this address comes by the tunnel, or the interface."""
        if len(self._taken) < TAKEN:
            self._taken.add((transport, address, port))

    def not_taken(self, seen: Iterable[Bypass]) -> list[Bypass]:
        """Those peers of processes to which nothing came by a tunnel, or an interface."""
        return [one for one in seen if (one.transport, one.address, one.port) not in self._taken]

    def end_unreset(self) -> None:
        """Such a connection was reset by us, and ended for its client."""
        self.unreset += 1

    def reset(self, place: Place) -> None:
        """A connection was reset for what was spoken in it."""
        self._count(self.foreign, place)

    def say_nothing(self, place: Place) -> None:
        """A connection ended, by us or by its client, before its client had said anything."""
        self._count(self.silent, place)

    def relay(self, place: Place) -> None:
        """A connection is passed on unread."""
        self._count(self.relayed, place)

    def fail(self, place: Place, why: str) -> None:
        """A connection that was to be passed on went nowhere."""
        if len(self.unreached) < KEPT:
            self.unreached[place] = why

    def _packet_notes(self) -> Iterator[str]:
        for client, count in sorted(self.arrived.items()):
            yield f"{_connections(count)} of {client} came through {self.packets}"
        if not self.arrived:
            yield f"no connection came through {self.packets}"
        if self.unreset:
            yield (
                f"{_connections(self.unreset)} that we reset only ended for the client: "
                f"no reset passes through {self.packets}"
            )

    def _count(self, counter: Counter[Any], key: Any) -> None:
        if key in counter or len(counter) < KEPT:
            counter[key] += 1
        else:
            self.others += 1

    @property
    def notes(self) -> Iterator[str]:
        """Each in one line, with what would change it."""
        if self.packets:
            yield from self._packet_notes()
        for (transport, host, port), count in sorted(self.refused.items()):
            yield _dropped(host, port) if self.packets else _refused(transport, host, port, count)
        for (host, port), count in sorted(self.foreign.items()):
            place = _place(host, port)
            yield (
                f"{_connections(count)} to `{place}` spoke neither HTTP nor TLS and {_were(count)} reset; "
                f"`--relay {place}` passes them on, unrecorded"
            )
        for (host, port), count in sorted(self.silent.items()):
            place = _place(host, port)
            yield (
                f"{_connections(count)} to `{place}` said nothing and came to nothing; where the server "
                f"speaks first, `--relay {place}` passes them on, unrecorded"
            )
        for (host, port), count in sorted(self.relayed.items()):
            yield f"{_connections(count)} to `{_place(host, port)}` {_were(count)} relayed, and not recorded"
        for (host, port), why in sorted(self.unreached.items()):
            yield f"`{_place(host, port)}` could not be relayed: {why}"
        if self.others:
            yield f"{_connections(self.others)} to other places became no exchange"
        if self.lost:
            yield f"{self.lost} refusals more were not read in time"


def _refused(transport: str, host: str, port: int, count: int) -> str:
    if transport == "udp":
        packets = "1 packet" if count == 1 else f"{count} packets"
        sent = f"{packets} by UDP to `{_place(host, port)}` {_were(count)} refused"
        if port == QUIC:
            return f"{sent}: HTTP/3 is not captured, and a client has to use HTTP/2 or HTTP/1.1"
        return f"{sent}: UDP is not captured; use TCP, or `--capture env`, which leaves UDP alone"
    refused = f"{_connections(count)} to `{_place(host, port)}` {_were(count)} refused"
    if is_local(host):
        return (
            f"{refused}: nothing listens there in the command's own network; "
            f"`--allow-host {_place(host, port)}` leads to this machine's service"
        )
    return (
        f"{refused}: port {port} is not captured; `--capture-port {port}` captures HTTP and TLS there, "
        f"`--relay {_place(host, port)}` passes on anything else, unrecorded"
    )


def _dropped(host: str, port: int) -> str:
    why = "UDP is not captured"
    if port == QUIC:
        why = "HTTP/3 is not captured, and a client has to use HTTP/2 or HTTP/1.1"
    return f"packets by UDP to `{_place(host, port)}` were dropped: {why}"


def _connections(count: int) -> str:
    return "1 connection" if count == 1 else f"{count} connections"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
