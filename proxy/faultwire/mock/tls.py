"""HTTPS for the mock: a certificate authority of its own, made at start and gone at the end.

The authority's key never leaves memory; on disk are, while the server runs, its certificate and the
server's own key (0600, in a folder 0700).
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from faultwire.clock import utc_now
from faultwire.mock.hosts import names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

LIFE = timedelta(days=1)
BACKDATE = timedelta(hours=1)
"""Clocks differ."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a TLS server needs; `ca` is the PEM file that clients must trust."""

    context: ssl.SSLContext
    ca: Path


@contextmanager
def identity(hosts: tuple[str, ...] | None = None) -> Iterator[Identity]:
    """A fresh authority and a certificate for this machine and for `hosts`, by default those that the mock
    stands in for; its files go at the end."""
    with tempfile.TemporaryDirectory(prefix="faultwire-mock-") as folder:
        now = utc_now()
        ca_key = ec.generate_private_key(ec.SECP256R1())
        key = ec.generate_private_key(ec.SECP256R1())
        ca = _authority(ca_key, now)
        leaf = _leaf(ca, ca_key, key, names() if hosts is None else hosts, now)
        ca_file, chain = Path(folder, "ca.pem"), Path(folder, "server.pem")
        ca_file.write_bytes(_pem(ca))
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        with open(os.open(chain, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret + _pem(leaf))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1", "h2"])  # HTTP/2 for those who speak nothing else
        context.load_cert_chain(chain)
        context.num_tickets = 0  # on loopback they come while clients write, which some do not survive
        yield Identity(context, ca_file)


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "faultwire mock CA")])
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key.public_key(), now)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    return builder.sign(key, hashes.SHA256())


def _leaf(
    ca: x509.Certificate,
    ca_key: ec.EllipticCurvePrivateKey,
    key: ec.EllipticCurvePrivateKey,
    hosts: tuple[str, ...],
    now: datetime,
) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "faultwire mock")])
    addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "::1")]
    names: list[x509.GeneralName] = [x509.DNSName(host) for host in ("localhost", *hosts)]
    builder = _builder(name, ca.subject, key.public_key(), now)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
    server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = builder.add_extension(server, critical=False)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = builder.add_extension(issuer, critical=False)
    return builder.sign(ca_key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATE)
        .not_valid_after(now + LIFE)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
