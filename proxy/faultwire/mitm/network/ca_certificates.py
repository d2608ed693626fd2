"""The certificates of an authority: its root, and where its hosts are known an intermediate limited to them.

The limit (RFC 5280 §4.2.1.10) is on the root, and on an intermediate that the root signs before its key is
thrown away: some clients read no constraints on a root that they trust (Java), and what is left on the disk
can then sign for those hosts alone.
"""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from faultwire.clock import utc_now
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_DAYS = 30
BACKDATE = timedelta(hours=24)
"""Clocks differ; with this the whole life of a leaf is 48 hours."""

_COMMON_NAME = "faultwire project CA"


def root(
    key: EllipticCurvePrivateKey, days: int, back: timedelta | None = None, hosts: Sequence[str] = ()
) -> x509.Certificate:
    """A self-signed root. With `back` it is valid that long ago, too; with `hosts` for these alone."""
    begins = utc_now() - BACKDATE
    if back is not None:
        begins -= max(back, timedelta()) + timedelta(days=MAX_DAYS)
    # The serial in the name keeps two CAs of one project apart in a store that compares by name.
    serial = x509.random_serial_number()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, _COMMON_NAME),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, f"faultwire {serial & 0xFFFFFFFF:08x}"),
        ]
    )
    builder = (
        _authority(name, key, 1 if hosts else 0, hosts)
        .issuer_name(name)
        .serial_number(serial)
        .not_valid_before(begins)
        .not_valid_after(utc_now() + timedelta(days=days))
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
    )
    return builder.sign(key, hashes.SHA256())


def intermediate(
    issuer: x509.Certificate,
    issuer_key: EllipticCurvePrivateKey,
    key: EllipticCurvePrivateKey,
    hosts: Sequence[str],
) -> x509.Certificate:
    """An authority below a root, for these hosts alone, that lives as long as the root."""
    organization = issuer.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    limited = x509.NameAttribute(NameOID.COMMON_NAME, f"{_COMMON_NAME}, limited")
    builder = (
        _authority(x509.Name([limited, *organization]), key, 0, hosts)
        .issuer_name(issuer.subject)
        .serial_number(x509.random_serial_number())
        .not_valid_before(issuer.not_valid_before_utc)
        .not_valid_after(issuer.not_valid_after_utc)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
    )
    return builder.sign(issuer_key, hashes.SHA256())


def _authority(
    name: x509.Name, key: EllipticCurvePrivateKey, below: int, hosts: Sequence[str]
) -> x509.CertificateBuilder:
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=below), critical=True)
        .add_extension(usage(key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return builder.add_extension(constraints(hosts), critical=True) if hosts else builder


def usage(
    *, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False
) -> x509.KeyUsage:
    """What a key may be used for."""
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


# ---------------------------------------------------------------- limits


def constraints(hosts: Sequence[str]) -> x509.NameConstraints:
    """Names that stand for themselves and what is below them, and addresses; at least one name.

    Without an address no address is permitted: names alone say nothing of them. Raises UsageError.
    """
    names, networks = [], []
    for host in hosts:
        try:
            networks.append(ipaddress.ip_network(host.strip("[]")))
        except ValueError:
            names.append(_name(host))
    if not names:
        raise UsageError("found no host name, expected one at least besides addresses", code="ca.hosts")
    permitted: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
    permitted += [x509.IPAddress(network) for network in networks]
    every: list[Network] = [ipaddress.IPv4Network("0.0.0.0/0"), ipaddress.IPv6Network("::/0")]
    given = {network.version for network in networks}
    return x509.NameConstraints(
        permitted, [x509.IPAddress(n) for n in every if n.version not in given] or None
    )


def limits(certificate: x509.Certificate) -> tuple[str, ...]:
    """The hosts that an authority is limited to; empty for all."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(
        str(one.value)
        for one in found.permitted_subtrees or ()
        if isinstance(one, x509.DNSName | x509.IPAddress)
    )


def within(hosts: Sequence[str], host: str) -> bool:
    """Is a host one of those that an authority is limited to?"""
    if not hosts:
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        name = f".{_ascii(host)}"
        return any(name.endswith(f".{one}") for one in hosts)
    return any(address in network for network in map(_network, hosts) if network is not None)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None


def _name(host: str) -> str:
    name = _ascii(host.removeprefix("*."))
    if not name or "*" in name or "/" in name or ":" in name:
        raise UsageError(
            f"found the host `{host}`, expected a name, `*.` and a name, or an address", code="ca.hosts"
        )
    return name


def _ascii(host: str) -> str:
    try:
        return host.lower().rstrip(".").encode("idna").decode()
    except UnicodeError:
        return ""
