"""Faults that act when a connection is made, before there is any request.

All that is known then is where the agent wants to go: host, port and session. A tunnel (CONNECT) is
opened, refused, or opened with something wrong about its TLS.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from faultwire.events import Response
from faultwire.faults._api import Fault, Moment, Site

if TYPE_CHECKING:
    from faultwire.events import Exchange

Flaw = Literal["expired", "wrong_host", "untrusted", "handshake"]
"""What is wrong with the TLS of a tunnel: its certificate, or that there is no handshake at all."""


@dataclass(frozen=True, slots=True)
class NoTunnel:
    """The CONNECT is answered with `response`; nothing is opened. `effect` says so in words, `directly` the
    same of a client that asked no proxy, and whose connection is reset."""

    response: Response
    effect: str
    directly: str = "the connection was reset before TLS"


@dataclass(frozen=True, slots=True)
class BadTls:
    """The tunnel is opened, and its TLS has a flaw. `effect` says in words what the agent is shown."""

    flaw: Flaw
    effect: str


@dataclass(frozen=True, slots=True)
class StalledBodies:
    """The tunnel is opened, and in HTTP/2 the bodies of its requests stand still for so many `seconds` once
    their window is full. `effect` says so in words."""

    seconds: float
    effect: str


class ConnectionFault(Fault):
    """A fault that can act when a connection is made.

    Which entries are judged then is decided from their `on` alone (`faultwire.exchange.tunnel`): those that
    need no more than host and session.
    """

    site: ClassVar[Site] = "connection"
    moments: ClassVar[tuple[Moment, ...]] = ("connection", "exchange")
    """One that can act only on a connection takes a host for what it is known for, so that it may be matched
    by `kind` and `provider` as well."""

    @abstractmethod
    def connect(self, exchange: Exchange) -> NoTunnel | BadTls | StalledBodies:
        """What becomes of the tunnel that `exchange`, a CONNECT, asks for."""


def unavailable(status: int, reason: str, error: str, text: str) -> Response:
    """What a proxy answers where it cannot connect; `error` is of RFC 9209 §2.3 (`proxy-status`)."""
    body = f"{text}\n".encode()
    return Response(
        status,
        reason,
        (
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(body))),
            ("proxy-status", f"proxy; error={error}"),
            ("connection", "close"),
        ),
        body,
    )
