"""Certificates for the names that agents ask for, from our own signer instead of mitmproxy's."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography import x509
from mitmproxy import certs, ctx
from mitmproxy.addons.tlsconfig import TlsConfig

from faultwire.clock import utc_now
from faultwire.mitm.network import ca

if TYPE_CHECKING:
    from datetime import datetime

    from mitmproxy.proxy.context import Context
    from mitmproxy.tls import TlsData

    from faultwire.mitm.network.client_certificates import ClientCertificates

KEPT = 256
"""Hosts whose certificates are kept."""

_RENEW_BEFORE = timedelta(hours=12)


class LeafCertificates(TlsConfig):
    """mitmproxy's TLS settings, with short-lived leaves that have a key of their own."""

    name = "tlsconfig"
    request = None  # mitmproxy 12 would answer requests for revocation lists on every host

    def __init__(self, clients: ClientCertificates | None = None) -> None:
        """`clients` is what we show to servers that ask who calls."""
        super().__init__()
        self.clients = clients

    def configure(self, updated: set[str]) -> None:
        """Called by mitmproxy when options change; a new folder means a new CA."""
        super().configure(updated)  # type: ignore[no-untyped-call]
        if "confdir" in updated:
            self.authority: ca.Signer = ca.load_signer(Path(ctx.options.confdir))
            self._key = ca.new_key()
            self._chain = [certs.Cert(self.authority.certificate)]
            # What clients lack between a leaf and their root; a root that signs leaves itself they have.
            self._chain_file = ca.signing_file(Path(ctx.options.confdir)) if self.authority.hosts else None
            self._issued: dict[str, tuple[certs.CertStoreEntry, datetime]] = {}

    def tls_start_server(self, tls_start: TlsData) -> None:
        """A connection to a server begins TLS: with our certificate, where one is meant for this host."""
        super().tls_start_server(tls_start)  # type: ignore[no-untyped-call, unused-ignore]
        server: Any = tls_start.conn
        host = server.sni or (server.address[0] if server.address else "")
        found = self.clients.find(host) if self.clients is not None else None
        if found is not None and tls_start.ssl_conn is not None:
            # Takes over the certificate; whom the connection trusts, and for which name, stays its own.
            tls_start.ssl_conn.set_context(found.context)

    def get_cert(self, conn_context: Context) -> certs.CertStoreEntry:
        """The certificate for the name that the client asked for, made when it is not at hand."""
        client, server = conn_context.client, conn_context.server
        host = client.sni or (server.address[0] if server.address else client.sockname[0])
        found = self._issued.get(host)
        if found is not None and found[1] > utc_now():
            return found[0]
        leaf = ca.issue(self.authority, self._key, host)
        entry = certs.CertStoreEntry(
            cert=certs.Cert(leaf),
            privatekey=self._key,  # type: ignore[arg-type]  # annotated for RSA, takes any key
            chain_file=self._chain_file,
            chain_certs=self._chain,
        )
        while len(self._issued) >= KEPT:
            self._issued.pop(next(iter(self._issued)))
        self._issued[host] = (entry, leaf.not_valid_after_utc - _RENEW_BEFORE)
        return entry


def signer() -> ca.Signer:
    """Who signs the certificates that clients are shown: our own authority, or a stock mitmdump's."""
    tls: Any = ctx.master.addons.get("tlsconfig")
    if isinstance(tls, LeafCertificates):
        return tls.authority
    store = tls.certstore
    return ca.Signer(store.default_privatekey, x509.load_pem_x509_certificate(store.default_ca.to_pem()))
