"""The TLS handshakes of one session's clients that led to no call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire import wire
from faultwire.events import FailedHandshake
from faultwire.mitm.network.egress_guard import covers

if TYPE_CHECKING:
    from faultwire.mitm.network.client_process import Process

    Reason = Literal["refused", "closed"]

KEPT = 100
"""Pairs of a host and a program that are counted."""
_REFUSALS = ("unknown ca", "bad certificate", "certificate unknown", "unsupported certificate",
             "certificate expired", "certificate revoked")  # fmt: skip
"""The alerts of a client that does not take a certificate (RFC 8446 §6.2), as OpenSSL names them."""


CLIENTS_KEPT = 4096
"""Clients that went on which are known, each at a host."""


class TlsClient(NamedTuple):
    """What is known of who opened a connection: its process, and what its ClientHello offers."""

    process: Process | None = None
    fingerprint: str = ""


NOBODY = TlsClient()
"""A client of which nothing is known."""


class Handshakes:
    """What is counted of one session. A host is a name without case."""

    def __init__(self) -> None:
        self._failed: Counter[tuple[str, Reason, str | None, TlsClient]] = Counter()
        self._processes: set[tuple[str, Process]] = set()
        """Those that went on, by host."""
        self._offers: set[tuple[str, str]] = set()
        """What clients offered that went on, by host."""
        self._unplaced: set[tuple[str, str]] = set()
        """The same of those whose process is not known."""

    def fail(self, host: str, error: str, client: TlsClient = NOBODY, program: str | None = None) -> Reason:
        """A handshake ended with this error, or without one where the connection was closed after it."""
        reason: Reason = "refused" if any(alert in error for alert in _REFUSALS) else "closed"
        key = (host.lower(), reason, client.process.program if client.process else program, client)
        if key in self._failed or len(self._failed) < KEPT:
            self._failed[key] += 1
        return reason

    def name(self, host: str, reason: Reason, program: str, client: TlsClient = NOBODY) -> None:
        """One of those whose program was not known was of this one."""
        unknown = (host.lower(), reason, None, client)
        if self._failed[unknown] > 0:
            self._failed[unknown] -= 1
            self._failed[host.lower(), reason, program, client] += 1

    def answer(self, host: str, client: TlsClient = NOBODY) -> None:
        """A client said something after a handshake for this host: it trusts us there."""
        known = host.lower()
        if len(self._offers) < CLIENTS_KEPT:
            self._offers.add((known, client.fingerprint))
        if client.process is not None and len(self._processes) < CLIENTS_KEPT:
            self._processes.add((known, client.process))
        elif len(self._unplaced) < CLIENTS_KEPT:
            self._unplaced.add((known, client.fingerprint))

    @property
    def failed(self) -> tuple[FailedHandshake, ...]:
        """What failed. A connection that was only closed says nothing where its client went on in another:
        clients open connections in advance, and give up the slower of two."""
        counted: Counter[tuple[str, Reason, str | None]] = Counter()
        for (host, reason, program, client), count in self._failed.items():
            if count and (reason == "refused" or not self._went_on(host, client)):
                counted[host, reason, program] += count
        each = sorted(counted.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] or ""))
        return tuple(FailedHandshake(host, reason, count, program) for (host, reason, program), count in each)

    def _went_on(self, host: str, client: TlsClient) -> bool:
        """May it be a client that went on in another connection? The same process, where both are known;
        otherwise one that offered the same."""
        if client.process is None:
            return (host, client.fingerprint) in self._offers
        return (host, client.process) in self._processes or (host, client.fingerprint) in self._unplaced


def is_model_host(host: str) -> bool:
    """Is it a host of a provider that faultwire knows?"""
    return any(covers(protocol.mocked, host) for protocol in wire.protocols().values())
