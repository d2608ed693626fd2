"""The certificate authority of one project: made here, trusted only by the programs we start.

An ECDSA P-256 root that lives at most 30 days, kept in its own 0700 folder in the file layout that
mitmproxy reads, and leaves of at most 48 hours with a key of their own. It never enters a system
trust store. No mitmproxy is imported here, so that commands can use it cheaply.
"""

from __future__ import annotations

import fcntl
import ipaddress
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from faultwire.clock import utc_now
from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.network.ca_certificates import (
    BACKDATE,
    MAX_DAYS,
    constraints,
    intermediate,
    limits,
    root,
    usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

DEFAULT_DAYS = 14
LEAF_LIFE = timedelta(hours=24)

_KEY_FILE = "mitmproxy-ca.pem"
_CERT_FILE = "mitmproxy-ca-cert.pem"


@dataclass(frozen=True)
class Authority:
    """A CA on disk. `certificate` is its public PEM file, `fingerprint` lower-case SHA-256 hex."""

    directory: Path
    certificate: Path
    fingerprint: str
    not_before: datetime
    not_after: datetime
    hosts: tuple[str, ...] = ()
    """The hosts that it is limited to; empty for all."""

    @property
    def expired(self) -> bool:
        """Is it past its life?"""
        return utc_now() >= self.not_after


@dataclass(frozen=True)
class Signer:
    """The key that signs leaves, the certificate that they chain to, and the hosts that it is limited to."""

    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
    certificate: x509.Certificate
    hosts: tuple[str, ...] = ()


def ensure(ca_dir: Path, *, days: int = DEFAULT_DAYS, covers: datetime | None = None) -> Authority:
    """The project's CA, made if there is none; with `covers` one that is valid at that instant, too, for
    clients whose clock stands still there.

    Raises:
        UsageError: `ca.expired`, naming the command that renews it; `ca.unsafe` where others may
            read the key or write to the folder; `ca.damaged` where the files are not a CA of ours.
    """
    with _locked(ca_dir):
        found = describe(ca_dir)
        if covers is not None and (found is None or found.expired or found.not_before > covers - BACKDATE):
            _delete(ca_dir)
            return _write(ca_dir, days, utc_now() - covers)
        if found is None:
            return _write(ca_dir, days)
    if found.expired:
        raise UsageError(
            f"the CA in `{ca_dir}` expired on `{found.not_after:%Y-%m-%d %H:%M} UTC`",
            code="ca.expired",
            hint="run `faultwire ca renew`, then start the agent again so that it trusts the new one",
        )
    _check_private(ca_dir)
    return found


def renew(ca_dir: Path, *, days: int = DEFAULT_DAYS, hosts: Sequence[str] = ()) -> Authority:
    """Replace the CA by a new one; programs that trust the old one must be started again. With `hosts` what
    is kept of it can sign for these and what is below them, and for nothing else. Raises UsageError."""
    if hosts:
        constraints(hosts)  # refused before anything is deleted
    with _locked(ca_dir):
        _delete(ca_dir)
        return _write(ca_dir, days, hosts=hosts)


def remove(ca_dir: Path) -> bool:
    """Delete the CA with its key; True if there was one."""
    if not ca_dir.is_dir():
        return False
    with _locked(ca_dir):
        return _delete(ca_dir)


def describe(ca_dir: Path) -> Authority | None:
    """What CA is there, expired or not; None if there is none."""
    path = ca_dir / _CERT_FILE
    if not path.exists() or not (ca_dir / _KEY_FILE).exists():
        return None
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except (ValueError, OSError) as error:
        raise _damaged(ca_dir) from error
    return Authority(
        directory=ca_dir,
        certificate=path,
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        hosts=limits(certificate),
    )


def load_signer(ca_dir: Path) -> Signer:
    """The key and certificate that leaves are signed with. Raises UsageError `ca.damaged`."""
    try:
        raw = (ca_dir / _KEY_FILE).read_bytes()
        key = serialization.load_pem_private_key(raw, None)
        certificate = x509.load_pem_x509_certificate(raw)
    except (ValueError, TypeError, OSError) as error:
        raise _damaged(ca_dir) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise _damaged(ca_dir)
    return Signer(key, certificate, limits(certificate))


def signing_file(ca_dir: Path) -> Path:
    """The file with the certificate that leaves chain to."""
    return ca_dir / _KEY_FILE


def new_key() -> ec.EllipticCurvePrivateKey:
    """A fresh P-256 key."""
    return ec.generate_private_key(ec.SECP256R1())


def stranger() -> Signer:
    """An authority that nobody trusts; its key is kept nowhere."""
    key = new_key()
    return Signer(key, root(key, 1))


def issue(
    signer: Signer, leaf_key: ec.EllipticCurvePrivateKey, host: str, *, past: timedelta = timedelta()
) -> x509.Certificate:
    """A server certificate for one host name or address, for less than `LEAF_LIFE` from now, or from an
    instant that lies so far in the `past`."""
    now = utc_now() - past
    name: x509.GeneralName
    try:
        name = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        name = x509.DNSName(host.encode("idna").decode())
    # OpenSSL takes an address in the common name for a host name, which no limit to hosts permits.
    named = len(host) < 64 and not (signer.hosts and isinstance(name, x509.IPAddress))
    common = [x509.NameAttribute(NameOID.COMMON_NAME, host)] if named else []
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(common))
        .issuer_name(signer.certificate.subject)
        .public_key(leaf_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now - BACKDATE, _reaches_back(signer.certificate) or now))
        .not_valid_after(min(now + LEAF_LIFE, signer.certificate.not_valid_after_utc))
        # RFC 5280 §4.2.1.6: critical where the subject is empty.
        .add_extension(x509.SubjectAlternativeName([name]), critical=not common)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(usage(digital_signature=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(leaf_key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()), critical=False
        )
    )
    return builder.sign(signer.key, hashes.SHA256())


# ---------------------------------------------------------------- on disk


def _reaches_back(authority: x509.Certificate) -> datetime | None:
    """Where the life of its leaves begins too, for an authority that was made for a clock that stands still;
    those live longer than all others."""
    begins = authority.not_valid_before_utc
    return begins if authority.not_valid_after_utc - begins > timedelta(days=MAX_DAYS) + BACKDATE else None


def _write(ca_dir: Path, days: int, back: timedelta | None = None, hosts: Sequence[str] = ()) -> Authority:
    if not 1 <= days <= MAX_DAYS:
        raise UsageError(f"found a CA life of `{days}` days, expected 1 to {MAX_DAYS}", code="ca.days")
    key = new_key()
    certificate = signing = root(key, days, back, hosts)
    if hosts:
        issuer_key, key = key, new_key()  # the root's key is written nowhere
        signing = intermediate(certificate, issuer_key, key, hosts)
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    # The key first: a CA counts as present only once its public file is there too.
    _put(ca_dir / _KEY_FILE, secret + signing.public_bytes(serialization.Encoding.PEM), 0o600)
    _put(ca_dir / _CERT_FILE, pem, 0o644)
    made = describe(ca_dir)
    if made is None:
        raise FaultwireError(f"the CA just written to `{ca_dir}` is gone", code="ca.lost")
    return made


def _put(path: Path, data: bytes, mode: int) -> None:
    """Write a file whole or not at all, never following a link that somebody left there."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)
    temporary.replace(path)


def _delete(ca_dir: Path) -> bool:
    paths = [path for path in ca_dir.iterdir() if path.name.startswith(("mitmproxy-", ".mitmproxy-"))]
    for path in paths:
        path.unlink()
    return bool(paths)


def _check_private(ca_dir: Path) -> None:
    rules = ((ca_dir, 0o022, "no writing by"), (ca_dir / _KEY_FILE, 0o077, "nothing for"))
    for path, forbidden, expected in rules:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & forbidden:
            raise UsageError(
                f"`{path}` has mode `{mode:04o}`, expected {expected} group and others",
                code="ca.unsafe",
                hint=f"run `chmod {mode & 0o700:o} {path}`, or `faultwire ca renew` if the key may be known",
            )


def _damaged(ca_dir: Path) -> UsageError:
    return UsageError(
        f"`{ca_dir}` holds files that are not a CA of faultwire",
        code="ca.damaged",
        hint="run `faultwire ca renew`",
    )


@contextmanager
def _locked(ca_dir: Path) -> Iterator[None]:
    """Hold the folder, so that two commands started at once agree on one CA."""
    try:
        ca_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # `parents` have no mode
        ca_dir.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(ca_dir / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UsageError(
            f"the CA folder `{ca_dir}` cannot be written: {error.strerror}", code="ca.unwritable"
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
