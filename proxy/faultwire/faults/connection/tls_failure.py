"""`tls_failure`: the server cannot be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults.connection._stage import BadTls, ConnectionFault, Flaw

if TYPE_CHECKING:
    from faultwire.events import Exchange
    from faultwire.faults._api import Moment

_EFFECTS: dict[Flaw, str] = {
    "expired": "showed a certificate that expired",
    "wrong_host": "showed a certificate for another host",
    "untrusted": "showed a certificate of an unknown authority",
    "handshake": "ended the TLS handshake with an alert",
}


class TlsFailure(ConnectionFault):
    """Break the TLS handshake with the agent.

    What it does:
        Opens the tunnel and then shows a real certificate that is `expired`, made for another host
        (`wrong_host`), or signed by an authority that nobody knows (`untrusted`); or it ends the
        `handshake` with an alert. The agent's own TLS library finds the flaw. A client that takes the
        certificate all the same goes on unbroken, and the ledger says that it took it. It acts when a
        connection is made: match it with `host`, `provider` or `kind`, where a host counts as what it
        is known for. Calls are counted by connection; plain HTTP has no TLS to break.

    Why agents break:
        The error is no status and repeats for ever, so it is retried for ever, or somebody turns
        verification off and leaves it off: then an agent hands its key to whoever answers.

    Real-world source:
        Certificates that were not renewed in time, gateways that show the wrong one after a change,
        company proxies whose authority is missing in a container. SDKs report a connection error with
        the TLS library's own as its cause (`CERTIFICATE_VERIFY_FAILED`, `CERT_HAS_EXPIRED`).

    Example:
        faults:
          - tls_failure: {reason: expired}
            on: {host: api.openai.com}
    """

    name: ClassVar[str] = "tls_failure"
    moments: ClassVar[tuple[Moment, ...]] = ("connection",)

    reason: Annotated[Flaw, Field(description="what is wrong")] = "expired"

    def connect(self, exchange: Exchange) -> BadTls:
        """Open the tunnel and break its TLS."""
        return BadTls(self.reason, _EFFECTS[self.reason])

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where a tunnel is asked for: other requests come without a handshake of their own."""
        if exchange.request.method != "CONNECT":
            return "the agent speaks plain HTTP to the proxy here: there is no TLS to break"
        return super().inapplicable(exchange)
