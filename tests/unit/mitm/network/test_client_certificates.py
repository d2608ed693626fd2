"""Which certificate a host is shown, and which files are refused before anything runs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from faultwire.clock import utc_now
from faultwire.errors import UsageError
from faultwire.mitm.network import ca
from faultwire.mitm.network.client_certificates import ClientCertificates


def pem(*, days: int = 1, key=None, secret: bytes | None = None) -> bytes:
    own = ca.new_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "us")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(own.public_key())
        .serial_number(1)
        .not_valid_before(utc_now() - timedelta(days=9))
        .not_valid_after(utc_now() + timedelta(days=days))
        .sign(own, hashes.SHA256())
    )
    how = BestAvailableEncryption(secret) if secret else NoEncryption()
    private = (key or own).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)
    return made.public_bytes(Encoding.PEM) + private


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    file = tmp_path / "bundle.pem"
    file.write_bytes(ca.stranger().certificate.public_bytes(Encoding.PEM))
    return str(file)


def test_only_named_hosts_are_shown_one_and_the_first_that_matches_wins(tmp_path: Path, bundle: str) -> None:
    one, two = tmp_path / "one.pem", tmp_path / "two.pem"
    one.write_bytes(pem())
    two.write_bytes(pem())
    made = ClientCertificates({"API.example.com": one, "*.example.com": two}, bundle)
    first, other = made.find("api.Example.com."), made.find("b.example.com")
    assert first is not None
    assert other is not None
    assert first.certificate != other.certificate
    assert made.find("example.com") is None
    assert made.find("api.example.com.evil.net") is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        (b"", "it holds no PEM certificate"),
        (pem().partition(b"-----BEGIN PRIVATE")[0], "it holds no PEM private key"),
        (pem(secret=b"hush"), "its key has a passphrase"),
        (pem(key=ca.new_key()), "its key is not that of its first certificate"),
        (pem(days=-1), "its certificate expired at"),
    ],
    ids=["absent", "empty", "no-key", "passphrase", "other-key", "expired"],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, bundle: str, content: bytes | None, why: str) -> None:
    file = tmp_path / "me.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=why) as refused:
        ClientCertificates({"*": file}, bundle)
    assert refused.value.code == "engine.client_cert"
    assert "PRIVATE" not in str(refused.value)


def test_none_are_none(bundle: str) -> None:
    assert ClientCertificates({}, bundle).find("api.example.com") is None
