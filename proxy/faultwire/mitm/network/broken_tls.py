"""TLS with a flaw, for tunnels on which a fault acts: a real certificate that nobody should take."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL

from faultwire.mitm.network import ca

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    from faultwire.faults.connection._stage import Flaw
    from faultwire.mitm.network.ca import Signer

EXPIRED_FOR = timedelta(hours=36)
"""So long ago the certificate began; it lived 24 hours at most."""
ELSEWHERE = "elsewhere.invalid"
"""The name in a certificate for another host (RFC 2606: it is nobody's)."""


def server_side(flaw: Flaw, signer: Signer, host: str, alpn: bytes | None) -> SSL.Connection:
    """Our side of a handshake with a client that asked for `host`."""
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    if flaw != "handshake":
        # Without a certificate there is none to choose, and OpenSSL ends the handshake with an alert.
        key = ca.new_key()
        context.use_privatekey(key)
        context.use_certificate(certificate(flaw, signer, key, host))
        if flaw != "untrusted":
            context.add_extra_chain_cert(signer.certificate)
    chosen = alpn or SSL.NO_OVERLAPPING_PROTOCOLS
    select: Any = lambda _, offers: chosen if chosen in offers else SSL.NO_OVERLAPPING_PROTOCOLS  # noqa: E731
    context.set_alpn_select_callback(select)
    connection = SSL.Connection(context)
    connection.set_accept_state()
    return connection


def certificate(flaw: Flaw, signer: Signer, key: EllipticCurvePrivateKey, host: str) -> x509.Certificate:
    """A server certificate that has the flaw and no other."""
    if flaw == "untrusted":
        return ca.issue(ca.stranger(), key, host)
    if flaw == "wrong_host":
        return ca.issue(signer, key, ELSEWHERE)
    return ca.issue(signer, key, host, past=EXPIRED_FOR)
