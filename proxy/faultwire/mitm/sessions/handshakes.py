"""The TLS handshakes of one session's clients that led to no call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from faultwire import wire
from faultwire.events import FailedHandshake
from faultwire.mitm.network.egress_guard import covers

if TYPE_CHECKING:
    Reason = Literal["refused", "closed"]

KEPT = 100
"""Pairs of a host and a program that are counted."""
_REFUSALS = ("unknown ca", "bad certificate", "certificate unknown", "unsupported certificate",
             "certificate expired", "certificate revoked")  # fmt: skip
"""The alerts of a client that does not take a certificate (RFC 8446 §6.2), as OpenSSL names them."""


class Handshakes:
    """What is counted of one session. A host is a name without case."""

    def __init__(self) -> None:
        self._failed: Counter[tuple[str, Reason, str | None]] = Counter()
        self._answered: set[str] = set()

    def fail(self, host: str, error: str, program: str | None = None) -> Reason:
        """A handshake ended with this error, or without one where the connection was closed after it."""
        reason: Reason = "refused" if any(alert in error for alert in _REFUSALS) else "closed"
        key = (host.lower(), reason, program)
        if key in self._failed or len(self._failed) < KEPT:
            self._failed[key] += 1
        return reason

    def name(self, host: str, reason: Reason, program: str) -> None:
        """One of those whose program was not known was of this one."""
        unknown = (host.lower(), reason, None)
        if self._failed[unknown] > 0:
            self._failed[unknown] -= 1
            self._failed[host.lower(), reason, program] += 1

    def answer(self, host: str) -> None:
        """A call came in after a handshake for this host: some client trusts us there."""
        if len(self._answered) < KEPT:
            self._answered.add(host.lower())

    @property
    def failed(self) -> tuple[FailedHandshake, ...]:
        """What failed. A connection that was only closed says nothing where calls to its host came: clients
        open connections in advance, and give up the slower of two."""
        each = sorted(self._failed.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] or ""))
        return tuple(
            FailedHandshake(host, reason, count, program)
            for (host, reason, program), count in each
            if count and (reason == "refused" or host not in self._answered)
        )


def is_model_host(host: str) -> bool:
    """Is it a host of a provider that faultwire knows?"""
    return any(covers(protocol.mocked, host) for protocol in wire.protocols().values())
