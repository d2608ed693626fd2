"""Certificates that we show to servers which ask for one, each to the hosts that it is meant for.

A certificate tells a server who calls, so it is shown to no host that was not named. Keys are read once, when
the engine starts, and are never asked a passphrase for: nobody could answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from OpenSSL import SSL

from faultwire._core import glob_match
from faultwire.clock import utc_now
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate with those above it and its key, as a `context` that a connection takes them from."""

    certificate: x509.Certificate
    context: SSL.Context


class ClientCertificates:
    """All of them, by host (or a glob of hosts); the first that matches is shown. `bundle` is a file of the
    authorities that servers must chain to."""

    def __init__(self, files: Mapping[str, Path], bundle: str) -> None:
        """Raises UsageError for a file that cannot be used."""
        self._all = [(host.lower(), _read(path, bundle)) for host, path in files.items()]

    def find(self, host: str) -> ClientCertificate | None:
        """The certificate for a host, None where it gets none."""
        name = host.lower().rstrip(".")
        return next((found for glob, found in self._all if glob_match(glob, name)), None)


def _read(path: Path, bundle: str) -> ClientCertificate:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be read") from error
    try:
        chain = tuple(x509.load_pem_x509_certificates(data))
    except ValueError as error:
        raise _unusable(path, "it holds no PEM certificate") from error
    try:
        key: Any = load_pem_private_key(data, None)
    except TypeError as error:
        raise _unusable(
            path, "its key has a passphrase", "`openssl pkey -in FILE` writes it without one"
        ) from error
    except ValueError as error:
        raise _unusable(path, "it holds no PEM private key beside the certificate") from error
    shape = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if chain[0].public_key().public_bytes(*shape) != key.public_key().public_bytes(*shape):
        raise _unusable(path, "its key is not that of its first certificate")
    if chain[0].not_valid_after_utc < utc_now():
        raise _unusable(path, f"its certificate expired at {chain[0].not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    try:
        return ClientCertificate(chain[0], _context(path, bundle))
    except SSL.Error as error:
        raise _unusable(path, "OpenSSL does not take it") from error


def _context(path: Path, bundle: str) -> SSL.Context:
    """From the file, since what pyOpenSSL takes for a certificate differs from version to version."""
    made = SSL.Context(SSL.TLS_CLIENT_METHOD)
    made.load_verify_locations(bundle)
    made.set_verify(SSL.VERIFY_PEER)
    made.use_certificate_chain_file(str(path))
    made.use_privatekey_file(str(path))
    made.check_privatekey()
    return made


def _unusable(path: Path, why: str, hint: str | None = None) -> UsageError:
    return UsageError(
        f"client certificate `{path}` cannot be used: {why}",
        code="engine.client_cert",
        hint=hint or "expected a PEM file with the certificate, those above it, and the private key",
    )
